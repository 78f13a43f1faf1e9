package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestReleaseOfSession: a session follows the recorded scheduler's release, and compares a rerun with it.
func TestReleaseOfSession(t *testing.T) {
	var c world.Cluster
	c.Add(1, &sources.SchedulerRunning{Release: "v1.31.4"})
	world.Change(&c, 2, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(&c, 3, sources.Added, world.PendingPod("web", "2"), nil)
	s := New(c.Recording(5), timeline.Options{Paused: true})
	defer s.owner.close()
	if got := s.Release(); got != "v1.31" {
		t.Errorf("it follows %s", got)
	}
	_, open, err := s.Rerun(t.Context(), "v1.37", nil)
	if err != nil {
		t.Fatal(err)
	}
	played := open()
	defer played.Close()
	if got := played.Release(); got != "v1.37" {
		t.Errorf("its rerun follows %s", got)
	}
}

// TestUpgradeIsShown: an upgrade of the scheduler has one mark and a notice with both releases. The release
// shown is that at the time shown, in a what-if that at its start; a rerun has only its own.
func TestUpgradeIsShown(t *testing.T) {
	var c world.Cluster
	c.Started(0)
	c.Add(1, &sources.SchedulerRunning{Release: "v1.35.0", From: sources.ReleaseAgent})
	world.Change(&c, 2, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(&c, 3, sources.Added, world.PendingPod("web", "2"), nil)
	c.Add(9, &sources.Mark{Text: "kubeadm upgrade"})
	c.Add(10, &sources.SchedulerStarted{Release: "v1.37.1", From: sources.ReleaseAgent, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	c.Add(11, &sources.SchedulerRunning{Release: "v1.37.1", From: sources.ReleaseAgent})
	c.Started(15) // and again, of the same release
	rec := c.Recording(20)
	o := newOwner(rec, timeline.Options{Paused: true})
	defer o.close()

	const upgrade = "kube-scheduler v1.35.0 → v1.37.1"
	f := o.frame()
	if want := []timeline.Mark{{At: world.At(9), Text: "kubeadm upgrade"}, {At: world.At(10), Text: upgrade}}; !slices.Equal(f.Marks, want) {
		t.Errorf("its marks are %v, want %v", f.Marks, want)
	}
	if want := "From 2026-11-21 12:00:10 UTC on the scheduler is v1.37.1, and was v1.35.0 before"; !slices.ContainsFunc(f.Notices, func(s string) bool { return strings.HasPrefix(s, want) }) {
		t.Errorf("notices %q, want %q", f.Notices, want)
	}
	for _, c := range []struct {
		at            float64
		release, mark sources.SafeText
	}{{3, "v1.35.0", ""}, {9.9, "v1.35.0", "kubeadm upgrade"}, {10, "v1.37.1", upgrade}, {19, "v1.37.1", upgrade}, {5, "v1.35.0", ""}} {
		o.seek(world.At(c.at))
		if f := o.frame(); f.Scheduler.Release != c.release || f.Mark != c.mark {
			t.Errorf("at %g s it shows %s and the mark %q, want %s and %q", c.at, f.Scheduler.Release, f.Mark, c.release, c.mark)
		}
	}
	o.findMark("v1.37", true)
	if !o.now.Equal(world.At(10)) {
		t.Errorf("the mark is found at %s", o.now)
	}

	o.seek(world.At(5))
	o.forkHere()
	o.show(o.now.Add(10 * time.Second))
	if f := o.frame(); f.Scheduler.Release != "v1.35.0" || len(f.Marks) != 0 {
		t.Errorf("a what-if that left before the upgrade shows %s and %v", f.Scheduler.Release, f.Marks)
	}

	again, err := shadow.Rerun(rec, "v1.36")
	if err != nil {
		t.Fatal(err)
	}
	rerun := newOwner(again, timeline.Options{Paused: true, Release: "v1.36"})
	defer rerun.close()
	f = rerun.frame()
	isUpgrade := func(s string) bool { return strings.HasPrefix(s, "From ") }
	if len(f.Marks) != 1 || slices.ContainsFunc(f.Notices, isUpgrade) {
		t.Errorf("a rerun under one release has the marks %v and the notices %q", f.Marks, f.Notices)
	}
}

// TestUpgradeOfLive: in a live session an upgrade adds a mark, also to marks listed before.
func TestUpgradeOfLive(t *testing.T) {
	o := newOwner((&world.Cluster{}).Recording(20), timeline.Options{Paused: true})
	defer o.close()
	hear := func(at float64, release sources.SafeText) []timeline.Mark {
		o.noteFacts([]sources.Event{{Time: world.At(at), Fact: &sources.SchedulerRunning{Release: release}}})
		return o.frame().Marks
	}
	if got := hear(1, "v1.35.0"); len(got) != 0 {
		t.Errorf("the first release has the mark %v", got)
	}
	if got := hear(5, "v1.37.1"); len(got) != 1 || !got[0].At.Equal(world.At(5)) {
		t.Errorf("the second one has the marks %v", got)
	}
}
