package session

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestPodGroups: a gang arrives before its PodGroup, then does not fit, then gets a node. Feature gates are
// global, so the test runs in a process of its own.
func TestPodGroups(t *testing.T) {
	if os.Getenv("SCHEDQ_POD_GROUPS") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPodGroups$", "-test.v")
		cmd.Env = append(os.Environ(), "SCHEDQ_POD_GROUPS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if _, err := schedulerconfig.SetFeatureGates("GenericWorkload=true"); err != nil {
		t.Fatal(err)
	}
	var c world.Cluster
	name := "train"
	member := func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name} }
	group := &schedulingv1beta1.PodGroup{}
	group.Namespace, group.Name, group.UID = "default", name, types.UID(name)
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}
	world.Change(&c, 0, sources.Added, world.Node("n1", "1"), nil)
	world.Change(&c, 1, sources.Added, world.PendingPod("a", "1"), member)
	world.Change(&c, 1.5, sources.Added, world.PendingPod("b", "1"), member)
	world.Change(&c, 2, sources.Added, group, nil)
	t.Run("rerun", func(t *testing.T) {
		c := world.Cluster{Events: slices.Clone(c.Events), Version: c.Version}
		world.Change(&c, 6.5, sources.Added, world.Node("n2", "1"), nil)
		replayed.Compare(t, replayed.Moves(t, replayed.Rerun(t, c.Recording(30)), "b"), []string{
			"1 >incomplete UnscheduledPodAdd modelled",
			"2 incomplete>active UnscheduledPodAdd modelled",
			"2 active>inflight modelled",
			"2 inflight>pending ScheduleAttemptFailure NodeResourcesFit modelled",
			"2 pending>backoff ScheduleAttemptFailure NodeResourcesFit modelled",
			"4 backoff>active BackoffComplete NodeResourcesFit modelled", // an error's heap: never popped early
			"4 active>inflight NodeResourcesFit modelled",
			"4 inflight>pending ScheduleAttemptFailure NodeResourcesFit modelled",
			"4 pending>backoff ScheduleAttemptFailure NodeResourcesFit modelled",
			"7 backoff>active BackoffComplete NodeResourcesFit modelled",
			"7 active>inflight NodeResourcesFit modelled",
			"7 inflight>scheduled NodeResourcesFit modelled",
		})
	})
	t.Run("what-if", func(t *testing.T) {
		_, o := asked(t, &c, func(o *owner) { o.addNodeLike("n1", "") })
		for _, pod := range []string{"a", "b"} {
			if p := o.shownTimeline().Shown.Get(world.Key(pod)); p == nil || p.Node == "" {
				t.Errorf("%s is not bound: %+v", pod, p)
			}
		}
	})
}
