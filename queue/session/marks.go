package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// marksOf returns the marks of t in time order: the recording's, those of its scheduler upgrades and
// the user's own. A what-if has those up to its start, and its own.
func (o *owner) marksOf(t *timeline.Timeline) []timeline.Mark {
	k := &o.marked
	recorded := len(o.marks) + len(o.running)
	if k.of == t && k.recorded == recorded && k.own == len(o.recording.Marks)+len(t.Marks) {
		return k.all
	}
	*k = markCache{of: t, recorded: recorded, own: len(o.recording.Marks) + len(t.Marks)}
	for _, ev := range o.marks {
		k.all = append(k.all, timeline.Mark{At: ev.Time, Text: ev.Fact.(*sources.Mark).Text})
	}
	k.all = append(append(k.all, o.running.Marks()...), o.recording.Marks...)
	if t.Forked != nil {
		k.all = slices.DeleteFunc(k.all, func(m timeline.Mark) bool { return m.At.After(t.Start) })
		k.all = append(k.all, t.Marks...)
	}
	slices.SortStableFunc(k.all, func(a, b timeline.Mark) int { return a.At.Compare(b.At) })
	return k.all
}

// markCache is the last result of marksOf. all is never modified.
type markCache struct {
	of            *timeline.Timeline
	recorded, own int
	all           []timeline.Mark
}

// setMark names the time shown. It renames or, for an empty name, removes the user's mark there.
func (o *owner) setMark(text string) {
	t := o.shownTimeline()
	name := sources.Sanitize(strings.TrimSpace(text))
	mine := slices.Clone(t.Marks)
	i := slices.IndexFunc(mine, func(m timeline.Mark) bool { return m.At.Equal(o.now) })
	o.marked = markCache{}
	switch {
	case name == "" && i < 0:
		o.refuse("a mark needs a name")
		return
	case name == "":
		o.say("removed mark %q", mine[i].Text)
		t.Marks = slices.Delete(mine, i, i+1)
		return
	case i >= 0:
		mine[i].Text = name
	case len(mine) >= timeline.MaxMarks:
		o.refuse("limit of %d marks reached", timeline.MaxMarks)
		return
	default:
		mine = append(mine, timeline.Mark{At: o.now, Text: name, Own: true})
	}
	t.Marks = mine
	o.say("mark %q at %s", name, o.zone.Clock(o.now))
}

// addMarks adds marks that the user set earlier: see Timeline.AddMarks.
func (o *owner) addMarks(marks []timeline.Mark) {
	o.recording.AddMarks(marks, o.reading != nil)
	o.marked, o.changed = markCache{}, true
}

// findMark goes to the next or previous mark that contains text.
func (o *owner) findMark(text string, forward bool) {
	marks := o.marksOf(o.shownTimeline())
	is := func(m timeline.Mark) bool { return strings.Contains(strings.ToLower(string(m.Text)), text) }
	if forward {
		for _, m := range marks[timeline.LastMark(marks, o.now)+1:] {
			if is(m) {
				if why := o.whyUnread(m.At); why != "" {
					o.refuse("the mark %q: %s", m.Text, why)
					return
				}
				o.seek(m.At)
				return
			}
		}
		o.refuseNotFound("no later mark%s", like(text))
		return
	}
	for i := timeline.LastMark(marks, o.now); i >= 0; i-- {
		if marks[i].At.Before(o.now) && is(marks[i]) {
			o.seek(marks[i].At)
			return
		}
	}
	o.refuseNotFound("no earlier mark%s", like(text))
}

func like(text string) string {
	if text == "" {
		return ""
	}
	return " contains " + strconv.Quote(string(sources.Sanitize(text)))
}

// toggleStops toggles stopping at marks while playing.
func (o *owner) toggleStops() {
	o.stops = !o.stops
	if o.stops {
		o.say("playing stops at every mark")
	} else {
		o.say("playing no longer stops at marks")
	}
}

// nextStop returns the first mark between was and now that playback must stop at, if any.
func (o *owner) nextStop(was, now time.Time) (timeline.Mark, bool) {
	if !o.stops {
		return timeline.Mark{}, false
	}
	marks := o.marksOf(o.shownTimeline())
	i := timeline.LastMark(marks, was) + 1
	if i < len(marks) && !marks[i].At.After(now) {
		return marks[i], true
	}
	return timeline.Mark{}, false
}
