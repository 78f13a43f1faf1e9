package shadow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// attached plays what c tells to a session that is attached to it, up to seconds, and hears nothing from staleSince on. It returns the model's moves into flight and
// what it says of schedulers that are not heard.
func attached(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, staleSince ...float64) (tried, silences []string) {
	t.Helper()
	var status sources.Status
	for _, since := range staleSince {
		status.StaleSince = world.At(since)
	}
	return told(t, cfg, c, seconds, func(float64) sources.Status { return status })
}

// told is attached for a stream that stands at each moment as status says.
func told(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, status func(seconds float64) sources.Status) (tried, silences []string) {
	t.Helper()
	return shown(played(t, cfg, c, seconds, status))
}

// shown returns what of f's events told returns.
func shown(f *shadow.Feed) (tried, silences []string) {
	for _, ev := range f.Events {
		at := ev.Time.Sub(world.At(0)).Seconds()
		switch fact := ev.Fact.(type) {
		case *shadow.Move:
			if fact.To == sources.TierInFlight {
				tried = append(tried, fmt.Sprintf("%.0f %s", at, fact.Pod.Name))
			}
		case *sources.Silent:
			if fact.Since.IsZero() {
				silences = append(silences, fmt.Sprintf("%.0f heard", at))
			} else {
				silences = append(silences, fmt.Sprintf("%.0f silent since %.0f %s", at, fact.Since.Sub(world.At(0)).Seconds(), fact.Profile))
			}
		}
	}
	return tried, silences
}

// played is the feed of such a session.
func played(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, status func(seconds float64) sources.Status) *shadow.Feed {
	t.Helper()
	f := shadow.NewLiveFeed(cfg)
	t.Cleanup(f.Close)
	events := c.Recording(seconds).Events
	for at := 0.0; at <= seconds; at += 0.25 { // as it would come
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

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestNoScheduler: a cluster without a scheduler. Its pods wait, and none is tried, but by the scheduler that comes.
func TestNoScheduler(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{})
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	db := world.Change(&c, 5, sources.Added, world.PendingPod("db", "1"), nil)
	c.Patched(60, web, world.TooSmall, "")
	c.Bound(60.1, db, "node-a")
	tried, silences := attached(t, world.Config(t), &c, 70)
	expect(t, "tried", tried, []string{"60 web", "60 db"})
	expect(t, "silences", silences, []string{"17 silent since 1 ", "60 heard"})
}

// TestStaleTellsNothing: while the cluster can't be heard, that nothing is seen tells nothing. The model goes on by itself.
func TestStaleTellsNothing(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{})
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	tried, silences := attached(t, world.Config(t), &c, 60, 2.05)
	expect(t, "tried", tried, []string{"2 web"})
	expect(t, "silences", silences, nil)
}

// TestSchedulerEnds: a scheduler is at work, and ends. A pod that it has tried before is woken later: nobody tries it.
func TestSchedulerEnds(t *testing.T) {
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
		tried, silences := attached(t, world.Config(t), &c, 50)
		expect(t, "tried", tried, []string{"2 old"})
		want := []string{"20 silent since 4 "}
		if !lease {
			want = []string{"19 silent since 2 "}
		}
		expect(t, "silences", silences, want)
	}
}

// TestLeaseLapses: while nobody renews the lease, no pod is tried that could be without showing it. When somebody does again, it is.
func TestLeaseLapses(t *testing.T) {
	var c world.Cluster
	node := world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{Nodes: true})
	old := c.AddStuck(2, "old")
	c.Recorded(2.1, old, 2) // those that follow are only counted
	c.Add(8, &sources.Silent{Since: world.At(5)})
	world.Change(&c, 10, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, "3") })
	c.Add(10, &sources.Injected{})
	world.Change(&c, 11, sources.Added, world.Node("node-b", "8"), func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}
	})
	c.Add(14, &sources.Silent{})
	tried, _ := attached(t, world.Config(t), &c, 16)
	expect(t, "tried", tried, []string{"2 old", "2 old", "14 old"})
}

// TestOneProfileSilent: of two profiles, nobody works for one. The pods of the other go on.
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
	tried, silences := attached(t, cfg, &c, 40)
	expect(t, "tried", tried, want)
	expect(t, "silences", silences, []string{"17 silent since 1 batch"})
}
