package session

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// millionMoves returns an owner whose recording has a million executed moves of that many pods.
func millionMoves(pods int, opts timeline.Options) *owner {
	rng := rand.New(rand.NewPCG(3, 5))
	rec := &sources.Recording{Name: "million"}
	const moves = 1_000_000
	add := func(m sources.Move) {
		rec.Events = append(rec.Events, sources.Event{Time: world.Noon.Add(time.Duration(len(rec.Events)) * time.Millisecond), Fact: &m})
	}
	names := make([]types.NamespacedName, pods)
	for i := range names {
		names[i] = world.Key(fmt.Sprintf("pod-%05d", i))
	}
	for len(rec.Events) < moves { // like a scheduler, one attempt after the other
		pod := names[rng.IntN(pods)]
		add(sources.Move{Pod: pod, To: sources.TierActive, Event: "UnscheduledPodAdd"})
		add(sources.Move{Pod: pod, To: sources.TierInFlight})
		add(sources.Move{Pod: pod, To: sources.TierUnschedulable, Event: queue.ScheduleAttemptFailure, Plugins: []string{"NodeResourcesFit"}})
		add(sources.Move{Pod: pod, To: sources.TierBackoff, Event: "NodeAdd"})
	}
	if opts.OpenArchive != nil {
		rec = notKept(rec)
	}
	o := newOwner(rec, opts)
	for o.travel(o.recording.End); o.working(); {
		o.work()
	}
	return o
}

// notKept returns rec as a recording that is not kept in memory.
func notKept(rec *sources.Recording) *sources.Recording {
	gist := cluster.NewSummary()
	for _, ev := range rec.Events {
		gist.Add(ev)
	}
	of, kept := *rec, *rec
	of.Events = gist.Events()
	of.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] { return kept.All(ctx) }
	return &of
}

// BenchmarkSeekMillion seeks to random times of a million moves and makes a frame of each; also with a
// filter and a sort order, set before or after the moves were executed.
func BenchmarkSeekMillion(b *testing.B) {
	o := millionMoves(20_000, timeline.Options{Paused: true})
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
		for b.Loop() { // a tenth of the moves, without a match
			o.seek(world.Noon.Add(900 * time.Second))
			o.find(c, true)
			for o.working() {
				o.work()
			}
		}
	})
}

// BenchmarkSeekInAFile seeks to random times of a million moves, most of them archived, and makes a frame.
func BenchmarkSeekInAFile(b *testing.B) {
	for _, pods := range []int{500, 5_000, 20_000, 50_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			o := millionMoves(pods, timeline.Options{Paused: true, OpenArchive: func() (archive.File, error) { return disk.Scratch(b.Context(), b.TempDir()) }})
			defer o.close()
			rng := rand.New(rand.NewPCG(1, 2))
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				o.seek(world.Noon.Add(time.Duration(rng.IntN(1_000_000)) * time.Millisecond))
				o.frame()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-99th")
			b.ReportMetric(float64(o.size())/1e6, "MB-in-memory")
		})
	}
}
