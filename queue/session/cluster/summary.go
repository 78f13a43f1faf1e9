package cluster

import (
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Summary selects the events of a long recording that show which facts the recording contains: see
// sources.Recording. Events must be added roughly in time order. The selection also works for a rerun,
// which omits the recorded scheduler's actions.
type Summary struct{ all, beside picker }

// NewSummary returns an empty Summary.
func NewSummary() *Summary { return &Summary{newPicker(), newPicker()} }

// Add considers an event.
func (g *Summary) Add(ev sources.Event) {
	g.all.add(ev)
	if !IsSchedulerAction(ev) {
		g.beside.add(ev)
	}
}

// Events returns the selected events in time order.
func (g *Summary) Events() []sources.Event {
	all := g.all.picked()
	known := make(map[sources.Fact]bool, len(all))
	for _, ev := range all {
		known[ev.Fact] = true
	}
	for _, ev := range g.beside.picked() {
		if !known[ev.Fact] {
			all = append(all, ev)
		}
	}
	slices.SortStableFunc(all, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return all
}

// picker selects the events of a summary.
type picker struct {
	events      []sources.Event
	first, last end
	longest     sources.Event // the end of the longest attempt
	kept        map[any]bool  // the kinds of which a first event was selected
	hour        time.Time     // when an event was last selected
	requests    int
	uids        map[types.UID]types.NamespacedName // pods by UID
	shown       map[types.UID]bool                 // UIDs with a selected event
	ended       *sources.Silent                    // the end of the last scheduler, unless one works since
}

// end is the first or the last event.
type end struct {
	sources.Event
	kept bool // already selected
}

const (
	// maxQuiet limits the time between selected events, unless no event happens.
	maxQuiet = time.Hour
	// maxRequests limits how many of the scheduler's requests are selected: the first ones show whether
	// they had to wait.
	maxRequests = 10_000
	// maxOthers limits how many pods of other schedulers are selected.
	maxOthers = 100_000
)

func newPicker() picker {
	return picker{kept: map[any]bool{}, uids: map[types.UID]types.NamespacedName{}, shown: map[types.UID]bool{}}
}

// picked returns the selected events in no particular order.
func (g *picker) picked() []sources.Event {
	all := slices.Clone(g.events)
	for _, e := range []end{g.first, g.last} {
		if e.Fact != nil && !e.kept {
			all = append(all, e.Event)
		}
	}
	if f := g.longest.Fact; f != nil && !slices.ContainsFunc(all, func(ev sources.Event) bool { return ev.Fact == f }) {
		all = append(all, g.longest)
	}
	return all
}

// add considers an event.
func (g *picker) add(ev sources.Event) {
	if g.last.Fact != nil && !g.last.kept && ev.Time.Sub(g.last.Time) > maxQuiet {
		g.keep(g.last.Event) // the end of a quiet time
		g.last.kept = true
	}
	first := g.first.Fact == nil || ev.Time.Before(g.first.Time)
	e := end{ev, g.picks(ev) || ev.Time.Sub(g.hour) > maxQuiet || g.ends(ev)}
	if e.kept {
		g.hour = ev.Time
		g.keep(ev)
	}
	if first {
		g.first = e
		g.show(ev)
	}
	if sources.Took(ev) > sources.Took(g.longest) {
		g.longest = ev
	}
	if g.last.Fact == nil || !ev.Time.Before(g.last.Time) {
		g.last = e
	}
}

// keep selects ev.
func (g *picker) keep(ev sources.Event) {
	g.events = append(g.events, ev)
	g.show(ev)
}

// show notes that the pod of ev, if any, has a selected event.
func (g *picker) show(ev sources.Event) {
	if pod, is := podOf(ev); is && ev.Fact.(*sources.ObjectChange).Verb != sources.Deleted {
		g.shown[pod.UID] = true
	}
}

// ends reports whether ev deletes a pod that has a selected event.
func (g *picker) ends(ev sources.Event) bool {
	pod, is := podOf(ev)
	if !is || ev.Fact.(*sources.ObjectChange).Verb != sources.Deleted || !g.shown[pod.UID] {
		return false
	}
	delete(g.shown, pod.UID)
	return true
}

// podOf returns the pod that ev changes, if any.
func podOf(ev sources.Event) (*v1.Pod, bool) {
	c, is := ev.Fact.(*sources.ObjectChange)
	if !is {
		return nil, false
	}
	pod, is := c.Object.(*v1.Pod)
	return pod, is
}

// picks reports whether ev shows something that earlier events do not.
func (g *picker) picks(ev sources.Event) bool {
	switch f := ev.Fact.(type) {
	case *sources.Silent:
		if g.ended = nil; f.Ended {
			g.ended = f
		}
		return true
	case *sources.Move:
		if g.ended != nil && g.ended.EndedBefore(ev) {
			g.ended = nil
			return true
		}
		return g.isFirst(reflect.TypeOf(ev.Fact))
	case *sources.SchedulerStarted, *sources.SchedulerRunning, *sources.Clocks, *sources.Attached, *sources.Logged, *sources.Mark, *sources.Counts:
		return true
	case *sources.Requested:
		g.requests++
		return g.requests <= maxRequests
	case *sources.ObjectChange:
		picked := g.isFirst(reflect.TypeOf(f.Object))
		if pod, is := f.Object.(*v1.Pod); is {
			return g.picksPod(ev.Time, f.Verb, pod) || picked
		}
		return picked
	}
	picked := sources.LacksObject(ev.Fact) && g.isFirst("no object")
	return g.isFirst(reflect.TypeOf(ev.Fact)) || picked
}

// isFirst reports whether this is the first call with what.
func (g *picker) isFirst(what any) bool {
	known := g.kept[what]
	g.kept[what] = true
	return !known
}

// waitingFor identifies a pod that waits for another scheduler, or just the scheduler's name.
type waitingFor struct {
	scheduler string
	uid       types.UID
}

// picksPod is picks for a change of a pod.
func (g *picker) picksPod(now time.Time, verb sources.Verb, pod *v1.Pod) bool {
	picked := false
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	if first, taken := g.uids[pod.UID]; taken && first != key && pod.UID != "" {
		if g.isFirst(pod.UID) {
			twin := Placeholder(first)
			twin.UID = pod.UID
			g.events = append(g.events, sources.Event{Time: now, Fact: &sources.ObjectChange{Verb: sources.Added, Object: twin}})
		}
		picked = g.isFirst(key)
	} else if verb == sources.Deleted {
		delete(g.uids, pod.UID)
	} else {
		g.uids[pod.UID] = key
	}
	if Unscheduled(pod) != nil {
		picked = g.isFirst("unscheduled") || picked
		picked = verb == sources.Updated && g.isFirst("rejected") || picked
	}
	if verb == sources.Updated && pod.Status.Phase == v1.PodRunning {
		picked = g.isFirst("running") || picked
	}
	if name := pod.Spec.SchedulerName; name != "" && Waiting(pod) && verb != sources.Deleted {
		w := waitingFor{scheduler: name}
		if name != v1.DefaultSchedulerName && len(g.kept) < maxOthers {
			w.uid = pod.UID
		}
		picked = g.isFirst(w) || picked
	}
	return picked
}
