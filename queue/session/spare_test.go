package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// changingCluster returns a cluster of that many nodes, each with three pods and room for a fourth. For a minute, pods are
// created, deleted, replaced and updated, and with nodesToo also nodes.
func changingCluster(seed uint64, nodes int, nodesToo bool) *world.Cluster {
	c, r := &world.Cluster{}, rand.New(rand.NewPCG(seed, 0))
	var known []*v1.Node
	for i := range nodes {
		known = append(known, world.Change(c, 1, sources.Added, world.Node(fmt.Sprintf("n-%03d", i), "4"), func(n *v1.Node) {
			n.Labels[v1.LabelTopologyZone] = fmt.Sprint("z-", i%3)
		}))
	}
	runs := func(p *v1.Pod) {
		p.Spec.NodeName = known[r.IntN(len(known))].Name
		p.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: &metav1.Time{Time: world.At(float64(-r.IntN(3)))}}
	}
	var pods []*v1.Pod
	for i := range 3 * nodes {
		pods = append(pods, world.Change(c, 2, sources.Added, world.PendingPod(fmt.Sprintf("pod-%03d", i), "1"), runs))
	}
	for i := range 120 {
		seconds, k := 3+float64(i)/2, r.IntN(len(pods))
		switch r.IntN(5) {
		case 0:
			pods = append(pods, world.Change(c, seconds, sources.Added, world.PendingPod(fmt.Sprintf("new-%03d", i), "1"), runs))
		case 1:
			world.Change(c, seconds, sources.Deleted, pods[k], nil)
			pods[k] = world.Change(c, seconds, sources.Added, world.PendingPod(pods[k].Name, "1"), runs)
		case 2:
			pods[k] = world.Change(c, seconds, sources.Updated, pods[k], func(p *v1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, "changed", fmt.Sprint(i)) })
		case 3:
			pods[k] = world.Change(c, seconds, sources.Updated, pods[k], func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
		case 4:
			n := r.IntN(len(known))
			known[n] = world.Change(c, seconds, sources.Updated, known[n], func(n *v1.Node) {
				n.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse(fmt.Sprint(3 + i%3)), v1.ResourcePods: resource.MustParse("110")}
				if nodesToo {
					n.Labels[v1.LabelTopologyZone] = fmt.Sprint("z-", i%4)
				}
			})
		}
	}
	return c
}

// TestSpareMakesSameDecisions: a scheduler that was loaded in advance and updated gives the same answers as one
// loaded on demand, whether it was moved forward or back in time.
func TestSpareMakesSameDecisions(t *testing.T) {
	urgent := []runtime.Object{&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 100}}
	for i := range 20 {
		pod := world.PendingPod(fmt.Sprint("urgent-", i), []string{"2", "3"}[i%2])
		pod.Spec.PriorityClassName = "high"
		urgent = append(urgent, pod)
	}
	answer := func(c *world.Cluster, loadedAt, askedAt float64) (string, bool) {
		o := newOwner(c.Recording(70), timeline.Options{Paused: true})
		defer o.close()
		updated := false
		if loadedAt > 0 {
			other := newOwner(c.Recording(70), timeline.Options{Paused: true})
			defer other.close()
			other.seek(world.At(loadedAt))
			var err error
			if o.spare.Ready, err = timeline.LoadOrUpdate(nil, o.cfg, other.recording.Engine.Objects, nil); err != nil {
				t.Fatal(err)
			}
			was := o.spare.Ready
			o.seek(world.At(askedAt))
			updated = was.Update(o.recording.Engine.Objects)
			if !updated {
				o.spare.Close()
			}
		}
		o.seek(world.At(askedAt))
		if o.apply("urgent.yaml", urgent); o.reply.Refused {
			t.Fatal(o.reply.Text)
		}
		lines := []string{o.reply.Text}
		for _, m := range o.fork.MovesFrom(o.fork.Forked.History.Moved) {
			lines = append(lines, m.String()+" "+m.Pod.Node)
		}
		return strings.Join(lines, "\n"), updated
	}
	for seed := range uint64(3) {
		for _, nodes := range []int{5, 130} { // with many nodes, not all are evaluated
			c := changingCluster(seed, nodes, false)
			for _, moment := range [][2]float64{{3, 60}, {30, 33}, {60, 5}, {40, 40}} {
				want, _ := answer(c, 0, moment[1])
				got, updated := answer(c, moment[0], moment[1])
				if got != want {
					t.Errorf("seed %d, %d nodes: loaded at %v, at %v got\n%s\nwant\n%s", seed, nodes, moment[0], moment[1], got, want)
				}
				if !updated {
					t.Errorf("seed %d, %d nodes: the scheduler loaded at %v can't be used at %v", seed, nodes, moment[0], moment[1])
				}
			}
		}
	}
	c := changingCluster(1, 5, true) // upstream's node order changes
	want, _ := answer(c, 0, 60)
	if got, updated := answer(c, 3, 60); got != want || updated {
		t.Errorf("nodes in other zones: used is %v, and got\n%s\nwant\n%s", updated, got, want)
	}
}

