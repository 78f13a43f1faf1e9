package opinion_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// cluster is a recording in which web waits while a scheduler works on other pods.
type cluster struct{ world.Cluster }

// newCluster returns a cluster with a node, on which web, created after 2 s and tried once, does not fit.
func newCluster() (c *cluster, web *v1.Pod) {
	c = &cluster{}
	world.Change(&c.Cluster, 0, sources.Added, world.Node("node-a", "2"), nil)
	return c, c.AddStuck(2, "web")
}

// works has the scheduler bind a new pod every 20 s.
func (c *cluster) works(from, to float64) { c.worksAs(v1.DefaultSchedulerName, from, to) }

// worksAs has a scheduler of that name bind a new pod every 20 s.
func (c *cluster) worksAs(scheduler string, from, to float64) {
	for at := from; at < to; at += 20 {
		pod := world.PendingPod(fmt.Sprintf("other-%g", at), "1m")
		pod.CreationTimestamp = metav1.NewTime(world.At(at))
		pod = world.Change(&c.Cluster, at, sources.Added, pod, func(p *v1.Pod) { p.Spec.SchedulerName = scheduler })
		c.Bound(at+0.01, pod, "node-a")
	}
}

// verdicts returns the verdicts on the pods of that name, as their codes with the seconds at which they were given.
func (c *cluster) verdicts(t *testing.T, pod string, until float64) string {
	t.Helper()
	slices.SortStableFunc(c.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	said := ""
	_, err := timeline.ReplayWith(t.Context(), c.Recording(until), timeline.Options{}, timeline.ReplayHandlers{
		Move: func(*board.Transition) error { return nil },
		Verdict: func(at time.Time, p *board.Pod) error {
			switch {
			case p.Key != world.Key(pod):
			case p.Opinion == nil:
				said += "none "
			default:
				said += fmt.Sprintf("%s %t ", p.Opinion.Code, p.Opinion.Certain)
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// TestLostBySilence: a pod is lost that is not tried for as long as the leftover flush takes, while pods behind it are; and only then.
func TestLostBySilence(t *testing.T) {
	for _, test := range []struct {
		name  string
		play  func(c *cluster, web *v1.Pod)
		until float64
		want  string
	}{
		{"it is not tried", func(c *cluster, _ *v1.Pod) { c.works(10, 600) }, 600, "Lost false "},
		{"the flush may not have come yet", func(c *cluster, _ *v1.Pod) { c.works(10, 360) }, 360, ""},
		{"the recording ends early", func(c *cluster, _ *v1.Pod) { c.works(10, 100) }, 900, ""},
		{"it is retried in time", func(c *cluster, web *v1.Pod) {
			c.works(10, 310)
			c.Recorded(325, web, 2)
			c.works(330, 600)
		}, 600, ""},
		{"nobody is tried", func(*cluster, *v1.Pod) {}, 600, ""},
		{"only other schedulers work", func(c *cluster, _ *v1.Pod) { c.worksAs("volcano", 10, 600) }, 600, ""},
		{"another scheduler of the same name binds it", func(c *cluster, web *v1.Pod) {
			c.Add(9, &sources.Logged{Verbosity: 5})
			c.works(10, 300)
			c.Bound(300.5, web, "node-a")
			c.works(301, 900)
		}, 900, ""},
		{"the scheduler is paused, and tries others first afterwards", func(c *cluster, web *v1.Pod) {
			c.works(10, 30)
			c.works(370, 430)
			c.Recorded(431, web, 2)
		}, 500, ""},
		{"the scheduler is paused, and tries it first afterwards", func(c *cluster, web *v1.Pod) {
			c.works(10, 50)
			c.Recorded(500, web, 2)
			c.works(501, 700)
		}, 700, ""},
		{"a scheduler starts", func(c *cluster, _ *v1.Pod) {
			c.works(10, 290)
			c.Started(300)
			c.works(310, 600)
		}, 600, ""},
		{"a watch breaks", func(c *cluster, _ *v1.Pod) {
			c.works(10, 290)
			c.Add(300, &sources.WatchGap{Resource: sources.EventsWatch, Gap: sources.Gap{Since: world.At(300)}})
			c.works(310, 600)
		}, 600, ""},
		{"a watch was broken", func(c *cluster, _ *v1.Pod) {
			c.works(10, 290)
			c.Add(300, &sources.WatchGap{Resource: sources.EventsWatch, Gap: sources.Gap{Since: world.At(300)}})
			c.Add(330, &sources.WatchGap{Resource: sources.EventsWatch, Gap: sources.Gap{Since: world.At(300), Until: world.At(330)}})
			c.works(340, 700)
		}, 700, ""},
		{"the clock jumps", func(c *cluster, _ *v1.Pod) {
			c.works(10, 100)
			c.works(800, 1000)
		}, 1000, ""},
		{"it is deleted and created again", func(c *cluster, web *v1.Pod) {
			c.works(10, 190)
			world.Change(&c.Cluster, 200, sources.Deleted, web, nil)
			c.AddStuck(201, "web")
			c.works(210, 500)
		}, 500, ""},
		{"a third attempt would not show", func(c *cluster, web *v1.Pod) {
			c.Recorded(5, web, 2)
			c.works(10, 600)
		}, 600, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, web := newCluster()
			test.play(c, web)
			world.ExpectText(t, c.verdicts(t, "web", test.until), test.want)
		})
	}
}

// TestLostByLog: a pod is lost that the scheduler discards, unless it comes back.
func TestLostByLog(t *testing.T) {
	discarded := func(c *cluster) { c.Add(60, &sources.Discarded{Pod: world.Key("web")}) }
	for _, test := range []struct {
		name string
		play func(c *cluster, web *v1.Pod)
		want string
	}{
		{"it is discarded", func(c *cluster, _ *v1.Pod) { discarded(c) }, "Lost true "},
		{"the Event of the attempt before comes after the line", func(c *cluster, web *v1.Pod) {
			discarded(c)
			c.Recorded(60.01, web, 2)
		}, "Lost true "},
		{"the pod changes", func(c *cluster, web *v1.Pod) {
			discarded(c)
			world.Change(&c.Cluster, 61, sources.Updated, web, func(p *v1.Pod) { p.Labels = map[string]string{"a": "b"} })
		}, ""},
		{"it is tried again", func(c *cluster, web *v1.Pod) {
			discarded(c)
			c.Recorded(70, web, 2)
		}, ""},
		{"it comes back later", func(c *cluster, web *v1.Pod) {
			discarded(c)
			c.works(65, 150)
			world.Change(&c.Cluster, 160, sources.Updated, web, func(p *v1.Pod) { p.Labels = map[string]string{"a": "b"} })
		}, "Lost true none "},
		{"another scheduler starts", func(c *cluster, _ *v1.Pod) {
			discarded(c)
			c.Started(70)
		}, ""},
		{"it is another pod by then", func(c *cluster, web *v1.Pod) {
			discarded(c)
			world.Change(&c.Cluster, 61, sources.Deleted, web, nil)
			c.AddStuck(62, "web")
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, web := newCluster()
			c.works(10, 55)
			test.play(c, web)
			c.works(180, 250)
			world.ExpectText(t, c.verdicts(t, "web", 250), test.want)
		})
	}
}

// TestHeld: a pod is held that waits behind a gate, or for a claim that does not exist, for longer than the leftover flush takes.
func TestHeld(t *testing.T) {
	const noClaim = `0/1 nodes are available: persistentvolumeclaim "data" not found.`
	for _, test := range []struct {
		name string
		edit func(*v1.Pod)
		want string
	}{
		{"gated", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}} }, "Held true "},
		{"no claim", func(p *v1.Pod) { world.Mount(p, "data") }, "Held true "},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &cluster{}
			world.Change(&c.Cluster, 0, sources.Added, world.Node("node-a", "2"), nil)
			pod := world.PendingPod("web", "1m")
			pod.CreationTimestamp = metav1.NewTime(world.At(2))
			pod = world.Change(&c.Cluster, 2, sources.Added, pod, test.edit)
			if len(pod.Spec.SchedulingGates) == 0 {
				c.Failed(2.01, pod, noClaim)
				c.Patched(2.02, pod, noClaim, "")
			}
			c.works(10, 290)
			world.ExpectText(t, c.verdicts(t, "web", 290), "")
			c.works(310, 350)
			world.ExpectText(t, c.verdicts(t, "web", 350), test.want)
		})
	}
}

