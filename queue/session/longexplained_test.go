package session_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestExplainKeepsNoHistory: explaining a pod or listing pods keeps no old history, neither of a pod that was
// retried many times nor of a quiet time.
func TestExplainKeepsNoHistory(t *testing.T) {
	retried := func(i int) sources.Event {
		at, pod := float64(i)/10, fmt.Sprint("p-", i/4%20)
		switch i % 4 {
		case 0:
			return world.Move(at, pod, sources.TierActive, "NodeAdd")
		case 1:
			return world.Move(at, pod, sources.TierInFlight, "")
		case 2:
			return world.Move(at, pod, sources.TierUnschedulable, "ScheduleAttemptFailure")
		default:
			return world.Move(at, pod, sources.TierBackoff, "NodeAdd")
		}
	}
	quiet := func(i int) sources.Event {
		if i < 20 {
			return retried(4 * i)
		}
		node := world.Node("node", "64")
		node.Labels["heard"] = fmt.Sprint(i)
		return sources.Event{Time: world.At(float64(i)), Fact: &sources.ObjectChange{Verb: sources.Updated, Object: node}}
	}
	for name, event := range map[string]func(int) sources.Event{"retried": retried, "quiet": quiet} {
		t.Run(name, func(t *testing.T) {
			const few, many = 30_000, 90_000
			less, more := heldToExplain(t, few, event), heldToExplain(t, many, event)
			t.Logf("%d KB are held near the end of %d events, and %d KB of %d", less>>10, few, more>>10, many)
			// The latest thousand events or so are kept; keeping each event would take at least 100 bytes.
			if grows := float64(more-less) / (many - few); grows > 20 {
				t.Errorf("%.0f bytes are kept per event", grows)
			}
		})
	}
}

// heldToExplain returns the least memory in use near the end of that many events, none of which is kept.
func heldToExplain(t *testing.T, events int, event func(int) sources.Event) int64 {
	summary := cluster.NewSummary()
	for i := range events {
		summary.Add(event(i))
	}
	rec := &sources.Recording{Name: "long", Events: summary.Events(), End: event(events - 1).Time}
	rec.Reread = func(context.Context) iter.Seq2[sources.Event, error] {
		return func(yield func(sources.Event, error) bool) {
			for i := range events {
				if !yield(event(i), nil) {
					return
				}
			}
		}
	}
	var held []int64
	near := 1 - 20_000/float64(events)
	opts := timeline.Options{Progress: func(share float64) {
		if share > near && share < 1 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			held = append(held, int64(m.HeapAlloc))
		}
	}}
	if _, err := session.ExplainPod(t.Context(), rec, opts, world.Key("p-1"), rec.End.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	return slices.Min(held)
}
