package session

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestCountsAtTheTimeOfAMove: stepping to a move shows the counts measured before it.
func TestCountsAtTheTimeOfAMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := func(active int) sources.Event {
			return sources.Event{Time: world.At(1), Fact: &sources.Counts{Active: active}}
		}
		move := sources.Event{Time: world.At(1), Fact: &sources.Move{Pod: world.Key("p"), To: "active", Event: "UnscheduledPodAdd"}}
		s := start(t, &sources.Recording{Events: []sources.Event{{Time: world.At(0), Fact: &sources.Mark{}}, move, counts(1), counts(2)}}, timeline.Options{Paused: true})
		s.Step(1)
		if f := s.Sync(); f.SchedulerCounts != nil {
			t.Errorf("future counts are shown: %+v", f.SchedulerCounts)
		}
		s.SeekEnd()
		if f := s.Sync(); f.SchedulerCounts == nil || f.SchedulerCounts.Active != 2 || f.LocalCounts.Active != 1 {
			t.Errorf("the last counts are %+v, local %+v", f.SchedulerCounts, f.LocalCounts)
		}
		s.Step(-1)
		if f := s.Sync(); f.SchedulerCounts != nil {
			t.Errorf("after stepping back, later counts are shown: %+v", f.SchedulerCounts)
		}
	})
}

func TestEmptyRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, &sources.Recording{Name: "empty"}, timeline.Options{Paused: true})
		if f := s.Sync(); len(f.Notices) != 1 || !strings.Contains(f.Notices[0], "empty") || !f.AtEnd {
			t.Errorf("notices %q, at the end: %v", f.Notices, f.AtEnd)
		}
		s.AddPod(NewPod{Key: world.Key("p")})
		s.Pop()
		s.Reject(world.Key("p"), "NodeName")
		s.MoveAll()
		s.Step(1)
		if f := s.Sync(); tierOf(f, "p") != "active" {
			t.Errorf("p is %s, want it back in activeQ", tierOf(f, "p"))
		}
	})
}

// TestInFlightEventSurvivesAStepBack: an action before the undone step persists, even if it moved nothing.
func TestInFlightEventSurvivesAStepBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(9))
		s.AddPod(NewPod{Key: world.Key("p"), Priority: 9})
		s.Pop()
		s.InjectEvent("NodeAdd")
		if f := s.Sync(); !strings.HasSuffix(f.Reply.Text, "nothing moved") {
			t.Fatalf("got %q", f.Reply.Text)
		}
		for range 2 {
			s.Reject(world.Key("p"), "NodeName")
			if f := s.Sync(); tierOf(f, "p") != "backoff" {
				t.Fatalf("p is %s, want it in backoff for the event in its flight", tierOf(f, "p"))
			}
			s.Step(-1)
		}
		s.SeekStart()
		if f := s.Sync(); tierOf(f, "p") != "" || !f.Now.Equal(world.At(9)) {
			t.Errorf("at the start of the fork p is %q", tierOf(f, "p"))
		}
	})
}

// TestReplyAfterStepIntoFlush: the reply to an injection only includes its own moves, and the filter
// persists.
func TestReplyAfterStepIntoFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(9))
		for _, name := range []string{"a", "b", "c"} {
			s.AddPod(NewPod{Key: world.Key(name)})
			s.Pop()
			s.Reject(world.Key(name), "NodeName")
		}
		s.MoveAll()
		s.SetFilter(world.Filter(t, "default/a"))
		s.Step(3) // the first moves of one flush
		s.Step(-1)
		s.AddPod(NewPod{Key: world.Key("new")})
		f := s.Sync()
		if f.Reply.Text != "new pod default/new: default/new → active" {
			t.Errorf("got %q", f.Reply.Text)
		}
		if f.Filter != "default/a" || f.Board.Len(queue.Active) == f.Board.Unfiltered().Len(queue.Active) {
			t.Errorf("the filter is %q, %d of %d pods are shown", f.Filter, f.Board.Len(queue.Active), f.Board.Unfiltered().Len(queue.Active))
		}
	})
}

func TestLongSeekInAForkIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Fork()
		s.Seek(world.At(9).Add(2_000_000 * time.Hour))
		if f := s.Sync(); !f.Reply.Refused || !f.Now.Equal(world.At(9)) {
			t.Errorf("it is %s, and got %q", f.Now, f.Reply.Text)
		}
	})
}