// TestSilentScheduler: pods have no scheduler once the lease has lapsed for longer than a restart takes.
func TestSilentScheduler(t *testing.T) {
	c, _ := newCluster()
	c.works(10, 50)
	c.Add(70, &sources.Silent{Since: world.At(60)})
	arrives := func(at float64) {
		world.Change(&c.Cluster, at, sources.Added, world.PendingPod(fmt.Sprintf("new-%g", at), "1m"), nil)
	}
	for at := 80.; at < 380; at += 20 {
		arrives(at)
	}
	world.ExpectText(t, c.verdicts(t, "web", 380), "")
	arrives(400)
	world.ExpectText(t, c.verdicts(t, "web", 400), "NoScheduler true ")
}

// TestNoScheduler: a pod has no scheduler whose schedulerName no profile has, unless others with that name are bound.
func TestNoScheduler(t *testing.T) {
	for _, served := range []bool{false, true} {
		c := &cluster{}
		world.Change(&c.Cluster, 0, sources.Added, world.Node("node-a", "2"), nil)
		foreign := func(name string, at float64) *v1.Pod {
			pod := world.PendingPod(name, "1m")
			pod.CreationTimestamp = metav1.NewTime(world.At(at))
			return world.Change(&c.Cluster, at, sources.Added, pod, func(p *v1.Pod) { p.Spec.SchedulerName = "other" })
		}
		foreign("web", 2)
		if c.works(10, 200); served {
			c.Bound(201, foreign("api", 200), "node-a")
		}
		c.works(210, 450)
		r, err := timeline.ReplayWith(t.Context(), c.Recording(450), timeline.Options{}, timeline.ReplayHandlers{Move: func(*board.Transition) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.Unserved); got != map[bool]int{false: 1, true: 0}[served] {
			t.Errorf("with another pod bound %t, %d pods have no scheduler", served, got)
		}
	}
}

// grows gives the node so many CPUs.
func (c *cluster) grows(seconds float64, node *v1.Node, cpu string) *v1.Node {
	return world.Change(&c.Cluster, seconds, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, cpu) })
}

