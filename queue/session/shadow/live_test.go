package shadow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestArrivesLate: what a stream tells too late for its place comes when it is told, in the order of time.
func TestLateEventsStayInTimeOrder(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(10), sources.Status{})
	for i := 0; f.HasEvent(i); i++ {
	}
	w.Events = nil
	world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
	f.Arrive(w.Events, world.At(10.1), sources.Status{})
	f.Arrive(nil, world.At(11), sources.Status{})
	for i := 0; f.HasEvent(i); i++ {
		if i > 0 && f.Events[i].Time.Before(f.Events[i-1].Time) {
			t.Errorf("event %d is before the one that was made before it", i)
		}
	}
	if got := traceFeed(f, 2, false); !strings.HasPrefix(got, "9.501 web active") { // half a second behind the clock
		t.Errorf("it goes %s", got)
	}
}

// TestEventsBesideALog: while a live scheduler's log tells how attempts end, its Events tell no other ones.
func TestEventsBesideLog(t *testing.T) {
	for verbosity, want := range map[int]int{sources.AttemptsVerbosity: 2, sources.AttemptsVerbosity - 1: 3} {
		var w world.Cluster
		w.Add(0.5, &sources.Logged{Verbosity: verbosity})
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		web := world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		w.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: noRoom, Log: true})
		web = w.Patched(2.01, web, noRoom, "")
		w.Recorded(5, web, 2)
		w.Add(7, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: noRoom, Log: true})
		f := shadow.NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		f.Arrive(w.Events, world.At(8), sources.Status{})
		f.Arrive(nil, world.At(9), sources.Status{}) // no Event waits any more
		for i := 0; f.HasEvent(i); i++ {
		}
		if got := strings.Count(fmt.Sprint(feedMoves(f, "web")), "inflight"); got != want {
			t.Errorf("beside a log of %d it is tried %d times, want %d", verbosity, got, want)
		}
	}
}

// TestFirstNodeComes: pods wait for the first node of a live cluster, and are tried when the scheduler hears of it.
func TestPodsWaitForFirstNode(t *testing.T) {
	var w world.Cluster
	w.Add(1, &sources.Attached{})
	addPod(&w, 2, "web", "3", rejectedBefore)
	world.Change(&w, 10.3, sources.Added, world.Node("node-a", "1"), nil)
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(12), sources.Status{})
	drain(f)
	compareTrace(t, traceFeed(f, 2, false), `
		2.001 web active UnscheduledPodAdd
		10.301 web inflight (turn)
		10.302 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs`)
}

