package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// drain plays f as far as possible, and returns the number of its events.
func drain(f *shadow.Feed) (n int) {
	for ; f.HasEvent(n); n++ {
	}
	return n
}

// rereadable returns rec as a recording that is read again each time. closed counts the readings that
// have ended.
func rereadable(rec *sources.Recording, closed *int) *sources.Recording {
	return &sources.Recording{Name: "long", End: rec.End, Events: rec.Events, Reread: func(context.Context) iter.Seq2[sources.Event, error] {
		return func(yield func(sources.Event, error) bool) {
			defer func() { *closed++ }()
			for _, ev := range rec.Events {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}}
}

// TestRecordedMovesNeedNoModel: a recording of moves, or an empty one, is played without a model. Any
// other recording has one, even without pods.
func TestRecordedMovesNeedNoModel(t *testing.T) {
	node := sources.Event{Time: world.At(1), Fact: &sources.ObjectChange{Verb: sources.Added, Object: world.Node("node-a", "1")}}
	move := world.Move(2, "web", sources.TierActive, "")
	failure := sources.Event{Time: world.At(2), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: noRoom}}
	for _, c := range []struct {
		name     string
		events   []sources.Event
		modelled bool
	}{
		{"nothing", nil, false},
		{"a move", []sources.Event{move}, false},
		{"moves beside a node", []sources.Event{node, move}, false},
		{"a node", []sources.Event{node}, true},
		{"an Event of an unknown pod", []sources.Event{node, failure}, true},
	} {
		f := shadow.NewFeed(&sources.Recording{Events: c.events, End: world.At(3)}, world.Config(t))
		drain(f)
		if is := f.Shadow != nil; is != c.modelled || f.Err != nil || !slices.Equal(f.Events, c.events) {
			t.Errorf("%s: modelled is %t, %v, events are %v", c.name, is, f.Err, f.Events)
		}
		f.Close()
	}
}

// TestPartlyReadRecording: while a recording is being read, its feed ends half a second before the last
// event, so that the model can look ahead. It continues when more is read.
func TestPartlyReadRecording(t *testing.T) {
	t.Run("moves", func(t *testing.T) {
		rec := world.RecordingOf(world.Move(1, "web", sources.TierActive, ""), world.Move(2, "web", sources.TierInFlight, ""), world.Move(4, "web", sources.TierScheduled, ""))
		closed := 0
		rec.End = world.At(2.5)
		long := rereadable(rec, &closed)
		long.Unread = true
		f := shadow.NewFeed(long, world.Config(t))
		defer f.Close()
		for _, c := range []struct {
			to   float64 // 0: as far as the recording is read already
			want int
		}{{0, 2}, {4.4, 2}, {4.5, 3}} {
			if c.to > 0 {
				f.ReadTo(world.At(c.to))
			}
			if got := drain(f); got != c.want {
				t.Errorf("read to %g s: %d moves, want %d", c.to, got, c.want)
			}
		}
	})
	t.Run("objects", func(t *testing.T) {
		var w world.Cluster
		addNodes(&w, "1", "node-a")
		web := addPod(&w, 2, "web", "4", nil)
		w.Patched(2.3, web, noRoom, "")
		addPod(&w, 3, "late", "4", nil)
		closed := 0
		long := rereadable(w.Recording(2.6), &closed)
		long.Unread = true
		f := shadow.NewFeed(long, world.Config(t))
		defer f.Close()
		drain(f)
		compareTrace(t, traceFeed(f, 2, false), `
			2.001 web active UnscheduledPodAdd`)
		f.ReadTo(world.At(3.5))
		drain(f)
		compareTrace(t, traceFeed(f, 2.1, false), `
			2.296 web inflight (failure)
			2.296 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs`)
		f.ReadTo(world.At(3.7)) // late's first attempt would be observable by then
		drain(f)
		compareTrace(t, traceFeed(f, 3, false), `
			3.001 late active UnscheduledPodAdd`)
		f.ReadTo(world.At(10))
		drain(f)
		compareTrace(t, traceFeed(f, 3.1, false), ``)
	})
}

// TestCloseFeed: a closed feed makes no more events, stops reading and leaves no goroutines.
func TestCloseFeed(t *testing.T) {
	var w world.Cluster
	w.Started(0.5)
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	low := addRunningPod(&w, "low", "1", 0, 30)
	addPod(&w, 2, "high", "1", priority(100)) // waits for its victim
	w.Started(3)
	for i := range 1000 {
		world.Change(&w, 4+0.001*float64(i), sources.Updated, low, nil)
	}
	var moves []sources.Event
	for i := range 1000 {
		moves = append(moves, world.Move(float64(i), "web", sources.TierActive, ""))
	}
	for _, c := range []struct {
		name  string
		of    *sources.Recording
		rerun bool
		plays int // events before it is closed
	}{
		{"a model", w.Recording(20), false, 20},
		{"a rerun", w.Recording(20), true, 20},
		{"moves", world.RecordingOf(moves...), false, 20},
		{"a model at its end", w.Recording(20), false, 9000},
		{"a rerun at its end", w.Recording(20), true, 9000},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, closed := countGoroutines(t), 0
			long := rereadable(c.of, &closed)
			long.Rerun = c.rerun
			f := shadow.NewFeed(long, world.Config(t))
			more := f.HasEvent(c.plays)
			if f.Close(); f.Err != nil || f.HasEvent(c.plays+1) && more {
				t.Errorf("%v, and the feed makes more events", f.Err)
			}
			waitForGoroutines(t, before)
			if closed != 1 {
				t.Errorf("of one reading, %d have ended", closed)
			}
		})
	}
}

