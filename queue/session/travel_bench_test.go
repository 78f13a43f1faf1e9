package session

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// millionMoves is an owner whose recording has a million moves of 20,000 pods, all of them executed.
func millionMoves() *owner {
	rng := rand.New(rand.NewPCG(3, 5))
	rec := &sources.Recording{Name: "million"}
	const pods, moves = 20_000, 1_000_000
	add := func(m sources.Move) {
		rec.Events = append(rec.Events, sources.Event{Time: world.Noon.Add(time.Duration(len(rec.Events)) * time.Millisecond), Fact: &m})
	}
	var names [pods]types.NamespacedName
	for i := range names {
		names[i] = world.Key(fmt.Sprintf("pod-%05d", i))
	}
	for len(rec.Events) < moves { // as a scheduler does, one attempt after the other
		pod := names[rng.IntN(pods)]
		add(sources.Move{Pod: pod, To: sources.TierActive, Event: "UnscheduledPodAdd"})
		add(sources.Move{Pod: pod, To: sources.TierInFlight})
		add(sources.Move{Pod: pod, To: sources.TierUnschedulable, Event: queue.ScheduleAttemptFailure, Plugins: []string{"NodeResourcesFit"}})
		add(sources.Move{Pod: pod, To: sources.TierBackoff, Event: "NodeAdd"})
	}
	o := newOwner(rec, timeline.Options{Paused: true})
	o.seekEnd()
	return o
}

// BenchmarkSeekMillion goes to random moments of a million moves and makes the frame of each; then again with
// a filter and an order that had been set before the moves were executed, or not.
func BenchmarkSeekMillion(b *testing.B) {
	o := millionMoves()
	seek := func(b *testing.B) {
		rng := rand.New(rand.NewPCG(1, 2))
		var longest time.Duration
		for b.Loop() {
			began := time.Now()
			o.seek(world.Noon.Add(time.Duration(rng.IntN(1_000_000)) * time.Millisecond))
			o.frame()
			longest = max(longest, time.Since(began))
		}
		b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
	}
	b.Run("plain", seek)
	o.setFilter(world.Filter(b, "pod-0 attempts>3 waiting>5m"))
	b.Run("filtered", seek)
	b.Run("find", func(b *testing.B) {
		c, err := board.ParseCondition("attempts>1000000")
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() { // a tenth of it, in vain
			o.seek(world.Noon.Add(900 * time.Second))
			o.find(c, true)
			for o.working() {
				o.work()
			}
		}
	})
}