// newNode adds a node that is created at the start.
func (c *cluster) newNode(name, cpu string) *v1.Node {
	return world.Change(&c.Cluster, 0, sources.Added, world.Node(name, cpu), func(n *v1.Node) { n.CreationTimestamp = metav1.NewTime(world.Noon) })
}

// TestStaleView: the scheduler's view is stale if it rejects a pod twice for lack of room, half a minute apart, while a node has had room
// for more than a minute.
func TestStaleView(t *testing.T) {
	const affinity = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
	for _, test := range []struct {
		name string
		play func(c *cluster, web *v1.Pod, node *v1.Node)
		want string
	}{
		{"rejected for lack of room on a node that has room", func(c *cluster, web *v1.Pod, node *v1.Node) {
			c.grows(30, node, "32")
			c.Failed(60, web, world.TooSmall)
			c.Failed(100, web, world.TooSmall)
		}, "StaleView false "},
		{"only once", func(c *cluster, web *v1.Pod, node *v1.Node) {
			c.grows(30, node, "32")
			c.Failed(100, web, world.TooSmall)
		}, ""},
		{"the second time just after the first", func(c *cluster, web *v1.Pod, node *v1.Node) {
			c.grows(30, node, "32")
			c.Failed(100, web, world.TooSmall)
			c.Failed(120, web, world.TooSmall)
		}, ""},
		{"just after the node grew", func(c *cluster, web *v1.Pod, node *v1.Node) {
			c.grows(30, node, "32")
			c.Failed(32, web, world.TooSmall)
			c.Failed(62, web, world.TooSmall)
		}, ""},
		{"the node has no room", func(c *cluster, web *v1.Pod, _ *v1.Node) {
			c.Failed(60, web, world.TooSmall)
			c.Failed(100, web, world.TooSmall)
		}, ""},
		{"the room was taken meanwhile", func(c *cluster, web *v1.Pod, node *v1.Node) {
			node = c.grows(30, node, "32")
			c.Failed(60, web, world.TooSmall)
			c.grows(70, node, "2")
			c.Failed(100, web, world.TooSmall)
		}, ""},
		{"rejected for another reason", func(c *cluster, web *v1.Pod, node *v1.Node) {
			c.grows(30, node, "32")
			c.Failed(60, web, affinity)
			web = c.Patched(60.01, web, affinity, "")
			c.Failed(100, web, affinity)
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &cluster{}
			node := c.newNode("node-a", "2")
			web := c.AddStuck(2, "web")
			test.play(c, web, node)
			c.works(3, 130)
			world.ExpectText(t, c.verdicts(t, "web", 130), test.want)
		})
	}
}