// TestFeedReleasesResources: when the model ends, or can't be set up, its goroutines and its reading end
// without Close.
func TestFeedReleasesResources(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	addRunningPod(&w, "low", "1", 0, 30)
	addPod(&w, 2, "high", "1", priority(100))
	for _, rerun := range []bool{false, true} {
		before, closed := countGoroutines(t), 0
		long := rereadable(w.Recording(5), &closed)
		long.Rerun = rerun
		f := shadow.NewFeed(long, world.Config(t))
		if drain(f); f.Err != nil {
			t.Error(f.Err)
		}
		waitForGoroutines(t, before)
	}
	for i := range 1000 { // more than is read ahead
		addPod(&w, 3+0.001*float64(i), fmt.Sprint("web-", i), "1", nil)
	}
	cfg := world.Config(t)
	cfg.Profiles[0].SchedulerName = ""
	before, closed := countGoroutines(t), 0
	if f := shadow.NewFeed(rereadable(w.Recording(5), &closed), cfg); f.Err == nil {
		t.Error("there is no error")
	}
	if waitForGoroutines(t, before); closed != 1 {
		t.Errorf("%d of one reading have ended", closed)
	}
}

// countGoroutines returns the number of goroutines after a model was set up and closed: the first one
// starts some that stay.
func countGoroutines(t *testing.T) int {
	t.Helper()
	var w world.Cluster
	addNodes(&w, "1", "node-a")
	for _, rerun := range []bool{false, true} {
		rec := w.Recording(3)
		rec.Rerun = rerun
		f := shadow.NewFeed(rec, world.Config(t))
		drain(f)
		f.Close()
	}
	time.Sleep(20 * time.Millisecond)
	return runtime.NumGoroutine()
}

// waitForGoroutines fails the test if more goroutines than before keep running.
func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines are running, before there were %d", runtime.NumGoroutine(), before)
}

