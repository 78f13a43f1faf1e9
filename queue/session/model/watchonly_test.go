//go:build watchonly

package model_test

import (
	"errors"
	"testing"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestWatchOnlyFollows: of a cluster that is watched, nodes included, what is seen of attempts is all that is made of them, and
// nothing wakes a pod but what it is itself.
func TestWatchOnlyFollows(t *testing.T) {
	var c world.Cluster
	world.Happens(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	c.Add(1.5, &sources.Attached{Nodes: true})
	web := world.Happens(&c, 2, sources.Added, world.Wants("web", "3"), nil)
	db := world.Happens(&c, 3, sources.Added, world.Wants("db", "1"), nil)
	web = c.Patched(4, web, world.TooSmall, "")
	world.Happens(&c, 5, sources.Added, world.Node("node-b", "4"), nil)
	c.Bound(6, db, "node-a")
	c.Bound(7, web, "node-b")
	rec := c.Recording(30)
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"4 active>inflight modelled",
		"4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		"7 unschedulable>inflight NodeResourcesFit modelled",
		"7 inflight>scheduled NodeResourcesFit observed",
	})
	replayed.Compare(t, replayed.Moves(t, rec, "db"), []string{
		"3 >active UnscheduledPodAdd modelled",
		"6 active>inflight modelled",
		"6 inflight>scheduled observed",
	})
}

// TestWatchOnlyAuditLog: of a cluster that was not watched there are no moves, and why is said.
func TestWatchOnlyAuditLog(t *testing.T) {
	var c world.Cluster
	world.Happens(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Happens(&c, 2, sources.Added, world.Wants("web", "3"), nil)
	f := model.NewFeed(c.Recording(30), world.Config(t))
	for i := 0; f.HasEvent(i); i++ {
		if _, ok := f.Events[i].Fact.(*model.Move); ok {
			t.Error("a pod moves")
		}
	}
	if !errors.Is(f.Err, cycle.ErrWatchOnly) {
		t.Errorf("%v", f.Err)
	}
}
