package shadow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// playLive plays c live up to that second, without any watch from staleSince on. It returns the attempts
// and the reports of silent schedulers.
func playLive(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, staleSince ...float64) (tried, silences []string) {
	t.Helper()
	var status sources.Status
	for _, since := range staleSince {
		status.StaleSince = world.At(since)
	}
	return popsAndSilences(liveFeed(t, cfg, c, seconds, func(float64) sources.Status { return status }))
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

// TestSignsOfScheduler: after the model assumed that no scheduler is running, any sign of one resumes
// the loop.
func TestSignsOfScheduler(t *testing.T) {
	silent := func(then func(w *world.Cluster, bound *v1.Pod)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			bound := addPod(w, 1.8, "bound", "100m", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			addPod(w, 2, "web", "4", nil) // its attempts are observable
			w.Add(19, &sources.Mark{})
			addPod(w, 19.5, "free", "4", rejectedBefore)
			addPod(w, 19.6, "theirs", "1", func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" })
			addPod(w, 19.7, "small", "1", rejectedBefore)
			then(w, bound)
		}
	}
	checkMoves(t, []scenario{
		{"an Event", 19, 20.2, silent(func(w *world.Cluster, _ *v1.Pod) { w.Failed(20, world.PendingPod("web", "4"), noRoom) }), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
			20.000 silent
			20.000 web inflight (behind)
			20.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			20.000 free inflight (turn)
			20.001 free unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			20.001 small inflight (turn)
			20.006 small unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"a patch", 19, 20.2, silent(func(w *world.Cluster, _ *v1.Pod) { w.Patched(20, world.PendingPod("web", "4"), noRoom, "") }), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
			20.000 silent
			20.000 web inflight (behind)
			20.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			20.000 free inflight (turn)
			20.001 free unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			20.001 small inflight (turn)
			20.007 small unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"activity of others only", 19, 20.2, silent(func(w *world.Cluster, bound *v1.Pod) {
			w.Failed(20, world.PendingPod("nobody", "4"), noRoom)
			w.Add(20.01, &sources.FailedAttempt{Pod: world.Key("web"), UID: "another", Message: noRoom})
			world.Change(w, 20.02, sources.Updated, bound, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 20.03, sources.Updated, world.PendingPod("web", "4"), func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			w.Bound(20.04, world.Change(w, 20.04, sources.Updated, world.PendingPod("theirs", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" }), "node-a")
		}), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
		`},
		{"a held lease before the scheduler starts", 2, 4, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			w.Add(1.9, &sources.Silent{})
			addPod(w, 2, "web", "1", nil)
			w.Started(3)
		}, `
			3.000 other active UnscheduledPodAdd
			3.000 web active UnscheduledPodAdd
			3.900 other inflight (turn)
			3.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.901 web inflight (turn)
			3.906 web unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
	})
}
