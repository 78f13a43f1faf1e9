package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestUpgrade: after an upgrade, the model and the queue follow the rules of the new release, and the scheduler's queue is
// empty at first. Releases differ in the event of a new pod.
func TestUpgrade(t *testing.T) {
	for _, c := range []struct {
		name   string
		change sources.Fact
		want   string // the pods' events
	}{
		{"release found", &sources.SchedulerRunning{Release: "v1.32.0"}, "old PodAdd, old UnschedulablePodAdd, new UnschedulablePodAdd"},
		{"started", &sources.SchedulerStarted{Release: "v1.32.0", PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}, "old PodAdd, old UnschedulablePodAdd, new UnschedulablePodAdd"},
		{"release inferred from the log's wording", &sources.SchedulerStarted{Release: "v1.37", ReleaseInferred: true, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}, "old PodAdd, old PodAdd, new PodAdd"},
		{"same release", &sources.SchedulerRunning{Release: "v1.31.4"}, "old PodAdd, new PodAdd"},
		{"same release with a vendor's suffix", &sources.SchedulerRunning{Release: "v1.31.4-eks-1234567"}, "old PodAdd, new PodAdd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			w.Started(0)
			w.Add(1, &sources.SchedulerRunning{Release: "v1.31.4"})
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(&w, 2, sources.Added, world.PendingPod("old", "2"), nil)
			w.Add(10, c.change)
			world.Change(&w, 12, sources.Added, world.PendingPod("new", "2"), nil)
			var added []string
			err := Replay(t.Context(), w.Recording(20), Options{}, func(m *board.Transition) error {
				if strings.HasSuffix(m.Event, "PodAdd") {
					added = append(added, m.Pod.Key.Name+" "+m.Event)
				}
				return nil
			})
			if got := strings.Join(added, ", "); err != nil || got != c.want {
				t.Errorf("%v, events are %s, want %s", err, got, c.want)
			}
		})
	}
}

