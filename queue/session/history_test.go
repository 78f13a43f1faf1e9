package session

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// TestSeekIsReplay: wherever one goes and by whatever way, the board is the one of playing there from
// the start.
func TestSeekIsReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := recordings(80).Draw(t, "recording")
		line := newTimeline(rec, defaults(t), nil)
		length := line.end.Sub(line.start)
		now := line.start
		line.goTo(now)
		for range rapid.IntRange(1, 12).Draw(t, "seeks") {
			at, ok := now, true
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				at = line.start.Add(time.Duration(rapid.Int64Range(0, int64(length)).Draw(t, "to")))
				line.goTo(at)
			case 1:
				at, ok = line.forward(0)
			case 2:
				at, ok = line.back()
			}
			if ok {
				now = at
			}
			if line.cursor > 0 && line.changes[line.cursor-1].at.After(now) {
				t.Fatalf("at %s a change of %s is shown", now, line.changes[line.cursor-1].at)
			}
			fresh := newTimeline(rec, defaults(t), nil)
			fresh.goTo(fresh.end)
			fresh.show(line.cursor)
			again := newHistory()
			for _, c := range fresh.changes[:line.cursor] {
				again.append(c)
			}
			if got, want := picture(line.shown), picture(again.head); got != want {
				t.Fatalf("at change %d:\n%s\nbut replayed:\n%s", line.cursor, got, want)
			}
			for _, tier := range shown {
				if board, inQueue := line.head.Total(tier), line.engine.queue.PendingPods(tier); board != inQueue {
					t.Fatalf("%d pods are on the board as %s, and %d in the queue", board, tier, inQueue)
				}
			}
			if line.moved != again.moved {
				t.Fatalf("%d moves are in the past, replayed %d", line.moved, again.moved)
			}
		}
	})
}

// TestForkIsRerun: a fork from the past is the fork that one would have made then.
func TestForkIsRerun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := recordings(80).Draw(t, "recording")
		cut := rapid.IntRange(0, len(rec.Events)-1).Draw(t, "cut")
		now := rec.Events[cut].Time

		then := newTimeline(rec, defaults(t), nil)
		then.goTo(now)
		early := then.fork(now)

		later := newTimeline(rec, defaults(t), nil)
		later.goTo(later.end)
		later.goTo(now)
		late := later.fork(now)

		for _, f := range []*timeline{early, late} {
			f.inject(now, func(e *engine) {
				e.queue.MoveAllToActiveOrBackoffQueue(now, moveAllEvent, nil, nil, nil)
				e.settle(now, nil)
			})
			f.goTo(now.Add(20 * time.Second))
			f.inject(now.Add(20*time.Second), func(e *engine) {
				e.queue.Pop(now.Add(20 * time.Second))
				e.settle(now.Add(20*time.Second), nil)
			})
		}
		if got, want := picture(late.shown), picture(early.shown); got != want {
			t.Fatalf("forked from the past:\n%s\nforked then:\n%s", got, want)
		}
		if got, want := words(late.moves), words(early.moves); !reflect.DeepEqual(got, want) {
			t.Fatalf("moves of the fork from the past: %v\nof the one made then: %v", got, want)
		}
	})
}

// TestForkRewinds: what a person does in a fork's past undoes its future and keeps what was before.
func TestForkRewinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := recordings(60).Draw(t, "recording")
		line := newTimeline(rec, defaults(t), nil)
		line.goTo(line.end)
		start := line.end
		add := func(f *timeline, now time.Time, name string) {
			pod := placeholder(key(name))
			f.goTo(now)
			f.inject(now, func(e *engine) { e.queue.Add(now, pod); e.settle(now, nil) })
		}
		rewound, straight := line.fork(start), line.fork(start)
		for _, f := range []*timeline{rewound, straight} {
			add(f, start.Add(time.Second), "first")
		}
		add(rewound, start.Add(4*time.Second), "undone")
		for _, f := range []*timeline{rewound, straight} {
			add(f, start.Add(2*time.Second), "second")
			f.goTo(start.Add(time.Minute))
		}
		if got, want := picture(rewound.shown), picture(straight.shown); got != want {
			t.Fatalf("rewound:\n%s\nstraight:\n%s", got, want)
		}
	})
}

// TestLongHistory seeks and forks in a history of many keyframes and checkpoints.
func TestLongHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rec := &sources.Recording{}
	for i := range 3*checkpointEvery + 17 {
		m := &sources.Move{Pod: key(fmt.Sprint("p-", rng.IntN(50))), To: sources.TierInFlight}
		switch rng.IntN(4) {
		case 0:
			m.To, m.Event = sources.TierActive, "UnscheduledPodAdd"
		case 1:
			m.To, m.Event, m.Plugins = sources.TierUnschedulable, queue.ScheduleAttemptFailure, []string{"NodeAffinity"}
		case 2:
			m.To, m.Event = sources.TierBackoff, "NodeAdd"
		}
		rec.Events = append(rec.Events, sources.Event{Time: at(float64(i) / 100), Fact: m})
	}
	pictures := map[int]string{}
	straight := newTimeline(rec, defaults(t), nil)
	for i := 0; straight.next < len(rec.Events); i++ {
		straight.executeNext()
		if i%1500 == 0 {
			pictures[straight.cursor] = picture(straight.shown)
		}
	}
	line := newTimeline(rec, defaults(t), nil)
	line.goTo(line.end)
	for cursor, want := range pictures { // in the map's order: to and fro
		line.show(cursor)
		if got := picture(line.shown); got != want {
			t.Fatalf("at change %d:\n%s\nwant:\n%s", cursor, got, want)
		}
		if e := line.engineShown(); e.changes != cursor || e.queue.PendingPods(queue.Active) != line.shown.Len(queue.Active) {
			t.Fatalf("the engine of change %d has %d changes and %d active pods; %d are shown",
				cursor, e.changes, e.queue.PendingPods(queue.Active), line.shown.Len(queue.Active))
		}
	}
}