// TestStarved: a pod starves that fits and is not tried for five minutes, while pods with a higher priority are tried all the time.
func TestStarved(t *testing.T) {
	for _, test := range []struct {
		name     string
		cpu      string
		priority int32 // of the others
		tries    int   // how often the others are tried, every 2 s
		want     string
	}{
		{"others are ahead of it", "1", 1000, 200, "Starved false "},
		{"it does not fit", "100", 1000, 200, ""},
		{"others are behind it", "1", -1, 200, "Lost false "},
		{"others are no longer tried", "1", 1000, 100, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &cluster{}
			c.newNode("node-a", "2")
			web := world.PendingPod("web", test.cpu)
			web.CreationTimestamp = metav1.NewTime(world.At(2))
			world.Change(&c.Cluster, 2, sources.Added, web, nil)
			for i := range test.tries {
				at := 3 + 2*float64(i)
				pod := world.PendingPod(fmt.Sprintf("hopeless-%d", i), "1000")
				pod.CreationTimestamp = metav1.NewTime(world.At(at))
				pod = world.Change(&c.Cluster, at, sources.Added, pod, func(p *v1.Pod) { p.Spec.Priority = &test.priority })
				c.Recorded(at+0.01, pod, 1)
			}
			world.ExpectText(t, c.verdicts(t, "web", 404), test.want)
		})
	}
}

// crowd has the scheduler bind so many pods at once, more than its client sends without waiting.
func (c *cluster) crowd(at float64, pods int) {
	for i := range pods {
		pod := world.PendingPod(fmt.Sprintf("crowd-%d", i), "1m")
		pod.CreationTimestamp = metav1.NewTime(world.At(at))
		pod = world.Change(&c.Cluster, at, sources.Added, pod, nil)
		c.Bound(at+0.003*float64(i+1), pod, "node-a")
	}
}

// TestMissedWakeUp: a pod missed its wake-up if only the leftover flush had it tried, long after the node on which it is bound got room.
func TestMissedWakeUp(t *testing.T) {
	for _, test := range []struct {
		name         string
		grown, bound float64
		want         string
	}{
		{"bound after the leftover flush", 60, 315, "MissedWakeUp true "},
		{"bound when the node grew", 60, 60.1, ""},
		{"the flush holds up requests", 60, 315.5, "MissedWakeUp true "},
		{"bound sooner than a flush", 60, 250, ""},
		{"the node grew just before the flush", 300, 315, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &cluster{}
			node := c.newNode("node-a", "2")
			web := c.AddStuck(2, "web")
			c.grows(test.grown, node, "32")
			c.works(3, test.bound)
			if test.bound == 315.5 {
				c.crowd(315, 150)
			}
			c.Bound(test.bound, web, "node-a")
			world.ExpectText(t, c.verdicts(t, "web", 330), test.want)
		})
	}
}
