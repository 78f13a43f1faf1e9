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

// restless is a cluster of so many nodes, each with room for four pods and three on it, in which pods come, go,
// move and change for a minute, and if asked to, nodes too.
func restless(seed uint64, nodes int, nodesToo bool) *world.Cluster {
	c, r := &world.Cluster{}, rand.New(rand.NewPCG(seed, 0))
	var known []*v1.Node
	for i := range nodes {
		known = append(known, world.Happens(c, 1, sources.Added, world.Node(fmt.Sprintf("n-%03d", i), "4"), func(n *v1.Node) {
			n.Labels[v1.LabelTopologyZone] = fmt.Sprint("z-", i%3)
		}))
	}
	runs := func(p *v1.Pod) {
		p.Spec.NodeName = known[r.IntN(len(known))].Name
		p.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: &metav1.Time{Time: world.At(float64(-r.IntN(3)))}}
	}
	var pods []*v1.Pod
	for i := range 3 * nodes {
		pods = append(pods, world.Happens(c, 2, sources.Added, world.Wants(fmt.Sprintf("pod-%03d", i), "1"), runs))
	}
	for i := range 120 {
		seconds, k := 3+float64(i)/2, r.IntN(len(pods))
		switch r.IntN(5) {
		case 0:
			pods = append(pods, world.Happens(c, seconds, sources.Added, world.Wants(fmt.Sprintf("new-%03d", i), "1"), runs))
		case 1:
			world.Happens(c, seconds, sources.Deleted, pods[k], nil)
			pods[k] = world.Happens(c, seconds, sources.Added, world.Wants(pods[k].Name, "1"), runs)
		case 2:
			pods[k] = world.Happens(c, seconds, sources.Updated, pods[k], func(p *v1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, "changed", fmt.Sprint(i)) })
		case 3:
			pods[k] = world.Happens(c, seconds, sources.Updated, pods[k], func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
		case 4:
			n := r.IntN(len(known))
			known[n] = world.Happens(c, seconds, sources.Updated, known[n], func(n *v1.Node) {
				n.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse(fmt.Sprint(3 + i%3)), v1.ResourcePods: resource.MustParse("110")}
				if nodesToo {
					n.Labels[v1.LabelTopologyZone] = fmt.Sprint("z-", i%4)
				}
			})
		}
	}
	return c
}

// TestSpareDecidesNothing: a scheduler that was loaded before and took in what changed since answers as one that
// is loaded when it is asked for, whether it was brought forward or back in time.
func TestSpareDecidesNothing(t *testing.T) {
	urgent := []runtime.Object{&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 100}}
	for i := range 20 {
		pod := world.Wants(fmt.Sprint("urgent-", i), []string{"2", "3"}[i%2])
		pod.Spec.PriorityClassName = "high"
		urgent = append(urgent, pod)
	}
	answer := func(c *world.Cluster, loadedAt, askedAt float64) (string, bool) {
		o := newOwner(c.Recording(70), timeline.Options{Paused: true})
		defer o.close()
		aligned := false
		if loadedAt > 0 {
			other := newOwner(c.Recording(70), timeline.Options{Paused: true})
			defer other.close()
			other.seek(world.At(loadedAt))
			var err error
			if o.spare.Ready, err = timeline.LoadOrAlign(nil, o.cfg, other.recording.Engine.Objects, nil); err != nil {
				t.Fatal(err)
			}
			was := o.spare.Ready
			o.seek(world.At(askedAt))
			aligned = was.Align(o.recording.Engine.Objects)
			if !aligned {
				o.spare.Close()
			}
		}
		o.seek(world.At(askedAt))
		if o.apply("urgent.yaml", urgent); o.said.Refused {
			t.Fatal(o.said.Text)
		}
		said := []string{o.said.Text}
		for _, m := range o.fork.MovesFrom(o.fork.Forked.History.Moved) {
			said = append(said, m.String()+" "+m.Pod.Node)
		}
		return strings.Join(said, "\n"), aligned
	}
	for seed := range uint64(3) {
		for _, nodes := range []int{5, 130} { // of many nodes, not all are looked at
			c := restless(seed, nodes, false)
			for _, moment := range [][2]float64{{3, 60}, {30, 33}, {60, 5}, {40, 40}} {
				want, _ := answer(c, 0, moment[1])
				got, aligned := answer(c, moment[0], moment[1])
				if got != want {
					t.Errorf("seed %d, %d nodes: loaded at %v, at %v it says\n%s\nwant\n%s", seed, nodes, moment[0], moment[1], got, want)
				}
				if !aligned {
					t.Errorf("seed %d, %d nodes: what was loaded at %v can't be used at %v", seed, nodes, moment[0], moment[1])
				}
			}
		}
	}
	c := restless(1, 5, true) // in which upstream's order of the nodes changes
	want, _ := answer(c, 0, 60)
	if got, aligned := answer(c, 3, 60); got != want || aligned {
		t.Errorf("nodes in other zones: used is %v, and it says\n%s\nwant\n%s", aligned, got, want)
	}
}

// large is a cluster of 1,000 nodes and 10,000 running pods, which leave no node room for the one that waits.
func large() *world.Cluster {
	c := &world.Cluster{}
	for i := range 1000 {
		world.Happens(c, 1, sources.Added, world.Node(fmt.Sprintf("n-%04d", i), "10"), nil)
	}
	for i := range 10_000 {
		world.Happens(c, 1, sources.Added, world.Wants(fmt.Sprintf("pod-%05d", i), "1"), func(p *v1.Pod) {
			p.Spec.NodeName = fmt.Sprintf("n-%04d", i%1000)
			p.Status.Phase = v1.PodRunning
		})
	}
	waits := world.Happens(c, 2, sources.Added, world.Wants("waits", "1"), nil)
	c.Add(3, &sources.Move{Pod: world.Key(waits.Name), To: sources.TierActive, Event: "UnscheduledPodAdd"})
	return c
}

// ready waits until the session's spare scheduler is. How long that takes is no matter here, nor how long the last
// one is left alone for it.
func ready(t testing.TB, s *Session) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		done := make(chan bool)
		s.do(func(o *owner) {
			o.spare.TakeOverLoaded(false)
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

// TestSpare: while time stands in a large cluster, a scheduler is made ready; a what-if takes it, and after the
// what-if there is a new one.
func TestSpare(t *testing.T) {
	s := New(large().Recording(10), timeline.Options{Paused: true})
	go s.Run(t.Context())
	s.SeekEnd()
	for range 2 {
		ready(t, s)
		s.AddNodeLike("n-0000", "")
		if f := s.Sync(); f.Said.Text != "a node like n-0000: 1 bound (waits on n-0000-2), none waits" {
			t.Errorf("it says %q", f.Said.Text)
		}
		left := make(chan bool)
		s.do(func(o *owner) { left <- o.spare.Ready == nil && o.spare.Loading == nil })
		if !<-left {
			t.Error("there is a second scheduler in the what-if")
		}
		s.LeaveFork()
	}
}

// BenchmarkAsk measures a question in a cluster of 1,000 nodes and 10,000 pods, from the key to the answer: the
// fork, its scheduler, and what that does until nothing is under way. Once a spare scheduler is there and once
// none.
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
				s.do(func(o *owner) { o.closeFork(o.forked) })
				s.Sync()
				b.StartTimer()
			}
			b.ReportMetric(float64(longest.Milliseconds()), "ms/longest")
		})
	}
}
