package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// ListPods replays rec up to at and returns the waiting pods that opts.Filter selects, the longest
// waiting first. It fails if the model can't be set up, or when ctx ends.
func ListPods(ctx context.Context, rec *sources.Recording, opts timeline.Options, at time.Time) ([]report.Waiting, error) {
	if _, err := opts.SchedulerConfig(rec); err != nil {
		return nil, err
	}
	o, err := replayedTo(ctx, rec, opts, at, types.NamespacedName{})
	if err != nil {
		return nil, err
	}
	defer o.recording.Feed.Close()
	pods := o.frame().Waiting()
	slices.SortStableFunc(pods, func(a, b report.Waiting) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.Pod, b.Pod))
	})
	return pods, nil
}

// Waiting returns the pods on the board without a node that match the filter, tier by tier, each in
// the order shown.
func (f *Frame) Waiting() []report.Waiting {
	var all []report.Waiting
	for _, tier := range board.Tiers {
		for i := range f.Board.Len(tier) {
			p := f.Board.At(tier, i)
			w := report.Waiting{
				Pod: sources.Sanitize(p.Key.String()), Tier: p.Tier.String(), Attempts: p.Attempts, Priority: p.Priority,
				Age: report.Seconds(f.Now.Sub(p.Arrived)), InTier: report.Seconds(f.Now.Sub(p.Since)),
				AttemptsAtLeast: p.AttemptsAtLeast, InTierAtMost: p.SinceIsEarliest(),
				Plugins: p.RejectorPlugins(), Provenance: p.Provenance(),
			}
			if x := f.Explanation(p); x.NextTry != nil {
				w.NextTry = &x.NextTry.Latest
			}
			all = append(all, w)
		}
	}
	return all
}