// TestNextSchedulerCannotStart: if the next scheduler can't be set up, the model of the one before ends
// all the same.
func TestNextSchedulerCannotStart(t *testing.T) {
	var w world.Cluster
	w.Started(0.5)
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	addPod(&w, 2, "web", "4", nil)
	w.Started(3)
	addPod(&w, 4, "late", "4", nil)
	for _, rerun := range []bool{false, true} {
		cfg, rec := world.Config(t), w.Recording(5)
		rec.Rerun = rerun
		f := shadow.NewFeed(rec, cfg)
		t.Cleanup(f.Close)
		for i := 0; f.HasEvent(i); i++ {
			if f.Events[i].Time.Equal(world.At(2)) {
				cfg.Profiles[0].SchedulerName = ""
			}
		}
		if got := fmt.Sprint(feedMoves(f, "web"), feedMoves(f, "late")); f.Err == nil || got != "[2.0 active 2.0 inflight 2.0 unschedulable] []" {
			t.Errorf("rerun %t: %v, moves are %s", rerun, f.Err, got)
		}
	}
}

// TestSchedulerCannotStart: if no scheduler can be set up with the configuration, the feed reports an error
// and contains the recorded events without moves.
func TestSchedulerCannotStart(t *testing.T) {
	cfg := world.Config(t)
	cfg.Profiles[0].SchedulerName = ""
	for name, begins := range map[string]sources.Fact{"from the beginning": nil, "a started scheduler": &sources.SchedulerStarted{}, "a running scheduler": &sources.Attached{Nodes: true}} {
		for _, rerun := range []bool{false, true} {
			var w world.Cluster
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			if begins != nil {
				w.Add(1.5, begins)
			}
			world.Change(&w, 2, sources.Added, world.PendingPod("web", "1"), nil)
			rec := w.Recording(3)
			rec.Rerun = rerun
			f := shadow.NewFeed(rec, cfg)
			events := drain(f)
			if _, attached := begins.(*sources.Attached); f.Err == nil && !(rerun && attached) || events < len(w.Events)-1 {
				t.Errorf("%s, rerun %t: %v, %d events", name, rerun, f.Err, events)
			}
			f.Close()
		}
	}
	f := shadow.NewLiveFeed(cfg)
	f.Arrive([]sources.Event{{Time: world.At(1), Fact: &sources.Attached{Nodes: true}}}, world.At(2), sources.Status{})
	if f.HasEvent(0); f.Err == nil {
		t.Error("live: there is no error")
	}
}

// TestRereadRecording: a recording that is read again each time plays like one in memory, and returns the
// error of reading it.
func TestRereadRecording(t *testing.T) {
	readError := errors.New("the disk is gone")
	for _, c := range []struct {
		name  string
		fails int // after so many events; 0: never
		log   bool
	}{{"objects", 0, false}, {"objects, truncated", 4, false}, {"moves", 0, true}, {"moves, truncated", 1, true}} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			if c.log {
				w.Events = world.RecordingOf(world.Move(1, "web", sources.TierActive, ""), world.Move(2, "web", sources.TierInFlight, "")).Events
			} else {
				world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
				w.AddStuck(2, "web")
			}
			kept := w.Recording(5)
			closed := 0
			long := &sources.Recording{Name: "long", End: kept.End, Reread: func(context.Context) iter.Seq2[sources.Event, error] {
				return func(yield func(sources.Event, error) bool) {
					defer func() { closed++ }()
					for i, ev := range kept.Events {
						if c.fails > 0 && i == c.fails {
							yield(sources.Event{}, readError)
							return
						}
						if !yield(ev, nil) {
							return
						}
					}
				}
			}, Events: kept.Events}
			count := func(rec *sources.Recording) (n int, err error) {
				f := shadow.NewFeed(rec, world.Config(t))
				defer f.Close()
				for ; f.HasEvent(n); n++ {
				}
				return n, f.Err
			}
			want, err := count(kept)
			if err != nil {
				t.Fatal(err)
			}
			got, err := count(long)
			if c.fails == 0 && (got != want || err != nil) || c.fails > 0 && (!errors.Is(err, readError) || got >= want) {
				t.Errorf("%d events, %v, want %d", got, err, want)
			}
			if closed != 1 {
				t.Errorf("%d of one reading have ended", closed)
			}
			f := shadow.NewFeed(long, world.Config(t))
			f.HasEvent(0)
			if f.Close(); closed != 2 {
				t.Errorf("after an early Close, %d of two readings have ended", closed)
			}
		})
	}
}
