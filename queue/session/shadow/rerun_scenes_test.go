package shadow_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// playAgain compares what a local scheduler makes of each scene: nothing corrects it.
func playAgain(t *testing.T, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			var w world.Cluster
			s.of(&w)
			rec := w.Recording(s.until)
			rec.Rerun = true
			says(t, traced(t, rec, world.Config(t), s.from), s.want)
		})
	}
}

// TestRerunAmongOthers: what a rerun makes of what happens while something of the scheduler is under way.
func TestRerunAmongOthers(t *testing.T) {
	playAgain(t, []scene{
		{"a pod preempts another pod's node: that one loses its nomination at once", 2, 2.4, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			runsOn(w, "low", "1", 0, 30)
			runsOn(w, "other", "1", 10, 30)
			comes(w, 2, "mid", "1", priority(50))
			comes(w, 2.3, "high", "2", priority(100))
		}, `
			2.000 mid: waits
			2.001 mid active UnscheduledPodAdd
			2.001 mid inflight
			2.002 mid unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.007 mid: nominated to node-a
			2.011 low: going
			2.300 high: waits
			2.301 high active UnscheduledPodAdd
			2.301 high inflight
			2.302 mid: rejected
			2.302 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.303 mid backoff AssignedPodDelete
			2.307 high: nominated to node-a
			2.307 mid inflight
			2.307 mid unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.311 other: going
			2.312 mid: rejected
		`},
		{"many nodes come while a victim's deletion is under way, which is asked for once", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			runsOn(w, "a", "1", 0, 30)
			runsOn(w, "b", "1", 0, 30)
			comes(w, 2, "high", "2", priority(100))
			for i := range 120 {
				world.Change(w, 2.002, sources.Added, world.Node(fmt.Sprint("small-", i), "100m"), nil)
			}
		}, `
			2.000 high: waits
			2.001 high active UnscheduledPodAdd
			2.001 high inflight
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.007 high: nominated to node-a
			2.011 a: going
			2.021 b: going
		`},
		{"the scheduler hears of a node as an attempt ends, which is over then", 2, 6, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			comes(w, 2, "web", "2", nil)
			world.Change(w, 2.00070150001, sources.Added, world.Node("node-b", "2"), nil) // of which it hears a millisecond later
		}, `
			2.000 web: waits
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.002 web backoff NodeAdd
			2.007 web: rejected
			2.007 web inflight
			2.012 web scheduled node-b
			2.012 web: on node-b
			2.013 web deleted
		`},
		{"a pod changes, and a node goes, while its binding is under way", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			node := world.Change(w, 1, sources.Added, world.Node("node-b", "100m"), nil)
			web := comes(w, 2, "web", "1", nil)
			world.Change(w, 2.003, sources.Updated, web, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 2.004, sources.Deleted, node, nil)
		}, `
			2.000 web: waits
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.003 web: waits
			2.007 web scheduled node-a
			2.007 web: on node-a
			2.008 web deleted
		`},
		{"a pod goes while its binding is under way, and comes back", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := comes(w, 2, "web", "1", nil)
			world.Change(w, 2.003, sources.Deleted, web, nil)
			w.Add(2.0035, &sources.Mark{})
			comes(w, 2.0055, "web", "4", nil)
		}, `
			2.000 web: waits
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.003 web: gone
			2.003 web backoff ScheduleAttemptFailure
			2.004 web deleted
			2.006 web: waits
			2.006 web active UnscheduledPodAdd
			2.007 web inflight
			2.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.012 web: rejected
		`},
		{"a scheduler starts when a pod is there that is gated, and another has gone", 2, 5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			comes(w, 1, "web", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
			world.Change(w, 1.6, sources.Deleted, comes(w, 1.5, "gone", "1", nil), nil)
			w.Started(3.1)
			w.Add(3.2, &sources.Mark{})
		}, `
			3.100 web gated UnscheduledPodAdd
		`},
		{"a person activates a pod whose attempt is under way", 2, 2.5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			comes(w, 2, "web", "2", nil)
			w.Add(2.0014, &sources.Injected{Pod: world.Key("web")})
		}, `
			2.000 web: waits
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.002 web backoff ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.007 web: rejected
			2.007 web inflight
			2.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.012 web: rejected
		`},
		{"a person wakes all while the loop waits for an answer", 2, 2.5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			comes(w, 2, "web", "2", nil)
			w.Add(2.003, &sources.Injected{What: queue.InjectableNames()[0]})
			w.Add(2.004, &sources.Mark{})
		}, `
			2.000 web: waits
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.003 web backoff *All
			2.007 web: rejected
			2.007 web inflight
			2.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.012 web: rejected
		`},
	})
}

// TestSetOffAmongOthers: what a move sets off happens at its time, and not with what the scheduler hears of or does before or after it.
func TestSetOffAmongOthers(t *testing.T) {
	of := func(after time.Duration, fact sources.Fact) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			w.Add(0.5, &sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: after, Facts: []sources.Fact{fact}})
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			comes(w, 2, "web", "4", nil)
			comes(w, 3.99, "told", "100m", nil)
		}
	}
	pod := &sources.ObjectChange{Verb: sources.Added, Object: world.PendingPod("new", "100m")}
	playAgain(t, []scene{
		{"a person activates the pod", 3, 3.9, of(1500*time.Millisecond, &sources.Injected{Pod: world.Key("web")}), `
			3.502 web active ForceActivate
			3.502 web inflight
			3.502 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.990 told: waits
		`},
		{"a pod comes just before the scheduler hears of another", 3, 5, of(1989*time.Millisecond, pod), `
			3.990 told: waits
			3.991 new: waits
			3.991 told active UnscheduledPodAdd
			3.991 told inflight
			3.992 new active UnscheduledPodAdd
			3.992 new inflight
			3.997 told scheduled node-a
			3.997 told: on node-a
			3.997 new scheduled node-a
			3.997 new: on node-a
			3.998 told deleted
			3.998 new deleted
		`},
		{"a pod comes just after the scheduler hears of another", 3, 5, of(1991*time.Millisecond, pod), `
			3.990 told: waits
			3.991 told active UnscheduledPodAdd
			3.991 told inflight
			3.993 new: waits
			3.994 new active UnscheduledPodAdd
			3.994 new inflight
			3.997 told scheduled node-a
			3.997 told: on node-a
			3.998 told deleted
			3.999 new scheduled node-a
			3.999 new: on node-a
			4.000 new deleted
		`},
	})
}
