package timeline

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/board/boardtest"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSeekEqualsReplay: after any seeks and steps, the board is the same as after playing from the start.
func TestSeekEqualsReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(80).Draw(t, "recording")
		line := New(rec, world.Config(t), nil)
		length := line.End.Sub(line.Start)
		now := line.Start
		line.GoTo(now)
		for range rapid.IntRange(1, 12).Draw(t, "seeks") {
			at, ok := now, true
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				at = line.Start.Add(time.Duration(rapid.Int64Range(0, int64(length)).Draw(t, "to")))
				line.GoTo(at)
			case 1:
				at, ok = line.StepForward(0)
			case 2:
				at, ok = line.StepBack()
			}
			if ok {
				now = at
			}
			if line.Cursor > 0 && line.Change(line.Cursor-1).At.After(now) {
				t.Fatalf("at %s a change of %s is shown", now, line.Change(line.Cursor-1).At)
			}
			fresh := New(rec, world.Config(t), nil)
			fresh.GoTo(fresh.End)
			fresh.SetCursor(line.Cursor)
			again := history.New()
			for i := range line.Cursor {
				again.Append(fresh.Change(i))
			}
			if got, want := boardtest.Picture(line.Shown), boardtest.Picture(again.Head()); got != want {
				t.Fatalf("at change %d:\n%s\nbut replayed:\n%s", line.Cursor, got, want)
			}
			for _, tier := range board.Tiers {
				if board, inQueue := line.Head().Total(tier), line.Engine.Queue.PendingPods(tier); board != inQueue {
					t.Fatalf("%d pods are on the board as %s, and %d in the queue", board, tier, inQueue)
				}
			}
			if line.Moved != again.MoveCount() {
				t.Fatalf("%d moves before the cursor, replayed %d", line.Moved, again.MoveCount())
			}
		}
	})
}

// TestForkFromPast: a fork from an earlier moment equals one made when that moment was the newest.
func TestForkFromPast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(80).Draw(t, "recording")
		cut := rapid.IntRange(0, len(rec.Events)-1).Draw(t, "cut")
		now := rec.Events[cut].Time

		line := New(rec, world.Config(t), nil)
		line.GoTo(now)
		early := line.Fork(now)

		later := New(rec, world.Config(t), nil)
		later.GoTo(later.End)
		later.GoTo(now)
		late := later.Fork(now)

		for _, f := range []*Timeline{early, late} {
			f.Inject(now, func(e *Engine) {
				e.Queue.MoveAllToActiveOrBackoffQueue(now, queue.MoveAll, nil, nil, nil)
				e.EmitMoves(now, nil)
			})
			f.GoTo(now.Add(20 * time.Second))
			f.Inject(now.Add(20*time.Second), func(e *Engine) {
				e.Queue.Pop(now.Add(20 * time.Second))
				e.EmitMoves(now.Add(20*time.Second), nil)
			})
		}
		if got, want := boardtest.Picture(late.Shown), boardtest.Picture(early.Shown); got != want {
			t.Fatalf("forked later:\n%s\nforked earlier:\n%s", got, want)
		}
		if got, want := boardtest.Words(late.MovesFrom(0)), boardtest.Words(early.MovesFrom(0)); !reflect.DeepEqual(got, want) {
			t.Fatalf("moves of the later fork: %v\nof the earlier: %v", got, want)
		}
	})
}

// TestForkRewinds: an action in a fork's past drops what followed and keeps what was before.
func TestForkRewinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(60).Draw(t, "recording")
		line := New(rec, world.Config(t), nil)
		line.GoTo(line.End)
		start := line.End
		add := func(f *Timeline, now time.Time, name string) {
			pod := cluster.Placeholder(world.Key(name))
			f.GoTo(now)
			f.Inject(now, func(e *Engine) { e.Queue.Add(now, pod); e.EmitMoves(now, nil) })
		}
		rewound, straight := line.Fork(start), line.Fork(start)
		for _, f := range []*Timeline{rewound, straight} {
			add(f, start.Add(time.Second), "first")
		}
		add(rewound, start.Add(4*time.Second), "undone")
		for _, f := range []*Timeline{rewound, straight} {
			add(f, start.Add(2*time.Second), "second")
			f.GoTo(start.Add(time.Minute))
		}
		if got, want := boardtest.Picture(rewound.Shown), boardtest.Picture(straight.Shown); got != want {
			t.Fatalf("rewound:\n%s\nstraight:\n%s", got, want)
		}
	})
}

// TestLongHistory seeks and forks in a history of many keyframes and checkpoints.
func TestLongHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rec := &sources.Recording{}
	for i := range 3*checkpointEvery + 17 {
		m := &sources.Move{Pod: world.Key(fmt.Sprint("p-", rng.IntN(50))), To: sources.TierInFlight}
		switch rng.IntN(4) {
		case 0:
			m.To, m.Event = sources.TierActive, "UnscheduledPodAdd"
		case 1:
			m.To, m.Event, m.Plugins = sources.TierUnschedulable, queue.ScheduleAttemptFailure, []string{"NodeAffinity"}
		case 2:
			m.To, m.Event = sources.TierBackoff, "NodeAdd"
		}
		rec.Events = append(rec.Events, sources.Event{Time: world.At(float64(i) / 100), Fact: m})
	}
	pictures := map[int]string{}
	straight := New(rec, world.Config(t), nil)
	for i := 0; straight.Next < len(rec.Events); i++ {
		straight.ExecuteNext()
		straight.SetCursor(straight.ChangeCount())
		if i%1500 == 0 {
			pictures[straight.Cursor] = boardtest.Picture(straight.Shown)
		}
	}
	line := New(rec, world.Config(t), nil)
	line.GoTo(line.End)
	for cursor, want := range pictures { // in random order
		line.SetCursor(cursor)
		if got := boardtest.Picture(line.Shown); got != want {
			t.Fatalf("at change %d:\n%s\nwant:\n%s", cursor, got, want)
		}
		if e := line.EngineShown(line.Change(max(cursor, 1) - 1).At); e.changes != cursor || e.Queue.PendingPods(queue.Active) != line.Shown.Len(queue.Active) {
			t.Fatalf("the engine of change %d has %d changes and %d active pods; %d are shown",
				cursor, e.changes, e.Queue.PendingPods(queue.Active), line.Shown.Len(queue.Active))
		}
	}
}
