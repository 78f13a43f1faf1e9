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

// Waiting is a pod that has no node yet, at one moment.
type Waiting struct {
	Pod  sources.SafeText `json:"pod"`
	Tier string           `json:"tier"`
	// Age is the time since the pod came to the queue, InTier since it came to where it is.
	Age      report.Seconds `json:"ageSeconds"`
	InTier   report.Seconds `json:"inTierSeconds"`
	Attempts int            `json:"attempts"`
	Priority int32          `json:"priority"`
	// Plugins rejected its last attempt, or gate it. None after an error, and before the first attempt.
	Plugins []string `json:"plugins,omitempty"`
	// NextTry is when it is tried again at the latest, if nothing wakes it. Nil if that is not known, and of a pod that
	// is gated, ready or in flight.
	NextTry    *time.Time `json:"nextTry,omitempty"`
	Provenance string     `json:"provenance"`
}

// ListPods replays rec up to at and returns the pods that wait there, those that opts.Filter selects, the longest waiting
// first. It fails if no model can be set up, or when ctx ends.
func ListPods(ctx context.Context, rec *sources.Recording, opts timeline.Options, at time.Time) ([]Waiting, error) {
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
	all := make([]Waiting, len(pods))
	for i, p := range pods {
		all[i] = Waiting{
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
