package model_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestMadeFirst: two nodes come, each of which wakes three pods, and has room for none. Beside the loop, patches wait for each other. What
// they tell later of attempts says whether the second node was among the nodes, and so whether the scheduler heard of it before.
func TestMadeFirst(t *testing.T) {
	const (
		one = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
		two = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
	)
	tainted := func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "new", Effect: v1.TaintEffectNoSchedule}} }
	come := func(of func(w *world.Cluster)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			w.Small()
			for i, name := range []string{"a", "b", "c"} {
				w.Patched(2.01+0.01*float64(i), comes(w, 2+0.01*float64(i), name, "4", nil), world.TooSmall, "")
			}
			world.Change(w, 30, sources.Added, world.Node("node-b", "8"), tainted)
			world.Change(w, 30.001, sources.Added, world.Node("node-c", "8"), tainted)
			of(w)
		}
	}
	patched := func(w *world.Cluster, seconds float64, message string, names ...string) {
		for i, name := range names {
			w.Patched(seconds+0.001*float64(i), world.PendingPod(name, "4"), message, "")
		}
	}
	playWith(t, func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }, []scene{
		{"patches tell of attempts without it", 29, 30.1, come(func(w *world.Cluster) {
			patched(w, 30.03, one, "a", "b")
			patched(w, 30.04, two, "a", "b", "c")
		}), `
			30.001 a active NodeAdd
			30.001 b active NodeAdd
			30.001 c active NodeAdd
			30.001 a inflight (turn)
			30.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 670µs
			30.002 b inflight (turn)
			30.002 b unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 670µs
			30.002 c inflight (turn)
			30.002 a backoff NodeAdd
			30.002 b backoff NodeAdd
			30.003 c backoff ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 750µs
			30.003 a inflight (turn)
			30.004 a unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 680µs
			30.004 b inflight (turn)
			30.005 b unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 680µs
			30.005 c inflight (turn)
			30.005 c unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 680µs
		`},
		{"patches tell of none without it", 29, 30.1, come(func(w *world.Cluster) { patched(w, 30.04, two, "a", "b", "c") }), `
			30.001 a active NodeAdd
			30.001 b active NodeAdd
			30.001 c active NodeAdd
			30.001 a inflight (turn)
			30.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 670µs
			30.002 b inflight (turn)
			30.002 a backoff NodeAdd
			30.003 b backoff ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 710µs
			30.003 c inflight (turn)
			30.003 c unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 680µs
			30.003 a inflight (turn)
			30.004 a unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 680µs
			30.004 b inflight (turn)
			30.005 b unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration in 680µs
		`},
	})
}
