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

// TestLateEventsStayInTimeOrder: an event that a stream delivers after its time was played is played
// when it arrives, so events stay in time order.
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
			t.Errorf("event %d is earlier than the one before it", i)
		}
	}
	if got := traceFeed(f, 2, false); !strings.HasPrefix(got, "9.501 web active") { // half a second behind the clock
		t.Errorf("the trace is %s", got)
	}
}

// TestEventsBesideLog: while a live scheduler's log contains the end of each attempt, an Event is not
// another attempt.
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
		f.Arrive(nil, world.At(9), sources.Status{}) // all delayed Events have arrived by now
		for i := 0; f.HasEvent(i); i++ {
		}
		if got := strings.Count(fmt.Sprint(feedMoves(f, "web")), "inflight"); got != want {
			t.Errorf("with a log at -v=%d it is tried %d times, want %d", verbosity, got, want)
		}
	}
}

// TestPodsWaitForFirstNode: the pods of a live cluster are tried once its first node is delivered.
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

// TestLateEvents: an Event that arrives after its time was played belongs to an attempt that the model
// has made, if there is one. It also shows how often the recorder has written of the pod.
func TestLateEvents(t *testing.T) {
	event := func(seconds float64, count int) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			f := &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: noRoom}
			if count > 0 {
				f.Recorded = sources.NewRecorded("7", count)
			}
			w.Add(seconds, f)
		}
	}
	deletion := func(w *world.Cluster) {
		world.Change(w, 20.8, sources.Deleted, world.PendingPod("small", "100m"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	}
	for _, c := range []struct {
		name     string
		recorded int                      // count of web's Event before the source attached
		then     []func(w *world.Cluster) // arrive one per second, from 21 on
		want     string                   // from 10 on
	}{
		{"an attempt before the source attached", 0, []func(w *world.Cluster){event(0.4, 0)}, ``},
		{"an attempt that the model has not made", 0, []func(w *world.Cluster){event(12, 0)}, `
			19.500 web inflight (behind)
			19.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)`},
		{"no late Event: its next attempt is observable", 1, []func(w *world.Cluster){deletion}, `
			20.801 web active AssignedPodDelete
			20.801 web unschedulable (not tried)`},
		{"the second Event of the pod: later attempts may leave none", 1, []func(w *world.Cluster){func(w *world.Cluster) { event(0.4, 2)(w); deletion(w) }}, `
			20.801 web active AssignedPodDelete
			20.801 web inflight (turn)
			20.802 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs`},
		{"an attempt that the model has made, and then another", 0, []func(w *world.Cluster){deletion, func(*world.Cluster) {}, event(20.802, 0), event(22.6, 0)}, `
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

// TestDelayedEvents: while Events are rate-limited, the feed ends half a second before the latest one, so
// that delayed ones are played in order. Afterwards it ends half a second before the current time.
func TestDelayedEvents(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := addPod(&w, 2, "web", "4", nil)
	other := addPod(&w, 2, "other", "4", nil)
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(2.1), sources.Status{})
	arrive := func(now, at float64, pod *v1.Pod) {
		f.Arrive([]sources.Event{{Time: world.At(at), Fact: &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: noRoom, Recorded: sources.NewRecorded(pod.ResourceVersion, 1)}}}, world.At(now), sources.Status{})
		if want := world.At(at - 0.5); f.End.After(want) {
			t.Errorf("after the Event of %s the feed ends at %v, want at most %v", pod.Name, f.End, want)
		}
		drain(f)
	}
	arrive(2.5, 2.2, web)
	arrive(3.4, 2.4, other)
	f.Arrive(nil, world.At(5), sources.Status{})
	drain(f)
	if want := world.At(4.5); !f.End.Equal(want) {
		t.Errorf("without delayed Events the feed ends at %v, want %v", f.End, want)
	}
	compareTrace(t, traceFeed(f, 2, false), `
		2.001 web active UnscheduledPodAdd
		2.001 other active UnscheduledPodAdd
		2.199 web inflight (failure)
		2.200 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
		2.399 other inflight (failure)
		2.400 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)`)
}

// TestBindingsDelayEvents: the recorder also writes Events of bindings, which are not watched but count
// against the rate limit. They delay the watched ones further.
func TestBindingsDelayEvents(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := addPod(&w, 2, "web", "400", nil)
	var bound []*v1.Pod
	for i := range 100 {
		bound = append(bound, addPod(&w, 2, fmt.Sprint("bound-", i), "1m", nil))
	}
	failure := func(at float64) []sources.Event {
		return []sources.Event{{Time: world.At(at), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: noRoom, Recorded: sources.NewRecorded(web.ResourceVersion, 1)}}}
	}
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(append(w.Events, failure(2.2)...), world.At(4), sources.Status{})
	w.Events = nil
	for _, pod := range bound {
		w.Bound(4.1, pod, "node-a")
	}
	f.Arrive(w.Events, world.At(4.2), sources.Status{})
	for _, now := range []float64{5.5, 6.9} { // 50 per second
		if f.Arrive(nil, world.At(now), sources.Status{}); !f.End.Equal(world.At(1.7)) {
			t.Errorf("at %v the feed ends at %v", now, f.End)
		}
	}
	if f.Arrive(nil, world.At(7.1), sources.Status{}); !f.End.Equal(world.At(6.6)) {
		t.Errorf("after all have arrived the feed ends at %v", f.End)
	}
}

// TestOtherSchedulersEvents: a second scheduler has its own client and rate limit. Its Events do not
// show how far those of the first are delayed, and its bindings do not delay them.
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
	failure := func(at float64, pod *v1.Pod) []sources.Event {
		return []sources.Event{{Time: world.At(at), Fact: &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: noRoom, Recorded: sources.NewRecorded(pod.ResourceVersion, 1)}}}
	}
	f := shadow.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(append(w.Events, failure(2.2, web)...), world.At(4), sources.Status{})
	w.Events = nil
	for _, pod := range bound {
		w.Bound(4.1, pod, "node-a")
	}
	f.Arrive(append(w.Events, failure(4.1, theirs)...), world.At(4.2), sources.Status{})
	if !f.End.Equal(world.At(1.7)) {
		t.Errorf("after another scheduler's Event the feed ends at %v", f.End)
	}
	if f.Arrive(nil, world.At(5.1), sources.Status{}); !f.End.Equal(world.At(4.6)) {
		t.Errorf("without delayed Events the feed ends at %v", f.End)
	}
}

// TestOtherSchedulersEventBeforePod: the Event of another scheduler's attempt arrives before the pod,
// because watches are independent. The model makes no attempt of it.
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
		failure := sources.Event{Time: world.At(2.1), Fact: &sources.FailedAttempt{Pod: world.Key("theirs"), UID: theirs.UID, Message: message, Recorded: sources.NewRecorded(theirs.ResourceVersion, 1)}}
		f.Arrive(append([]sources.Event{failure}, w.Events...), world.At(2.2), sources.Status{})
		f.Arrive(nil, world.At(4), sources.Status{})
		drain(f)
		if trace := traceFeed(f, 2, false); strings.TrimSpace(trace) != "" {
			t.Errorf("%q: the trace is %s", message, trace)
		}
	}
}

// TestPatchDeliveredAfterNextFailure: a watch delivers a patch after the next pod failed. The loop waited
// for the response to the patch, so the time between the failures is not the duration of an attempt.
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
	w.Events[len(w.Events)-1].Fact.(*sources.StatusPatched).Sent = time.Time{} // unknown from a watch
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

// TestLoopBlockedByRateLimit: a pod is bound while the model's loop waits for the response to a
// rate-limited patch. Its attempt was before the wait, and the loop has made none since.
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
		t.Errorf("the trace is %s", trace)
	}
}