// TestEventsComeLate: an Event that comes too late for its place tells of no other attempt than those that the model has had, and all the
// same of what was written of its pod.
func TestLateEvents(t *testing.T) {
	tells := func(seconds float64, count int) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			f := &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: noRoom}
			if count > 0 {
				f.Recorded = sources.NewRecorded("7", count)
			}
			w.Add(seconds, f)
		}
	}
	goes := func(w *world.Cluster) {
		world.Change(w, 20.8, sources.Deleted, world.PendingPod("small", "100m"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	}
	for _, c := range []struct {
		name     string
		recorded int                      // how often the Event of web was written before the source came
		then     []func(w *world.Cluster) // what comes second by second from 21 on
		want     string                   // from 10 on
	}{
		{"of an attempt before the source came", 0, []func(w *world.Cluster){tells(0.4, 0)}, ``},
		{"of one that the model has not had", 0, []func(w *world.Cluster){tells(12, 0)}, `
			19.500 web inflight (behind)
			19.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)`},
		{"nothing comes late, and its next attempt would show", 1, []func(w *world.Cluster){goes}, `
			20.801 web active AssignedPodDelete
			20.801 web unschedulable (not tried)`},
		{"as the second of its pod, whose later ones need not show", 1, []func(w *world.Cluster){func(w *world.Cluster) { tells(0.4, 2)(w); goes(w) }}, `
			20.801 web active AssignedPodDelete
			20.801 web inflight (turn)
			20.802 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs`},
		{"of one that the model has had, after which another is seen", 0, []func(w *world.Cluster){goes, func(*world.Cluster) {}, tells(20.802, 0), tells(22.6, 0)}, `
			20.801 web active AssignedPodDelete
			20.801 web inflight (turn)
			20.802 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			22.600 web inflight (behind)
			22.600 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			world.Change(&w, 0.5, sources.Added, world.Node("node-a", "1"), nil)
			addPod(&w, 0.5, "small", "100m", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			w.Version = 6
			addPod(&w, 0.5, "web", "4", rejectedAt(0.4, noRoom))
			if c.recorded > 0 {
				w.Add(0.6, &sources.Tried{Pod: world.Key("web"), UID: "web", Attempts: 1, Failed: world.At(0.4), Message: noRoom, Recorded: sources.NewRecorded("7", c.recorded)})
			}
			w.Add(1, &sources.Attached{Nodes: true})
			f := shadow.NewLiveFeed(world.Config(t))
			t.Cleanup(f.Close)
			f.Arrive(w.Events, world.At(20), sources.Status{})
			drain(f)
			for i, then := range c.then {
				var w world.Cluster
				then(&w)
				f.Arrive(w.Events, world.At(21+float64(i)), sources.Status{})
				drain(f)
			}
			f.Arrive(nil, world.At(30), sources.Status{})
			drain(f)
			compareTrace(t, traceFeed(f, 10, false), c.want)
		})
	}
}

// TestWaitsForEvents: while Events wait for the rate limit of the client that writes them, a session is shown up to half a second before what
// they have told, so that one that comes late is where it belongs. Once none waits, it goes on to half a second behind the clock.
func TestDelayedEvents(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := addPod(&w, 2, "web", "4", nil)
	other := addPod(&w, 2, "other", "4", nil)
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(2.1), sources.Status{})
	tells := func(now, at float64, pod *v1.Pod) {
		f.Arrive([]sources.Event{{Time: world.At(at), Fact: &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: noRoom, Recorded: sources.NewRecorded(pod.ResourceVersion, 1)}}}, world.At(now), sources.Status{})
		if want := world.At(at - 0.5); f.End.After(want) {
			t.Errorf("after the Event of %s it is made up to %v, and may be up to %v", pod.Name, f.End, want)
		}
		drain(f)
	}
	tells(2.5, 2.2, web)
	tells(3.4, 2.4, other)
	f.Arrive(nil, world.At(5), sources.Status{})
	drain(f)
	if want := world.At(4.5); !f.End.Equal(want) {
		t.Errorf("with no Event waiting it is made up to %v, want %v", f.End, want)
	}
	compareTrace(t, traceFeed(f, 2, false), `
		2.001 web active UnscheduledPodAdd
		2.001 other active UnscheduledPodAdd
		2.199 web inflight (failure)
		2.200 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
		2.399 other inflight (failure)
		2.400 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)`)
}

// TestWaitsBehindBindings: while pods are bound, of which Events tell, too, that are not watched, the next one of those that are comes
// later, and is still where it belongs.
func TestBindingsDelayEvents(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := addPod(&w, 2, "web", "400", nil)
	var bound []*v1.Pod
	for i := range 100 {
		bound = append(bound, addPod(&w, 2, fmt.Sprint("bound-", i), "1m", nil))
	}
	fails := func(at float64) []sources.Event {
		return []sources.Event{{Time: world.At(at), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: noRoom, Recorded: sources.NewRecorded(web.ResourceVersion, 1)}}}
	}
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(append(w.Events, fails(2.2)...), world.At(4), sources.Status{})
	w.Events = nil
	for _, pod := range bound {
		w.Bound(4.1, pod, "node-a")
	}
	f.Arrive(w.Events, world.At(4.2), sources.Status{})
	for _, now := range []float64{5.5, 6.9} { // 50 come a second
		if f.Arrive(nil, world.At(now), sources.Status{}); !f.End.Equal(world.At(1.7)) {
			t.Errorf("at %v it is made up to %v", now, f.End)
		}
	}
	if f.Arrive(nil, world.At(7.1), sources.Status{}); !f.End.Equal(world.At(6.6)) {
		t.Errorf("once all must have come it is made up to %v", f.End)
	}
}

// TestAnotherSchedulersEvents: while Events wait for the rate limit, those of a second scheduler, which come at once by a client of its own,
// tell nothing of how far the first one's are, nor do its bindings make them come later.
func TestOtherSchedulersEvents(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := addPod(&w, 2, "web", "400", nil)
	foreign := func(name string) *v1.Pod {
		return addPod(&w, 2, name, "1m", func(p *v1.Pod) { p.Spec.SchedulerName = "second" })
	}
	theirs := foreign("theirs")
	var bound []*v1.Pod
	for i := range 100 {
		bound = append(bound, foreign(fmt.Sprint("bound-", i)))
	}
	fails := func(at float64, pod *v1.Pod) []sources.Event {
		return []sources.Event{{Time: world.At(at), Fact: &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: noRoom, Recorded: sources.NewRecorded(pod.ResourceVersion, 1)}}}
	}
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(append(w.Events, fails(2.2, web)...), world.At(4), sources.Status{})
	w.Events = nil
	for _, pod := range bound {
		w.Bound(4.1, pod, "node-a")
	}
	f.Arrive(append(w.Events, fails(4.1, theirs)...), world.At(4.2), sources.Status{})
	if !f.End.Equal(world.At(1.7)) {
		t.Errorf("after another scheduler's Event it is made up to %v", f.End)
	}
	if f.Arrive(nil, world.At(5.1), sources.Status{}); !f.End.Equal(world.At(4.6)) {
		t.Errorf("once none waits, as another scheduler's bindings are none of this one's, it is made up to %v", f.End)
	}
}

// TestAnotherSchedulersEventFirst: the Event of an attempt that another scheduler made is heard of before the pod itself, as one watch may
// be later than the other. No attempt is made of it.
func TestOtherSchedulersEventBeforePod(t *testing.T) {
	for _, message := range []sources.SafeText{noRoom, `running PreBind plugin "VolumeBinding": no`} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		f := shadow.NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		f.Arrive(w.Events, world.At(1.5), sources.Status{})
		w.Events = nil
		theirs := addPod(&w, 2, "theirs", "4", func(p *v1.Pod) { p.Spec.SchedulerName = "second" })
		fails := sources.Event{Time: world.At(2.1), Fact: &sources.FailedAttempt{Pod: world.Key("theirs"), UID: theirs.UID, Message: message, Recorded: sources.NewRecorded(theirs.ResourceVersion, 1)}}
		f.Arrive(append([]sources.Event{fails}, w.Events...), world.At(2.2), sources.Status{})
		f.Arrive(nil, world.At(4), sources.Status{})
		drain(f)
		if trace := traceFeed(f, 2, false); strings.TrimSpace(trace) != "" {
			t.Errorf("of %q it goes %s", message, trace)
		}
	}
}

// TestCausesFirst: a patch that a watch tells of after the next attempt has failed was answered before that, and the loop waited for it: so
// that one attempt follows the other, and the time between is not one's.
func TestPatchDeliveredAfterNextFailure(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := addPod(&w, 2, "web", "4", nil)
	addPod(&w, 2, "next", "4", nil)
	for _, failed := range []struct {
		at   float64
		name string
	}{{2.002, "web"}, {2.012, "next"}} {
		w.Add(failed.at, &sources.FailedAttempt{Pod: world.Key(failed.name), UID: types.UID(failed.name), Message: world.TooSmall, Recorded: sources.NewRecorded(web.ResourceVersion, 1)})
	}
	w.Patched(2.016, web, world.TooSmall, "")
	w.Events[len(w.Events)-1].Fact.(*sources.StatusPatched).Sent = time.Time{} // a watch does not tell
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(2.1), sources.Status{})
	f.Arrive(nil, world.At(3), sources.Status{})
	drain(f)
	compareTrace(t, traceFeed(f, 2, false), `
		2.001 web active UnscheduledPodAdd
		2.001 next active UnscheduledPodAdd
		2.001 web inflight (failure)
		2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 920µs (outcome)
		2.011 next inflight (failure)
		2.012 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 750µs (outcome)`)
}

// TestWaitsWhileRequestsDo: where a pod is seen to be bound while the model's loop waits for the answer to a patch, and requests wait for the
// scheduler's rate limit, its attempt was before, and the loop has made none since, also of a source that tells no requests.
func TestLoopBlockedByRateLimit(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 0.5, sources.Added, world.Node("node-a", "100"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	for i := range 150 {
		w.Bound(1.1+0.005*float64(i), addPod(&w, 1.099+0.005*float64(i), fmt.Sprint("old-", i), "1m", nil), "node-a")
	}
	addPod(&w, 2, "large", "200", nil)
	var last *v1.Pod
	for i := range 20 {
		last = addPod(&w, 2.01+0.000001*float64(i), fmt.Sprint("web-", i), "100m", nil)
	}
	w.Bound(2.2, last, "node-a")
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(2.8), sources.Status{})
	drain(f)
	if trace := traceFeed(f, 2.1, false); strings.Count(trace, " inflight") != 1 || !strings.Contains(trace, "2.200 web-19 inflight (behind)") {
		t.Errorf("it goes %s", trace)
	}
}
