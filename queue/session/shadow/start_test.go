package shadow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestSchedulerStartsLater: a scheduler lists the existing objects when it starts. Before that, no pod is
// queued.
func TestSchedulerStartsLater(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	world.Change(&c, 1, sources.Added, world.PendingPod("here", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	world.Change(&c, 1, sources.Added, world.PendingPod("done", "1"), func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
	world.Change(&c, 1, sources.Added, world.PendingPod("foreign", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	c.Started(5)
	rec := c.Recording(5.5)
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"5 >active UnscheduledPodAdd modelled",
		"5 active>inflight modelled",
		"5 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
	for _, pod := range []string{"here", "done", "foreign"} {
		replayed.Compare(t, replayed.Moves(t, rec, pod), nil)
	}
}

// TestRestartEmptiesQueue: a restart ends the queue's state, undelivered events and bindings in progress.
func TestRestartEmptiesQueue(t *testing.T) {
	var c world.Cluster
	c.Started(0.5)
	n := world.Change(&c, 1, sources.Added, world.Node("node-a", "3"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	world.Change(&c, 9.9, sources.Added, world.PendingPod("db", "3"), nil)                      // assigned, but not bound
	n = world.Change(&c, 9.9997, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "8") }) // not delivered
	world.Change(&c, 9.9999, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "3") })
	c.Started(10)
	var attempts []int
	if err := timeline.Replay(t.Context(), c.Recording(10.5), timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == "web" {
			attempts = append(attempts, m.Attempts)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(10.5), "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		"10 unschedulable>active UnscheduledPodAdd modelled",
		"10 active>inflight modelled",
		"10 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled", // db reserved the resources
	})
	if want := []int{0, 1, 1, 0, 1, 1}; !slices.Equal(attempts, want) {
		t.Errorf("attempts %v, want %v", attempts, want)
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(10.5), "db"), []string{
		"9 >active UnscheduledPodAdd modelled",
		"9 active>inflight modelled",
		"10 >active UnscheduledPodAdd modelled",
		"10 active>inflight modelled",
	})
}

// TestFlushesAfterLastEvent: flushes also run between the last event of a recording and its end.
func TestFlushesAfterLastEvent(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	replayed.Compare(t, replayed.Moves(t, c.Recording(330), "web")[3:], nil)
	replayed.Compare(t, replayed.Moves(t, c.Recording(340), "web")[3:], []string{
		"331 unschedulable>active UnschedulableTimeout NodeResourcesFit modelled",
		"331 active>inflight NodeResourcesFit modelled",
		"331 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
}

// TestPodsWithSameUID: the second of two pods with the same UID is ignored, whether the scheduler lists or
// watches it. Upstream's cache would treat it as a corruption.
func TestPodsWithSameUID(t *testing.T) {
	for name, start := range map[string]float64{"watched": 0.5, "listed": 3} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
			c.Started(start)
			first := world.Change(&c, 2, sources.Added, world.PendingPod("a", "2"), func(p *v1.Pod) { p.UID = "same" })
			second := world.Change(&c, 2.1, sources.Added, world.PendingPod("b", "1"), func(p *v1.Pod) { p.UID = "same" })
			slices.SortStableFunc(c.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
			world.Change(&c, 3.1, sources.Deleted, second, nil)
			first = c.Bound(3.2, first, "node-a")
			world.Change(&c, 4, sources.Added, world.PendingPod("late", "2"), nil)
			world.Change(&c, 5, sources.Deleted, first, nil)
			late := replayed.Moves(t, c.Recording(5.5), "late")
			replayed.Compare(t, late, []string{
				"4 >active UnscheduledPodAdd modelled",
				"4 active>inflight modelled",
				"4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
				"5 unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled",
				"5 backoff>inflight NodeResourcesFit modelled",
			})
			replayed.Compare(t, replayed.Moves(t, c.Recording(5.5), "b"), nil)
		})
	}
}

// preempting returns a recording of a pod that preempts one on the named node of two. While the victim is
// being deleted, a small pod on the other node is deleted.
func preempting(on string) *sources.Recording {
	var c world.Cluster
	low, small := map[string]*v1.Pod{}, map[string]*v1.Pod{}
	for _, name := range []string{"node-a", "node-b"} {
		world.Change(&c, 1, sources.Added, world.Node(name, "2"), nil)
		assigned := func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = name, new(int32) }
		low[name] = world.Change(&c, 2, sources.Added, world.PendingPod("low-"+name, "1500m"), assigned)
		small[name] = world.Change(&c, 2, sources.Added, world.PendingPod("small-"+name, "500m"), func(p *v1.Pod) {
			assigned(p)
			*p.Spec.Priority = 1000
		})
	}
	high := world.Change(&c, 5, sources.Added, world.PendingPod("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	high = c.Patched(5.006, high, "0/2 nodes are available: 2 Insufficient cpu.", on)
	other := map[string]string{"node-a": "node-b", "node-b": "node-a"}[on]
	world.Change(&c, 5.008, sources.Deleted, small[other], nil)
	victim := world.Change(&c, 5.012, sources.Updated, low[on], func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(36)} })
	world.Change(&c, 6, sources.Deleted, victim, nil)
	c.Bound(6.01, high, on)
	return c.Recording(6.5)
}

// TestReplayIsDeterministic: each replay of a recording has the same moves, to the nanosecond.
func TestReplayIsDeterministic(t *testing.T) {
	replay := func() (lines []string) {
		for _, on := range []string{"node-a", "node-b"} {
			if err := timeline.Replay(t.Context(), preempting(on), timeline.Options{}, func(m *board.Transition) error {
				line, err := json.Marshal(m)
				lines = append(lines, string(line))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		return lines
	}
	first := replay()
	for range 5 {
		replayed.Compare(t, replay(), first)
	}
}

// TestEventCenturiesAhead: an event dated centuries ahead is played in a short time.
func TestEventCenturiesAhead(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.PendingPod("web", "1"), nil)
	world.Change(&c, 150*365*24*3600, sources.Added, world.PendingPod("late", "1"), nil)
	got := replayed.Moves(t, c.Recording(150*365*24*3600+10), "late")
	if len(got) == 0 {
		t.Error("the late pod does not move")
	}
}

// TestClockOffsetMovesFlushes: a backoff ends with a whole second of the scheduler's clock. Once the offset
// of the source's clock is known, this applies to the backoff in progress, which ends at 3.01, and to
// later ones.
func TestClockOffsetMovesFlushes(t *testing.T) {
	withOffset := func(known float64, ahead time.Duration) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			if known < 2 {
				w.Add(known, &sources.Clocks{Ahead: ahead})
				w.Started(1.5) // the offset applies to the next scheduler too
			}
			web := world.Change(w, 2.01, sources.Updated, addPod(w, 2, "web", "4", nil), func(p *v1.Pod) {
				world.Reject(p, "running PreFilter plugin \"VolumeBinding\": error getting PVC", "")
				p.Status.Conditions[0].Reason = v1.PodReasonSchedulerError
			})
			w.Add(2.01, &sources.StatusPatched{Pod: world.Key(web.Name), UID: web.UID, Sent: world.At(2.005)})
			if known > 2 {
				w.Add(known, &sources.Clocks{Ahead: ahead})
			}
		}
	}
	const early = `
			3.380 web active BackoffComplete
			3.380 web inflight (turn)
			3.381 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`
	checkMoves(t, []scenario{
		{"no offset", 2.1, 4.5, withOffset(0.5, 0), `
			4.000 web active BackoffComplete
			4.000 web inflight (turn)
			4.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"380 ms ahead", 2.1, 4.5, withOffset(0.5, 380*time.Millisecond), early},
		{"380 ms ahead, known during the backoff", 2.1, 4.5, withOffset(2.6, 380*time.Millisecond), early},
		{"620 ms behind", 2.1, 4.5, withOffset(0.5, -620*time.Millisecond), early},
	})
}

// playLive plays c live up to that second, without any watch from staleSince on. It returns the attempts
// and the reports of silent schedulers.
func playLive(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, staleSince ...float64) (tried, silences []string) {
	t.Helper()
	var status sources.Status
	for _, since := range staleSince {
		status.StaleSince = world.At(since)
	}
	return playLiveStatus(t, cfg, c, seconds, func(float64) sources.Status { return status })
}

// playLiveStatus is playLive with the status of the stream at each moment.
func playLiveStatus(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, status func(seconds float64) sources.Status) (tried, silences []string) {
	t.Helper()
	return popsAndSilences(liveFeed(t, cfg, c, seconds, status))
}

// popsAndSilences returns the attempts in f and the reports of silent schedulers.
func popsAndSilences(f *shadow.Feed) (tried, silences []string) {
	for _, ev := range f.Events {
		at := ev.Time.Sub(world.At(0)).Seconds()
		switch fact := ev.Fact.(type) {
		case *shadow.Move:
			if fact.To == sources.TierInFlight {
				tried = append(tried, fmt.Sprintf("%.0f %s", at, fact.Pod.Name))
			}
		case *sources.Silent:
			if fact.Since.IsZero() {
				silences = append(silences, fmt.Sprintf("%.0f active", at))
			} else {
				silences = append(silences, fmt.Sprintf("%.0f silent since %.0f %s", at, fact.Since.Sub(world.At(0)).Seconds(), fact.Profile))
			}
		}
	}
	return tried, silences
}

// liveFeed plays c live and returns the feed.
func liveFeed(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, status func(seconds float64) sources.Status) *shadow.Feed {
	t.Helper()
	f := shadow.NewLiveFeed(cfg)
	t.Cleanup(f.Close)
	events := c.Recording(seconds).Events
	for at := 0.0; at <= seconds; at += 0.25 { // as a stream would deliver it
		var now []sources.Event
		for len(events) > 0 && !events[0].Time.After(world.At(at)) {
			now, events = append(now, events[0]), events[1:]
		}
		f.Arrive(now, world.At(at), status(at))
		for i := 0; f.HasEvent(i); i++ {
		}
	}
	return f
}

// expect fails the test unless got equals want.
func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestNoScheduler: in a cluster without a scheduler, pods are not tried until one starts.
func TestNoScheduler(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{})
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	db := world.Change(&c, 5, sources.Added, world.PendingPod("db", "1"), nil)
	c.Patched(60, web, world.TooSmall, "")
	c.Bound(60.1, db, "node-a")
	tried, silences := playLive(t, world.Config(t), &c, 70)
	expect(t, "tried", tried, []string{"60 web", "60 db"})
	expect(t, "silences", silences, []string{"17 silent since 1 ", "60 active"})
}

// TestStaleClusterProvesNothing: while no watch delivers, the absence of attempts proves nothing, and the
// model continues.
func TestStaleClusterProvesNothing(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{})
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	tried, silences := playLive(t, world.Config(t), &c, 60, 2.05)
	expect(t, "tried", tried, []string{"2 web"})
	expect(t, "silences", silences, nil)
}

// TestSchedulerStops: after a scheduler stops, a pod that is woken is not tried.
func TestSchedulerStops(t *testing.T) {
	for _, lease := range []bool{false, true} {
		var c world.Cluster
		node := world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		c.Add(1, &sources.Attached{})
		c.AddStuck(2, "old")
		if lease {
			c.Add(20, &sources.Silent{Since: world.At(4)})
		} else {
			world.Change(&c, 4, sources.Added, world.PendingPod("new", "1"), nil)
		}
		world.Change(&c, 30, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, "2") })
		tried, silences := playLive(t, world.Config(t), &c, 50)
		expect(t, "tried", tried, []string{"2 old"})
		want := []string{"20 silent since 4 "}
		if !lease {
			want = []string{"19 silent since 2 "}
		}
		expect(t, "silences", silences, want)
	}
}

// TestLeaseExpires: while the lease is not renewed, the model makes no unobservable attempts. After its
// renewal, it does.
func TestLeaseExpires(t *testing.T) {
	var c world.Cluster
	node := world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{Nodes: true})
	old := c.AddStuck(2, "old")
	c.Recorded(2.1, old, 2) // later attempts are not observable
	c.Add(8, &sources.Silent{Since: world.At(5)})
	world.Change(&c, 10, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, "3") })
	c.Add(10, &sources.Injected{})
	world.Change(&c, 11, sources.Added, world.Node("node-b", "8"), func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}
	})
	c.Add(14, &sources.Silent{})
	tried, _ := playLive(t, world.Config(t), &c, 16)
	expect(t, "tried", tried, []string{"2 old", "2 old", "14 old"})
}

// TestOneProfileSilent: no scheduler serves one of two profiles. The pods of the other are scheduled.
func TestOneProfileSilent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scheduler.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n- schedulerName: batch\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := schedulerconfig.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "8"), nil)
	c.Add(1, &sources.Attached{})
	job := world.PendingPod("job", "1")
	job.Spec.SchedulerName = "batch"
	world.Change(&c, 2, sources.Added, job, nil)
	var want []string
	for i := range 30 {
		name := fmt.Sprintf("web-%d", i)
		c.Bound(float64(3+i)+0.01, world.Change(&c, float64(3+i), sources.Added, world.PendingPod(name, "100m"), nil), "node-a")
		want = append(want, fmt.Sprintf("%d %s", 3+i, name))
	}
	tried, silences := playLive(t, cfg, &c, 40)
	expect(t, "tried", tried, want)
	expect(t, "silences", silences, []string{"17 silent since 1 batch"})
}