// TestRegatedPodHasNotMoved: a gated pod that an event reaches and that is gated again continues its stay.
func TestRegatedPodHasNotMoved(t *testing.T) {
	gated := func(seconds float64, event string) sources.Event {
		return sources.Event{Time: world.At(seconds), Fact: &sources.Move{Pod: world.Key("p"), To: "gated", Event: event, GatingPlugin: "SchedulingGates"}}
	}
	rec := &sources.Recording{Events: []sources.Event{
		gated(10, "UnscheduledPodAdd"), gated(20, "AssignedPodDelete"),
		{Time: world.At(30), Fact: &sources.Move{Pod: world.Key("p"), To: "active", Event: "TargetPodUpdatePodSchedulingGatesEliminated"}},
	}}
	line := timeline.New(rec, world.Config(t), nil)
	line.GoTo(world.At(25))
	if p := line.Shown.Get(world.Key("p")); !p.Since.Equal(world.At(10)) {
		t.Errorf("gated since %s, want since the first time", p.Since)
	}
	r, err := report.Summarize(t.Context(), rec, timeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range r.Tiers {
		if tier.Tier == "gated" && (tier.Stays != 1 || tier.Max != report.Seconds(20*time.Second)) {
			t.Errorf("gated: %+v, want one stay of 20 s", tier)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct{ base, t, want float64 }{
		{0, 0, 30}, {0, 29.9, 30}, {0, 30, 60}, {10, 0, 10}, {10, 9.9, 10}, {10, -25, -20}, {10, -20, 10},
	} {
		if got := queue.TickAfter(world.At(c.base), 30*time.Second, world.At(c.t)); !got.Equal(world.At(c.want)) {
			t.Errorf("the tick after %g s from %g s is %s, want %g s", c.t, c.base, got.Sub(world.Noon), c.want)
		}
	}
}

// TestNominationFromLog: a failed attempt that preempts shows the nominated node.
func TestNominationFromLog(t *testing.T) {
	move := func(seconds float64, to sources.Tier, event, node string) sources.Event {
		return sources.Event{Time: world.At(seconds), Fact: &sources.Move{Pod: world.Key("p"), To: to, Event: event, Node: node, Plugins: []string{"NodeResourcesFit"}}}
	}
	rec := &sources.Recording{Events: []sources.Event{
		move(1, "active", "UnscheduledPodAdd", ""), move(2, "inflight", "", ""),
		move(3, "unschedulable", queue.ScheduleAttemptFailure, "node-a"), move(4, "inflight", "", ""), move(5, "scheduled", "", "node-a"),
	}}
	line := timeline.New(rec, world.Config(t), nil)
	line.GoTo(world.At(3))
	if got := line.Shown.Get(world.Key("p")).NominatedNode; got != "node-a" {
		t.Errorf("nominated to %q, want node-a", got)
	}
	line.GoTo(world.At(5))
	if got := line.Engine.Queue.NominatedPodsForNode("node-a"); len(got) != 0 {
		t.Errorf("%d pods are still nominated to node-a", len(got))
	}
}

// TestAnyObjects: in whatever order objects change, the board agrees with the queue, and a what-if can be
// started at the end.
func TestAnyObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := &sources.Recording{}
		for i := range rapid.IntRange(1, 60).Draw(t, "changes") {
			pod := cluster.Placeholder(world.Key(fmt.Sprint("p-", rapid.IntRange(1, 4).Draw(t, "pod"))))
			pod.UID = types.UID(fmt.Sprint(pod.Name, rapid.IntRange(1, 2).Draw(t, "incarnation")))
			if rapid.Bool().Draw(t, "gated") {
				pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}}
			}
			if rapid.IntRange(0, 3).Draw(t, "assigned") == 0 {
				pod.Spec.NodeName = "node-a"
			}
			if reason := rapid.SampledFrom([]string{"", v1.PodReasonUnschedulable, v1.PodReasonSchedulerError, v1.PodReasonSchedulingGated}).Draw(t, "reason"); reason != "" {
				pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: reason, Message: fmt.Sprint(i % 3)}}
			}
			verb := rapid.SampledFrom([]sources.Verb{sources.Added, sources.Updated, sources.Updated, sources.Deleted}).Draw(t, "verb")
			rec.Events = append(rec.Events, sources.Event{Time: world.At(float64(i)), Fact: &sources.ObjectChange{Verb: verb, Object: pod}})
		}
		line := timeline.New(rec, world.Config(t), nil)
		line.GoTo(line.End)
		for _, tier := range board.Tiers {
			if board, inQueue := line.Shown.Total(tier), line.Engine.Queue.PendingPods(tier); board != inQueue {
				t.Fatalf("%d pods are shown as %s, want %d", board, tier, inQueue)
			}
		}
		fork := line.Fork(line.End)
		fork.Inject(line.End, func(e *timeline.Engine) {
			e.Queue.MoveAllToActiveOrBackoffQueue(line.End, queue.MoveAll, nil, nil, nil)
			e.EmitMoves(line.End, nil)
		})
		fork.GoTo(line.End.Add(time.Hour))
	})
}

// TestInjectFromTheMiddle: continuing from the middle of an injection's moves keeps all of them.
func TestInjectFromTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(9))
		for _, name := range []string{"a", "b"} {
			s.AddPod(NewPod{Key: world.Key(name)})
			s.Pop()
			s.Reject(world.Key(name), "NodeName")
		}
		s.MoveAll()
		s.Step(-1)
		s.AddPod(NewPod{Key: world.Key("c")})
		f := s.Sync()
		if tierOf(f, "a") != "backoff" || tierOf(f, "b") != "backoff" || tierOf(f, "c") != "active" {
			t.Errorf("a is %s, b is %s, c is %s", tierOf(f, "a"), tierOf(f, "b"), tierOf(f, "c"))
		}
	})
}

// TestStepWithoutMoveKeepsEnd: a step that finds no move does not extend a what-if.
func TestStepWithoutMoveKeepsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Fork()
		s.Step(1)
		s.SeekEnd()
		if f := s.Sync(); !f.Now.Equal(world.At(9)) {
			t.Errorf("the end of a what-if that was not played is %s", f.Now)
		}
	})
}

// TestLeaveForkReturnsToMove: leaving a what-if shows the same move, even if several moves have one time.
func TestLeaveForkReturnsToMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(11.9))
		s.Step(1) // web-1 comes at 12 s, and is popped at 12 s
		s.Fork()
		s.LeaveFork()
		if f := s.Sync(); tierOf(f, "web-1") != "active" || f.Log.Len() != 5 {
			t.Errorf("web-1 is %s after %d moves", tierOf(f, "web-1"), f.Log.Len())
		}
	})
}
