package cluster

import (
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Gist picks out of the events of a long recording, which it is shown one by one and nearly in the order of time, those that
// answer what the recording tells at all: see sources.Recording. They answer it also of a rerun, which leaves out what the
// recorded scheduler did.
type Gist struct{ all, beside picker }

// NewGist returns the gist of a recording without an event.
func NewGist() *Gist { return &Gist{newPicker(), newPicker()} }

// Add takes in an event.
func (g *Gist) Add(ev sources.Event) {
	g.all.add(ev)
	if !IsOfScheduler(ev) {
		g.beside.add(ev)
	}
}

// Events returns what was picked, in the order of time.
func (g *Gist) Events() []sources.Event {
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

// picker picks the events for a gist.
type picker struct {
	events      []sources.Event
	first, last end
	longest     sources.Event // the end of the attempt that took longest
	kept        map[any]bool  // by what an event is the first of
	hour        time.Time     // since when none was kept for its time
	requests    int
	uids        map[types.UID]types.NamespacedName // of the pods that are there
	shown       map[types.UID]bool                 // of which an event was picked
}

// end is the first event or the last one.
type end struct {
	sources.Event
	kept bool // among those that were picked
}

const (
	// maxQuiet is how much time passes without an event in the gist, unless none happens.
	maxQuiet = time.Hour
	// maxRequests is how many of the scheduler's requests are kept: those with which it begins tell whether they had to wait.
	maxRequests = 10_000
	// maxOthers is how many pods of other schedulers are kept.
	maxOthers = 100_000
)

func newPicker() picker {
	return picker{kept: map[any]bool{}, uids: map[types.UID]types.NamespacedName{}, shown: map[types.UID]bool{}}
}

// picked returns what was picked, in no order.
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

// add takes in an event.
func (g *picker) add(ev sources.Event) {
	if g.last.Fact != nil && !g.last.kept && ev.Time.Sub(g.last.Time) > maxQuiet {
		g.keep(g.last.Event) // a time in which nothing happens ends
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

// keep picks ev.
func (g *picker) keep(ev sources.Event) {
	g.events = append(g.events, ev)
	g.show(ev)
}

// show notes that the gist shows the pod that ev is about, if it is about one.
func (g *picker) show(ev sources.Event) {
	if pod, is := podOf(ev); is && ev.Fact.(*sources.ObjectChange).Verb != sources.Deleted {
		g.shown[pod.UID] = true
	}
}

// ends reports whether with ev a pod ends which the gist shows.
func (g *picker) ends(ev sources.Event) bool {
	pod, is := podOf(ev)
	if !is || ev.Fact.(*sources.ObjectChange).Verb != sources.Deleted || !g.shown[pod.UID] {
		return false
	}
	delete(g.shown, pod.UID)
	return true
}

// podOf returns the pod that changes with ev, if one does.
func podOf(ev sources.Event) (*v1.Pod, bool) {
	c, is := ev.Fact.(*sources.ObjectChange)
	if !is {
		return nil, false
	}
	pod, is := c.Object.(*v1.Pod)
	return pod, is
}

// picks reports whether ev answers something that those before it do not.
func (g *picker) picks(ev sources.Event) bool {
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted, *sources.SchedulerHeard, *sources.Silent, *sources.Clocks, *sources.Attached, *sources.Logged, *sources.Mark, *sources.Counts:
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
	return g.isFirst(reflect.TypeOf(ev.Fact))
}

// isFirst reports whether it is asked for the first time about what.
func (g *picker) isFirst(what any) bool {
	known := g.kept[what]
	g.kept[what] = true
	return !known
}

// waits is a pod that waits for a scheduler which is not the default one, or for a scheduler of that name.
type waits struct {
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
		w := waits{scheduler: name}
		if name != v1.DefaultSchedulerName && len(g.kept) < maxOthers {
			w.uid = pod.UID
		}
		picked = g.isFirst(w) || picked
	}
	return picked
}