// TestUpgradeWithRecordedMoves: if the log contains the moves, the queue follows the rules of the running release too.
func TestUpgradeWithRecordedMoves(t *testing.T) {
	var w world.Cluster
	w.Add(1, &sources.SchedulerStarted{Release: "v1.31.4", PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	w.Add(2, &sources.Move{Pod: world.Key("a"), To: sources.TierActive, Event: "PodAdd"})
	w.Add(10, &sources.SchedulerStarted{Release: "v1.37.1", PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	w.Add(11, &sources.Move{Pod: world.Key("a"), To: sources.TierInFlight})
	rec := w.Recording(12)
	cfg, err := Options{}.SchedulerConfig(rec)
	if err != nil {
		t.Fatal(err)
	}
	line := New(rec, cfg, nil)
	line.GoTo(world.At(5))
	if got := line.Options().Rules; !got.OneBackoffQ {
		t.Errorf("before, the rules are %+v", got)
	}
	line.GoTo(world.At(12))
	if got := line.Options().Rules; got.OneBackoffQ {
		t.Errorf("after, the rules are %+v", got)
	}
	if info, ok := line.Engine.Queue.Get("default", "a"); !ok || info.Tier.String() != "inflight" {
		t.Errorf("the pod is %v, %+v", ok, info)
	}
}

// TestReleaseNotices: notices state the scheduler's release, how it is known, its upgrades, and which rules are assumed for
// an unknown release.
func TestReleaseNotices(t *testing.T) {
	unknown := func(release, side, nearest string) string {
		return fmt.Sprintf("kube-scheduler %s is %s than schedq knows: %s's rules are assumed.", release, side, nearest)
	}
	for _, c := range []struct {
		from   sources.ReleaseSource
		found  []sources.SafeText // the releases, in order
		want   []string
		starts bool // the recording contains the scheduler's start
	}{
		{found: []sources.SafeText{"v1.31.4"}},
		{found: []sources.SafeText{"master"}},
		{found: []sources.SafeText{"v1.36.0-eks-1234567"}},
		{found: []sources.SafeText{"v1.40.2"}, want: []string{unknown("v1.40.2", "newer", "v1.37")}},
		{found: []sources.SafeText{"v1.12.0"}, want: []string{unknown("v1.12.0", "older", "v1.16")}},
		{from: sources.ReleaseAgent, found: []sources.SafeText{"v1.31.4"}, want: []string{"The scheduler is kube-scheduler v1.31.4: it calls itself so in its requests."}},
		{from: sources.ReleaseImage, starts: true, found: []sources.SafeText{"v1.31.4"}, want: []string{"The scheduler is kube-scheduler v1.31.4: its pod's image says so."}},
		{found: []sources.SafeText{"v1.31.4", "v1.31.4", "v1.40.2"}, want: []string{
			"From 2026-11-21 12:00:03 UTC on the scheduler is v1.40.2, and was v1.31.4 before: the queue follows the rules of each in its time.",
			unknown("v1.40.2", "newer", "v1.37"),
		}},
	} {
		var w world.Cluster
		if c.starts {
			w.Started(0)
		}
		for i, release := range c.found {
			w.Add(float64(1+i), &sources.SchedulerRunning{Release: release, From: c.from})
		}
		if got := SchedulersOf(&sources.Recording{Events: w.Events}).Notices(); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.found, got, c.want)
		}
	}
	var many Schedulers
	for i := range 9 {
		many.Add(sources.Event{Time: world.At(float64(i)), Fact: &sources.SchedulerRunning{Release: []sources.SafeText{"v1.31.4", "v1.32.0"}[i%2]}})
	}
	if got := many.Notices(); len(got) != 4 || got[3] != "Its release changes 5 times more." {
		t.Errorf("many upgrades: %q", got)
	}
}

// TestAssumed: a sentence says which rules are assumed for a scheduler of unknown release.
func TestAssumed(t *testing.T) {
	for _, c := range []struct {
		scheduler *sources.SchedulerStarted
		want      string
	}{
		{nil, "The scheduler's release is unknown: v1.37's rules are assumed."},
		{&sources.SchedulerStarted{}, "The scheduler's release is unknown: v1.37's rules are assumed."},
		{&sources.SchedulerStarted{Release: "v1.31.4"}, ""},
		{&sources.SchedulerStarted{Release: "v1.38.0"}, "kube-scheduler v1.38.0 is newer than schedq knows: v1.37's rules are assumed."},
		{&sources.SchedulerStarted{Release: "master"}, "The rules of kube-scheduler master are unknown: v1.37's are assumed."},
		{&sources.SchedulerStarted{Release: "v1.37", ReleaseInferred: true}, "The scheduler's log has the wording of v1.37: its rules are assumed."},
		{&sources.SchedulerStarted{Release: "v1.23", ReleaseInferred: true}, "The scheduler's log has the wording of v1.23 or before: v1.23's rules are assumed."},
	} {
		if got := Assumed(c.scheduler); got != c.want {
			t.Errorf("%+v: %q, want %q", c.scheduler, got, c.want)
		}
	}
}

// TestInferredReleaseYields: a release inferred from the wording of a log is replaced by a stated one.
func TestInferredReleaseYields(t *testing.T) {
	inferred := &sources.SchedulerRunning{Release: "v1.23", ReleaseInferred: true, From: sources.ReleaseLogged}
	stated := &sources.SchedulerRunning{Release: "v1.22.4", From: sources.ReleaseAgent}
	for _, facts := range [][]sources.Fact{{inferred, stated}, {stated, inferred}} {
		var s Schedulers
		for i, f := range facts {
			s.Add(sources.Event{Time: world.At(float64(i)), Fact: f})
		}
		if got := s.At(world.At(9)); got.Release != "v1.22.4" || got.ReleaseInferred || len(s.upgrades()) > 0 {
			t.Errorf("the scheduler is %+v, with %d upgrades", got, len(s.upgrades()))
		}
	}
}
