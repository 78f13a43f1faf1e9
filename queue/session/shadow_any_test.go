package session

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// TestAnyCluster: whatever the real scheduler is seen to do to pods, and however close together that is told, once
// all is quiet just the pods that wait are in the model's queue, each once.
func TestAnyCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c cluster
		seconds := 1.0
		happens(&c, seconds, sources.Added, node("node-a", "2"), nil)
		happens(&c, seconds, sources.Added, node("node-b", "1"), nil)
		pods, failed := map[string]*v1.Pod{}, map[string]int{}
		attached := rapid.IntRange(-20, 20).Draw(t, "attached") // below 0: the recording has it all
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			seconds += rapid.SampledFrom([]float64{0, 0.0001, 0.0005, 0.002, 0.02, 0.3, 1.1, 3}).Draw(t, "gap")
			if i == attached {
				c.add(seconds, &sources.Attached{})
			}
			if rapid.IntRange(0, 19).Draw(t, "restart") == 19 {
				c.add(seconds, &sources.SchedulerStarted{})
			}
			name := fmt.Sprint("p-", rapid.IntRange(1, 4).Draw(t, "pod"))
			pod := pods[name]
			if pod == nil {
				pod = wants(name, rapid.SampledFrom([]string{"500m", "1", "4"}).Draw(t, "cpu"))
				pod.UID = types.UID(fmt.Sprint(name, "-", i))
				pod.CreationTimestamp = metav1.NewTime(at(seconds))
				pods[name], failed[name] = happens(&c, seconds, sources.Added, pod, nil), 0
				continue
			}
			switch does := rapid.SampledFrom([]string{"fail", "patch", "label", "bind", "end", "delete"}).Draw(t, "does"); {
			case does == "delete":
				happens(&c, seconds, sources.Deleted, pod, nil)
				delete(pods, name)
			case pod.Spec.NodeName != "" && does == "end":
				pods[name] = happens(&c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
			case pod.Spec.NodeName != "", does == "label":
				pods[name] = happens(&c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Labels = map[string]string{"step": fmt.Sprint(i)} })
			case does == "fail":
				failed[name]++
				c.recorded(seconds, pod, failed[name])
			case does == "patch":
				pods[name] = c.patched(seconds, pod, fmt.Sprint(tooSmall, i), "")
			default:
				pods[name] = c.bound(seconds, pod, rapid.SampledFrom([]string{"node-a", "node-b"}).Draw(t, "node"))
			}
		}
		opts := defaults(t)
		opts.Queue.PopFromBackoffQ = rapid.Bool().Draw(t, "SchedulerPopFromBackoffQ")
		rec := c.recording(seconds + 15)
		placed := map[types.NamespacedName]types.UID{}
		err := Replay(context.Background(), rec, Options{Scheduler: opts}, func(m *Transition) error {
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
		line := newTimeline(rec, opts, nil)
		line.goTo(line.end)
		want := map[types.UID]bool{}
		for _, pod := range pods {
			if waiting(pod) {
				want[pod.UID] = true
			}
		}
		for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
			for i := range line.shown.Total(tier) {
				uid := line.shown.At(tier, i).Pod.UID
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
