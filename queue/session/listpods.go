package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// ListPods replays rec up to at and returns the pods that wait there, those that opts.Filter selects, the longest waiting
// first. It fails if no model can be set up, or when ctx ends.
func ListPods(ctx context.Context, rec *sources.Recording, opts timeline.Options, at time.Time) ([]report.Waiting, error) {
	if _, err := opts.SchedulerConfig(rec); err != nil {
		return nil, err
	}
	o, err := replayedTo(ctx, rec, opts, at)
	if err != nil {
		return nil, err
	}
	defer o.recording.Feed.Close()
	f := o.frame()
	var pods []*board.Pod
	for _, tier := range board.Tiers {
		for i := range f.Board.Len(tier) {
			pods = append(pods, f.Board.At(tier, i))
		}
	}
	slices.SortFunc(pods, func(a, b *board.Pod) int {
		return cmp.Or(a.Arrived.Compare(b.Arrived), cluster.ByKey(a.Key, b.Key))
	})
	all := make([]report.Waiting, len(pods))
	for i, p := range pods {
		all[i] = report.Waiting{
			Pod: sources.Sanitize(p.Key.String()), Tier: p.Tier.String(), Attempts: p.Attempts, Priority: p.Priority,
			Age: report.Seconds(f.Now.Sub(p.Arrived)), InTier: report.Seconds(f.Now.Sub(p.Since)),
			Plugins: p.RejectorPlugins(), Provenance: p.Provenance(),
		}
		if x := f.Explanation(p); x.NextTry != nil {
			all[i].NextTry = &x.NextTry.Latest
		}
	}
	return all, nil
}
