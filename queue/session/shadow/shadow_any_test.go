package shadow_test

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestAnyCluster: whatever the real scheduler is seen to do to pods, and however close together that is told, once
// all is quiet just the pods that wait are in the model's queue, each once.
func TestAnyCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c world.Cluster
		seconds := 1.0
		world.Change(&c, seconds, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(&c, seconds, sources.Added, world.Node("node-b", "1"), nil)
		pods, failed := map[string]*v1.Pod{}, map[string]int{}
		attached := rapid.IntRange(-20, 20).Draw(t, "attached") // below 0: the recording has it all
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			seconds += rapid.SampledFrom([]float64{0, 0.0001, 0.0005, 0.002, 0.02, 0.3, 1.1, 3}).Draw(t, "gap")
			if i == attached {
				c.Add(seconds, &sources.Attached{})
			}
			if rapid.IntRange(0, 19).Draw(t, "restart") == 19 {
				c.Add(seconds, &sources.SchedulerStarted{})
			}
			name := fmt.Sprint("p-", rapid.IntRange(1, 4).Draw(t, "pod"))
			pod := pods[name]
			if pod == nil {
				pod = world.PendingPod(name, rapid.SampledFrom([]string{"500m", "1", "4"}).Draw(t, "cpu"))
				pod.UID = types.UID(fmt.Sprint(name, "-", i))
				pod.CreationTimestamp = metav1.NewTime(world.At(seconds))
				pods[name], failed[name] = world.Change(&c, seconds, sources.Added, pod, nil), 0
				continue
			}
			switch does := rapid.SampledFrom([]string{"fail", "patch", "label", "bind", "end", "delete"}).Draw(t, "does"); {
			case does == "delete":
				world.Change(&c, seconds, sources.Deleted, pod, nil)
				delete(pods, name)
			case pod.Spec.NodeName != "" && does == "end":
				pods[name] = world.Change(&c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
			case pod.Spec.NodeName != "", does == "label":
				pods[name] = world.Change(&c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Labels = map[string]string{"step": fmt.Sprint(i)} })
			case does == "fail":
				failed[name]++
				c.Recorded(seconds, pod, failed[name])
			case does == "patch":
				pods[name] = c.Patched(seconds, pod, fmt.Sprint(world.TooSmall, i), "")
			default:
				pods[name] = c.Bound(seconds, pod, rapid.SampledFrom([]string{"node-a", "node-b"}).Draw(t, "node"))
			}
		}
		opts := world.Config(t)
		opts.Queue.PopFromBackoffQ = rapid.Bool().Draw(t, "SchedulerPopFromBackoffQ")
		rec := c.Recording(seconds + 15)
		placed := map[types.NamespacedName]types.UID{}
		err := timeline.Replay(context.Background(), rec, timeline.Options{Scheduler: opts}, func(m *board.Transition) error {
			if uid := m.Pod.Pod.UID; m.To == queue.Scheduled {
				placed[m.Pod.Key] = uid
			} else if m.To != queue.Deleted && placed[m.Pod.Key] == uid {
				t.Errorf("%s was bound, and is %s for %s", uid, m.To, m.Event)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		line := timeline.New(rec, opts, nil)
		line.GoTo(line.End)
		want := map[types.UID]bool{}
		for _, pod := range pods {
			if cluster.Waiting(pod) {
				want[pod.UID] = true
			}
		}
		for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
			for i := range line.Shown.Total(tier) {
				uid := line.Shown.At(tier, i).Pod.UID
				if !want[uid] {
					t.Errorf("%s is %s, and does not wait, or is there twice", uid, tier)
				}
				delete(want, uid)
			}
		}
		for uid := range want {
			t.Errorf("%s waits, and is nowhere", uid)
		}
	})
}
