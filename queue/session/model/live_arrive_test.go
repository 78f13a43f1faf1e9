package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestArrivesLate: what a stream tells too late for its place comes when it is told, in the order of time.
func TestArrivesLate(t *testing.T) {
	var w world.Cluster
	world.Happens(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	f := model.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(10), sources.Status{})
	for i := 0; f.HasEvent(i); i++ {
	}
	w.Events = nil
	world.Happens(&w, 2, sources.Added, world.Wants("web", "4"), nil)
	f.Arrive(w.Events, world.At(10.1), sources.Status{})
	f.Arrive(nil, world.At(11), sources.Status{})
	for i := 0; f.HasEvent(i); i++ {
		if i > 0 && f.Events[i].Time.Before(f.Events[i-1].Time) {
			t.Errorf("event %d is before the one that was made before it", i)
		}
	}
	if got := traceOf(f, 2, false); !strings.HasPrefix(got, "9.501 web active") { // half a second behind the clock
		t.Errorf("it goes %s", got)
	}
}

// TestEventsBesideALog: while a live scheduler's log tells how attempts end, its Events tell no other ones.
func TestEventsBesideALog(t *testing.T) {
	for verbosity, want := range map[int]int{sources.AttemptsVerbosity: 1, sources.AttemptsVerbosity - 1: 2} {
		var w world.Cluster
		w.Add(0.5, &sources.Logged{Verbosity: verbosity})
		world.Happens(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		web := world.Happens(&w, 2, sources.Added, world.Wants("web", "4"), nil)
		w.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: noRoom, Log: true})
		web = w.Patched(2.01, web, noRoom, "")
		w.Recorded(5, web, 2)
		f := model.NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		f.Arrive(w.Events, world.At(6), sources.Status{})
		for i := 0; f.HasEvent(i); i++ {
		}
		if got := strings.Count(fmt.Sprint(moves(f, "web")), "inflight"); got != want {
			t.Errorf("beside a log of %d it is tried %d times, want %d", verbosity, got, want)
		}
	}
}