// large returns a cluster of 1,000 nodes filled by 10,000 running pods, and one waiting pod.
func large() *world.Cluster { return clusterOf(1000) }

// clusterOf returns nodes filled by 10 pods each, and a waiting pod.
func clusterOf(nodes int) *world.Cluster {
	c := &world.Cluster{}
	for i := range nodes {
		world.Change(c, 1, sources.Added, world.Node(fmt.Sprintf("n-%04d", i), "10"), nil)
	}
	for i := range 10 * nodes {
		world.Change(c, 1, sources.Added, world.PendingPod(fmt.Sprintf("pod-%05d", i), "1"), func(p *v1.Pod) {
			p.Spec.NodeName = fmt.Sprintf("n-%04d", i%nodes)
			p.Status.Phase = v1.PodRunning
		})
	}
	waits := world.Change(c, 2, sources.Added, world.PendingPod("waits", "1"), nil)
	c.Add(3, &sources.Move{Pod: world.Key(waits.Name), To: sources.TierActive, Event: "UnscheduledPodAdd"})
	return c
}

// ready waits until the session's spare scheduler is loaded, however long that takes.
func ready(t testing.TB, s *Session) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		done := make(chan bool)
		s.do(func(o *owner) {
			o.spare.Receive(false)
			o.spare.NotBefore = time.Time{}
			done <- o.spare.Ready != nil
		})
		if <-done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no scheduler is loaded")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestSpare: for a large cluster, a scheduler is loaded while paused; a what-if uses it, and then another
// one is loaded.
func TestSpare(t *testing.T) {
	s := New(large().Recording(10), timeline.Options{Paused: true})
	go s.Run(t.Context())
	s.SeekEnd()
	for range 2 {
		ready(t, s)
		s.AddNodeLike("n-0000", "")
		if f := s.Sync(); f.Reply.Text != "a node like n-0000: 1 bound (waits on n-0000-2), none waiting" {
			t.Errorf("got %q", f.Reply.Text)
		}
		left := make(chan bool)
		s.do(func(o *owner) { left <- o.spare.Ready == nil && o.spare.Loading == nil })
		if !<-left {
			t.Error("there is a second scheduler in the what-if")
		}
		s.LeaveFork()
	}
}

// BenchmarkAsk measures a change in a cluster of 1,000 nodes and 10,000 pods, from the key to the reply:
// the fork, its scheduler, and its work until it settles, with and without a spare scheduler.
func BenchmarkAsk(b *testing.B) {
	for _, spare := range []bool{true, false} {
		b.Run(map[bool]string{true: "spare", false: "none"}[spare], func(b *testing.B) {
			s := New(large().Recording(10), timeline.Options{Paused: true})
			go s.Run(b.Context())
			s.SeekEnd()
			var longest time.Duration
			for b.Loop() {
				b.StopTimer()
				ready(b, s)
				if !spare {
					s.do(func(o *owner) { o.spare.Close() })
				}
				s.Sync()
				b.StartTimer()
				began := time.Now()
				s.AddNodeLike("n-0000", "")
				s.Sync()
				longest = max(longest, time.Since(began))
				b.StopTimer()
				s.LeaveFork()
				s.do(func(o *owner) { o.closeFork(o.forkCount) })
				s.Sync()
				b.StartTimer()
			}
			b.ReportMetric(float64(longest.Milliseconds()), "ms/longest")
		})
	}
}

// BenchmarkDiagnose measures a diagnosis in a cluster of 5,000 nodes and 50,000 pods with the spare scheduler.
func BenchmarkDiagnose(b *testing.B) {
	s := New(clusterOf(5000).Recording(10), timeline.Options{Paused: true})
	go s.Run(b.Context())
	s.SeekEnd()
	ready(b, s)
	for b.Loop() {
		s.Diagnose(world.Key("waits"))
		if f := s.Sync(); f.Needs == nil || f.Needs.Nodes != 5000 || f.Conclude(f.Board.Get(world.Key("waits")), f.Needs).Reason != "InsufficientResources" {
			b.Fatalf("needs are %+v", f.Needs)
		}
	}
}
