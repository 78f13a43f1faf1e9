package session

import (
	"testing"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestReleaseOfSession: what a session says that it follows, and compares a rerun with, is the recorded scheduler's.
func TestReleaseOfSession(t *testing.T) {
	var c world.Cluster
	c.Add(1, &sources.SchedulerHeard{Release: "v1.31.4"})
	world.Happens(&c, 2, sources.Added, world.Node("node-a", "1"), nil)
	world.Happens(&c, 3, sources.Added, world.Wants("web", "2"), nil)
	s := New(c.Recording(5), timeline.Options{Paused: true})
	defer s.owner.close()
	if got := s.Release(); got != "v1.31" {
		t.Errorf("it follows %s", got)
	}
	_, played, err := s.Rerun(t.Context(), "v1.37", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer played.owner.close()
	if got := played.Release(); got != "v1.37" {
		t.Errorf("its rerun follows %s", got)
	}
}
