package timeline

import (
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/sources"
)

// MaxMarks is how many marks a person can set on one timeline.
const MaxMarks = 1000

// Mark is a named moment.
type Mark struct {
	At   time.Time
	Text sources.SafeText
	// Own is true if the person set it here, false if the recording has it.
	Own bool
}

// LastMark returns the number of the last of marks, which are in the order of time, that is not after at, or -1.
func LastMark(marks []Mark, at time.Time) int {
	return sort.Search(len(marks), func(i int) bool { return marks[i].At.After(at) }) - 1
}

// AddMarks sets marks on t that a person set on it at another time. Those without a text, where a mark is, or that are not in t are
// left out; behind its end they may be if it is not read to its end yet.
func (t *Timeline) AddMarks(marks []Mark, reading bool) {
	mine := slices.Clone(t.Marks)
	for _, m := range marks {
		there := slices.ContainsFunc(mine, func(have Mark) bool { return have.At.Equal(m.At) })
		outside := m.At.Before(t.Start) || m.At.After(t.End) && !reading
		if m.Text = sources.Sanitize(string(m.Text)); m.Text == "" || there || outside || len(mine) >= MaxMarks {
			continue
		}
		mine = append(mine, Mark{At: m.At, Text: m.Text, Own: true})
	}
	t.Marks = mine
}
