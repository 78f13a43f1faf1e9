package session

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// maxMarks bounds how many marks a person sets on one timeline.
const maxMarks = 1000

// marksOf returns the marks of t, in the order of time: the recording's, in a fork those up to where it left,
// and the person's own.
func (o *owner) marksOf(t *timeline) []Mark {
	k := &o.marked
	if k.of == t && k.recorded == len(o.marks) && k.own == len(o.recording.marks)+len(t.marks) {
		return k.all
	}
	*k = markCache{of: t, recorded: len(o.marks), own: len(o.recording.marks) + len(t.marks)}
	for _, ev := range o.marks {
		k.all = append(k.all, Mark{At: ev.Time, Text: ev.Fact.(*sources.Mark).Text})
	}
	k.all = append(k.all, o.recording.marks...)
	if t.forked != nil {
		k.all = slices.DeleteFunc(k.all, func(m Mark) bool { return m.At.After(t.start) })
		k.all = append(k.all, t.marks...)
	}
	slices.SortStableFunc(k.all, func(a, b Mark) int { return a.At.Compare(b.At) })
	return k.all
}

// markCache is what marksOf returned last. all is never modified.
type markCache struct {
	of            *timeline
	recorded, own int
	all           []Mark
}

// lastMark returns the number of the last of marks that is not after at, or -1.
func lastMark(marks []Mark, at time.Time) int {
	return sort.Search(len(marks), func(i int) bool { return marks[i].At.After(at) }) - 1
}

// setMark names the moment shown. A mark of the person's that is there gets the new name, or without one goes.
func (o *owner) setMark(text string) {
	t := o.shownLine()
	name := sources.Sanitize(strings.TrimSpace(text))
	mine := slices.Clone(t.marks)
	i := slices.IndexFunc(mine, func(m Mark) bool { return m.At.Equal(o.now) })
	o.marked = markCache{}
	switch {
	case name == "" && i < 0:
		o.refuse("a mark needs a name")
		return
	case name == "":
		o.say("mark %q is gone", mine[i].Text)
		t.marks = slices.Delete(mine, i, i+1)
		return
	case i >= 0:
		mine[i].Text = name
	case len(mine) >= maxMarks:
		o.refuse("there are %d marks: that is enough", maxMarks)
		return
	default:
		mine = append(mine, Mark{At: o.now, Text: name, Own: true})
	}
	t.marks = mine
	o.say("mark %q at %s", name, clock(o.now))
}

// findMark goes to the next mark, or the one before, that has text in it.
func (o *owner) findMark(text string, forward bool) {
	marks := o.marksOf(o.shownLine())
	is := func(m Mark) bool { return strings.Contains(strings.ToLower(string(m.Text)), text) }
	if forward {
		for _, m := range marks[lastMark(marks, o.now)+1:] {
			if is(m) {
				o.seek(m.At)
				return
			}
		}
		o.refuse("no mark%s comes after this", named(text))
		return
	}
	for i := lastMark(marks, o.now); i >= 0; i-- {
		if marks[i].At.Before(o.now) && is(marks[i]) {
			o.seek(marks[i].At)
			return
		}
	}
	o.refuse("no mark%s is before this", named(text))
}

func named(text string) string {
	if text == "" {
		return ""
	}
	return " like " + string(sources.Sanitize(text))
}

// toggleStops says whether playing stops at marks.
func (o *owner) toggleStops() {
	o.stops = !o.stops
	if o.stops {
		o.say("playing stops at every mark")
	} else {
		o.say("playing goes on past marks")
	}
}

// stopBefore returns the first mark after was that playing up to now must stop at, if any.
func (o *owner) stopBefore(was, now time.Time) (Mark, bool) {
	if !o.stops {
		return Mark{}, false
	}
	marks := o.marksOf(o.shownLine())
	i := lastMark(marks, was) + 1
	if i < len(marks) && !marks[i].At.After(now) {
		return marks[i], true
	}
	return Mark{}, false
}
