package cycle

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// benchNodes returns 1,000 nodes in three zones. Each fits five of benchPods, and one in ten is
// tainted.
func benchNodes() []runtime.Object {
	var nodes []runtime.Object
	for i := range 1000 {
		node := aNode(fmt.Sprintf("n%03d", i), nodeLabel(v1.LabelTopologyZone, fmt.Sprint("z", i%3)), nodeLabel("disk", []string{"ssd", "hdd"}[i%2]))
		if i%10 == 0 {
			taint("infra")(node)
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// benchPods returns 10,000 pods of 100 applications. One in five has a node affinity, a toleration,
// a topology spread constraint or a pod anti-affinity.
func benchPods(edits ...podEdit) []*v1.Pod {
	var pods []*v1.Pod
	for i := range 10_000 {
		app := fmt.Sprint("app-", i%100)
		pod := aPod(fmt.Sprintf("p%05d", i), requests("cpu", "800m"), requests("memory", "1Gi"), podLabel("app", app))
		switch i % 20 {
		case 0:
			nodeIn("disk", "ssd")(pod)
		case 5:
			tolerates("infra")(pod)
		case 10:
			spreads(v1.LabelTopologyZone, "app", app)(pod)
		case 15:
			antiAffinity(near(v1.LabelHostname, "app", app))(pod)
		}
		for _, edit := range edits {
			edit(pod)
		}
		pods = append(pods, pod)
	}
	return pods
}

// benchTaken returns benchNodes with that many running pods.
func benchTaken(pods int) []runtime.Object {
	objects := benchNodes()
	for i, pod := range benchPods(priority(0))[:pods] {
		taken := aPod("low-"+pod.Name, requests("cpu", "800m"), podLabel("app", pod.Labels["app"]), startedAt(-i))
		objects = append(objects, at(fmt.Sprintf("n%03d", i%1000), taken))
	}
	return objects
}

// BenchmarkCycles measures attempts with their consequences: requeueing, binding, evictions, and
// the updates that the scheduler receives. It schedules 1,000 of 10,000 pods.
func BenchmarkCycles(b *testing.B) {
	for _, c := range []struct {
		name    string
		cluster []runtime.Object
		pods    []*v1.Pod
	}{
		{"half fit", benchTaken(4500), benchPods()},
		{"none fits", benchTaken(5000), benchPods()},
		{"all preempt", benchTaken(5000), benchPods(priority(10))},
	} {
		b.Run(c.name, func(b *testing.B) {
			var cycles, placed, nominated float64
			for b.Loop() {
				b.StopTimer()
				st := newStory(b, c.cluster...)
				for _, pod := range c.pods {
					st.put(pod)
				}
				b.StartTimer()
				for range 1000 {
					a := st.try()
					cycles++
					if a.Binding != nil {
						placed++
						if err := st.Bind(st.clock, a.Binding); err != nil {
							b.Fatal(err)
						}
					}
					if a.Nominated != "" {
						nominated++
					}
					st.applyWrites()
					for _, e := range st.Evictions() {
						st.Evicted(e)
						st.remove(e.Victim)
					}
				}
				st.moves = nil
			}
			b.ReportMetric(cycles/b.Elapsed().Seconds(), "cycles/s")
			b.ReportMetric(100*placed/cycles, "%placed")
			b.ReportMetric(100*nominated/cycles, "%nominated")
		})
	}
}

// BenchmarkLoad measures the start of a scheduler with 1,000 nodes and 10,000 pods on them, for
// which a what-if may have to wait (BenchmarkAsk of queue/session).
func BenchmarkLoad(b *testing.B) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		b.Fatal(err)
	}
	objects := benchNodes()
	for i, pod := range benchPods() {
		objects = append(objects, at(fmt.Sprintf("n%03d", i%1000), pod))
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := New(cfg, 1)
		if err != nil {
			b.Fatal(err)
		}
		for _, obj := range objects {
			if err := s.Load(obj); err != nil {
				b.Fatal(err)
			}
		}
		s.Drive(queue.New(cfg.Queue, s.Plugins(), nil))
		s.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/load")
}
