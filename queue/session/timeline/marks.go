package timeline

import (
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/sources"
)

// MaxMarks limits the user's marks on one timeline.
const MaxMarks = 1000

// Mark is a named moment.
type Mark struct {
	At   time.Time
	Text sources.SafeText
	// Own is true if the user set it, false if the recording contains it.
	Own bool
}

// LastMark returns the index of the last of marks, which are in time order, at that time or before, or -1.
func LastMark(marks []Mark, at time.Time) int {
	return sort.Search(len(marks), func(i int) bool { return marks[i].At.After(at) }) - 1
}

// AddMarks adds marks that the user set on another timeline of the same recording. It skips those without a text, at the
// time of an existing mark, and outside of t. If reading is set, the recording is still being read, and marks after t.End
// are added too.
func (t *Timeline) AddMarks(marks []Mark, reading bool) {
	own := slices.Clone(t.Marks)
	for _, m := range marks {
		exists := slices.ContainsFunc(own, func(known Mark) bool { return known.At.Equal(m.At) })
		outside := m.At.Before(t.Start) || m.At.After(t.End) && !reading
		if m.Text = sources.Sanitize(string(m.Text)); m.Text == "" || exists || outside || len(own) >= MaxMarks {
			continue
		}
		own = append(own, Mark{At: m.At, Text: m.Text, Own: true})
	}
	t.Marks = own
}
