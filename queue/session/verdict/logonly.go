package verdict

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// AsMoves returns events in which what a scheduler's log tells of attempts stands as moves: of a log that tells no other
// moves, and beside which no objects are known. A pod that was tried is shown where the attempt left it until the next
// one, or until a dump of the queue lists it elsewhere: what woke it, and when, is not known.
func AsMoves(events []sources.Event) []sources.Event {
	var out []sources.Event
	for _, ev := range events {
		switch f := ev.Fact.(type) {
		case *sources.FailedAttempt:
			began := f.Began
			if began.IsZero() {
				began = ev.Time
			}
			to := f.To
			switch {
			case to != "":
			case f.Error:
				to = sources.TierBackoff
			default:
				to = sources.TierUnschedulable
			}
			plugins := f.Plugins
			if plugins == nil && !f.Error {
				plugins, _ = PluginsOf(string(f.Message))
			}
			out = append(out, sources.Event{Time: began, Fact: &sources.Move{Pod: f.Pod, To: sources.TierInFlight}},
				sources.Event{Time: ev.Time, Fact: &sources.Move{Pod: f.Pod, To: to, Event: queue.ScheduleAttemptFailure, Plugins: plugins, Message: f.Message}})
		case *sources.Bound:
			began := f.Began
			if began.IsZero() {
				began = ev.Time
			}
			out = append(out, sources.Event{Time: began, Fact: &sources.Move{Pod: f.Pod, To: sources.TierInFlight}},
				sources.Event{Time: ev.Time, Fact: &sources.Move{Pod: f.Pod, To: sources.TierScheduled, Node: f.Node}})
		case *sources.Dumped:
			out = append(out, sources.Event{Time: ev.Time, Fact: &sources.Move{Pod: f.Pod, To: f.In}})
		default:
			out = append(out, ev)
		}
	}
	slices.SortStableFunc(out, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return withoutRepeats(out)
}

// withoutRepeats leaves out moves of a dump that put a pod where it is.
func withoutRepeats(events []sources.Event) []sources.Event {
	in := map[types.NamespacedName]sources.Tier{}
	return slices.DeleteFunc(events, func(ev sources.Event) bool {
		m, is := ev.Fact.(*sources.Move)
		if !is {
			return false
		}
		before := in[m.Pod]
		in[m.Pod] = m.To
		return before == m.To
	})
}
