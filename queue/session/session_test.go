package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// start runs a session of rec in a synctest bubble.
func start(t *testing.T, rec *sources.Recording, opts timeline.Options) *Session {
	t.Helper()
	s := New(rec, opts)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); synctest.Wait() })
	go s.Run(ctx)
	return s
}

func tierOf(f *Frame, pod string) string {
	p := f.Board.Get(world.Key(pod))
	if p == nil {
		return ""
	}
	return p.Tier.String()
}

func TestPlayback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		f := s.Sync()
		if want := world.At(9); !f.Now.Equal(want) || f.Playing {
			t.Errorf("it begins at %s (playing: %v), want a second before the first move, %s, paused", f.Now, f.Playing, want)
		}
		if got := f.Gates(); !slices.Equal(got, []string{"SchedulerPopFromBackoffQ=false"}) || f.Options.PopFromBackoffQ {
			t.Errorf("gates %v, options %+v", got, f.Options)
		}

		// The same moves by playing and by stepping.
		s.Play()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f = s.Frame(); tierOf(f, "batch-1") != "unschedulable" || f.Now.Before(world.At(10.9)) || f.Now.After(world.At(11.1)) {
			t.Errorf("after 2 s of playing it is %s and batch-1 is %s", f.Now, tierOf(f, "batch-1"))
		}
		s.Step(1)
		if f = s.Sync(); f.Playing || tierOf(f, "batch-1") != "backoff" || !f.Now.Equal(world.At(11.2)) {
			t.Errorf("one step on: playing %v, batch-1 is %s at %s", f.Playing, tierOf(f, "batch-1"), f.Now)
		}
		if f.SchedulerCounts == nil || f.SchedulerCounts.Unschedulable != 1 || *f.LocalCounts != *f.SchedulerCounts || !f.SchedulerCountsAt.Equal(world.At(11)) {
			t.Errorf("the scheduler's own counts: %+v", f.SchedulerCounts)
		}
		s.Step(-2)
		if f = s.Sync(); tierOf(f, "batch-1") != "inflight" || !f.Now.Equal(world.At(10.1)) {
			t.Errorf("two steps back: batch-1 is %s at %s", tierOf(f, "batch-1"), f.Now)
		}
		s.Seek(world.At(12.2))
		if f = s.Sync(); tierOf(f, "web-1") != "scheduled" || f.Log.Len() != 7 || f.Mark != "a node came" {
			t.Errorf("at 12.2 s: web-1 is %s, %d moves, mark %q", tierOf(f, "web-1"), f.Log.Len(), f.Mark)
		}
		s.SeekEnd()
		if f = s.Sync(); !f.AtEnd || tierOf(f, "late-1") != "active" || f.Log.Len() != f.Known {
			t.Errorf("at the end: %v, late-1 is %s, %d of %d moves", f.AtEnd, tierOf(f, "late-1"), f.Log.Len(), f.Known)
		}
		s.Play()
		if f = s.Sync(); !f.Reply.Refused {
			t.Error("play at the end is not refused")
		}
		s.SeekStart()
		s.Step(-1)
		if f = s.Sync(); !f.Reply.Refused || !f.Now.Equal(world.At(9)) {
			t.Errorf("a step back from the start: %+v at %s", f.Reply, f.Now)
		}
	})
}

func TestQuietTimeIsSqueezed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(12.5))
		s.Play()
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		f := s.Frame()
		if f.Skipped.Empty() || f.Now.Before(world.At(249)) {
			t.Errorf("after 2.5 s of quiet it is %s; skipped %v", f.Now, f.Skipped)
		}
		s.ToggleSqueeze()
		s.Seek(world.At(12.5))
		s.Play()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if f := s.Frame(); f.Now.After(world.At(18)) || !f.Skipped.Empty() {
			t.Errorf("unsqueezed, after 5 s it is %s", f.Now)
		}
	})
}

// TestFrameRate: there are at most 20 frames a second, and none without a change.
func TestFrameRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &sources.Recording{}
		for i := range 5000 {
			rec.Events = append(rec.Events, sources.Event{Time: world.At(float64(i) / 1000), Fact: &sources.Move{Pod: world.Key("p"), To: "active", Event: "UnscheduledPodAdd"}})
		}
		s := start(t, rec, timeline.Options{Paused: true})
		first := s.Sync().Version
		time.Sleep(time.Minute)
		synctest.Wait()
		if v := s.Frame().Version; v != first {
			t.Errorf("%d frames in a minute without a change", v-first)
		}
		s.Play()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := s.Frame().Version - first; n > 42 {
			t.Errorf("%d frames in 2 s", n)
		}
	})
}

func TestBeingTheScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(11))
		replies := func(what string) *Frame {
			t.Helper()
			f := s.Sync()
			if !strings.Contains(f.Reply.Text, what) {
				t.Errorf("got %q, want %q", f.Reply.Text, what)
			}
			return f
		}

		s.InjectEvent("NodeAdd")
		f := replies("NodeAdd: default/batch-1 unschedulable → backoff")
		if f.Fork == nil || !f.Fork.From.Equal(world.At(11)) || f.SchedulerCounts != nil {
			t.Errorf("fork %+v, counts %v", f.Fork, f.SchedulerCounts)
		}
		s.AddPod(NewPod{Key: world.Key("mine"), Priority: 7})
		replies("new pod default/mine: default/mine → active")
		s.AddPod(NewPod{Key: world.Key("mine")})
		if f := replies("a pod with that name is active"); !f.Reply.Refused {
			t.Error("a second pod of that name is not refused")
		}
		s.AddPod(NewPod{Key: world.Key("no/name")})
		replies("invalid pod name")
		s.Pop()
		replies("pop: default/mine active → in-flight")
		s.Reject(world.Key("mine"), "TaintToleration")
		f = replies("rejected by TaintToleration: default/mine in-flight → unschedulable")
		if p := f.Board.Get(world.Key("mine")); !slices.Equal(p.UnschedulablePlugins, []string{"TaintToleration"}) || p.Attempts != 1 || p.Priority != 7 || p.Observed {
			t.Errorf("mine is %+v", p)
		}
		s.MoveAll()
		replies("move request for all: default/mine unschedulable → backoff")
		s.FlushBackoff()
		replies("the first backoff ends at")
		s.Activate(world.Key("mine"))
		replies("Activate default/mine: default/mine backoff → active")
		s.Pop()
		s.Reject(world.Key("mine"))
		replies("failed with an error: default/mine in-flight → backoff")
		s.Pop()
		replies("pop: activeQ is empty")
		s.AddPod(NewPod{Key: world.Key("gated"), Gated: true})
		replies("→ gated")
		s.Activate(world.Key("gated"))
		replies("SchedulingGates still gates it")
		s.MoveAll()
		replies("default/gated stays gated")
		s.OpenGate(world.Key("gated"))
		replies("gated → active")
		s.Pop()
		s.Fits(world.Key("gated"))
		replies("it fits: default/gated in-flight → bound")
		s.DeletePod(world.Key("gated"))
		replies("is bound")
		s.InjectEvent("NoSuchEvent")
		replies("no such cluster event")
		s.FlushLeftover()
		replies("no pod has been unschedulable for more than 5 min")

		// Time makes the flushes run; batch-1's backoff ends at 11.7 s.
		s.Play()
		time.Sleep(2 * time.Second)
		s.Pause()
		if f := s.Sync(); tierOf(f, "batch-1") != "active" || f.Board.Get(world.Key("batch-1")).Last.Event != queue.BackoffComplete {
			t.Errorf("2 s later batch-1 is %s", tierOf(f, "batch-1"))
		}
		s.LeaveFork()
		if f := replies("back in the recording"); f.Fork != nil || !f.Now.Equal(world.At(11)) || tierOf(f, "mine") != "" || tierOf(f, "batch-1") != "unschedulable" {
			t.Errorf("fork %+v at %s, mine is %q", f.Fork, f.Now, tierOf(f, "mine"))
		}
		s.LeaveFork()
		if f := s.Sync(); !f.Reply.Refused {
			t.Error("leaving the recording is not refused")
		}
	})
}

func TestExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := world.SmallRecording()
		s := start(t, rec, timeline.Options{Paused: true})
		explains := func(seconds float64, pod string, want ...string) {
			t.Helper()
			s.Seek(world.At(seconds))
			f := s.Sync()
			got := strings.Join(f.Explain(f.Board.Get(world.Key(pod))), " ")
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("at %g s, %s: %q\nwant %q", seconds, pod, got, w)
				}
			}
		}
		explains(10, "batch-1", "Next to be popped")
		explains(10.2, "batch-1", "attempt 1 is running")
		explains(11, "batch-1", "Rejected by NodeResourcesFit at 12:00:10.7", "Attempt 1 failed at 12:00:10.7. Backoff: 1 s, until 12:00:11.7.",
			"An event before then moves it to backoffQ", "retried at 12:05:30 (5 min timeout")
		explains(11.3, "batch-1", "Moves to activeQ at the 12:00:12 flush, not earlier, because PopFromBackoffQ is off.")
		explains(12.2, "web-1", "Bound at 12:00:12.1 after 1 attempt")

		withPop := rec
		withPop.Events[0].Fact.(*sources.SchedulerStarted).Gates = nil
		s = start(t, withPop, timeline.Options{Paused: true})
		explains(11.3, "batch-1", "Attempt 1 failed at 12:00:10.7. Backoff: 1 s, until 12:00:11 (rounded down to a whole second).",
			"Moves to activeQ at the 12:00:12 flush, or earlier if activeQ is empty")
	})
}

func TestSummarize(t *testing.T) {
	r, err := report.Summarize(t.Context(), world.SmallRecording(), timeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Pods != 3 || r.Moves != 9 || r.Modelled != 0 {
		t.Errorf("%d pods, %d moves, %d modelled", r.Pods, r.Moves, r.Modelled)
	}
	if a := r.Attempts; a != (report.AttemptReport{Total: 2, Rejected: 1, Bound: 1, Median: 1, Max: 1}) {
		t.Errorf("attempts %+v", a)
	}
	want := []report.PluginReport{{Plugin: "NodeResourcesFit", Attempts: 1, Pods: 1, Waited: report.Seconds(1600 * time.Millisecond)}}
	if !slices.Equal(r.Plugins, want) {
		t.Errorf("plugins %+v, want %+v", r.Plugins, want)
	}
	for _, tier := range r.Tiers {
		if tier.Tier == "backoff" && (tier.Stays != 1 || tier.Median != report.Seconds(1100*time.Millisecond)) {
			t.Errorf("backoff %+v", tier)
		}
	}
	if len(r.Wakes) != 2 || r.Wakes[1] != (report.WakeReport{Event: "NodeAdd", ToBackoff: 1}) {
		t.Errorf("wakes %+v", r.Wakes)
	}
}
