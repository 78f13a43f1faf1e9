package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Listing is the waiting pods at one moment.
type Listing struct {
	Source sources.SafeText `json:"source"`
	Time   time.Time        `json:"time"`
	// SchedulerEnded is when the scheduler shut down, nil if it had not by then or that is unknown.
	SchedulerEnded *time.Time       `json:"schedulerEnded,omitempty"`
	Pods           []report.Waiting `json:"pods"`
	// Silence says that no scheduler works, as a sentence. Empty if one does.
	Silence string `json:"-"`
}

// ListPods replays rec up to at and returns the waiting pods that opts.Filter selects, the longest waiting first and those
// that are probably gone last. It returns an error if there is no model, or once ctx ends.
func ListPods(ctx context.Context, rec *sources.Recording, opts timeline.Options, at time.Time) (*Listing, error) {
	if _, err := opts.SchedulerConfig(rec); err != nil {
		return nil, err
	}
	o, err := replayedTo(ctx, rec, opts, at, types.NamespacedName{})
	if err != nil {
		return nil, err
	}
	defer o.close()
	l := o.frame().Listing()
	for _, p := range o.recording.Unserved() {
		if opts.Filter.Empty() || opts.Filter.Match(p.Facts(o.now)) {
			l.Pods = append(l.Pods, unservedPod(p, o.now, o.zone))
		}
	}
	l.sort()
	return l, nil
}

// Listing returns the waiting pods that match the filter, the longest waiting first.
func (f *Frame) Listing() *Listing {
	l := &Listing{Source: f.Name, Time: f.Now.UTC(), SchedulerEnded: f.SchedulerEnded(), Pods: f.Waiting()}
	if f.Silent != nil {
		l.Silence = f.Silent.Sentence(f.Zone)
	}
	l.sort()
	return l
}

// unservedPod returns a pod that no scheduler works on. It is in no tier.
func unservedPod(p *board.Pod, now time.Time, zone words.Zone) report.Waiting {
	w := report.Waiting{
		Pod: sources.Sanitize(p.Key.String()), Tier: queue.None.String(), Priority: p.Priority, Age: report.Seconds(now.Sub(p.Arrived)), InTier: report.Seconds(now.Sub(p.Arrived)),
		Provenance: p.Provenance(), Reason: string(explain.SchedulerSilent), Verdict: p.Opinion.Of(p.Key, zone),
	}
	w.Cause = w.Verdict.Sentence
	return w
}

// sort sorts the pods: the longest waiting first, those that are probably gone last.
func (l *Listing) sort() {
	slices.SortStableFunc(l.Pods, func(a, b report.Waiting) int {
		if aGone, bGone := a.GoneSince != nil, b.GoneSince != nil; aGone != bGone {
			return map[bool]int{true: 1, false: -1}[aGone]
		}
		return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.Pod, b.Pod))
	})
}

// Waiting returns the pods on the board without a node that match the filter, tier by tier, each in
// the order shown.
func (f *Frame) Waiting() []report.Waiting {
	all := []report.Waiting{}
	for _, tier := range board.Tiers {
		for i := range f.Board.Len(tier) {
			p := f.Board.At(tier, i)
			w := report.Waiting{
				Pod: sources.Sanitize(p.Key.String()), Tier: p.Tier.String(), Attempts: p.Attempts, Priority: p.Priority,
				Age: report.Seconds(p.WaitedAt(f.Now)), InTier: report.Seconds(f.Now.Sub(p.Since)), AgeAtLeast: p.WaitIsAtLeast(),
				AttemptsAtLeast: p.AttemptsAtLeast, InTierAtMost: p.SinceIsEarliest(),
				Plugins: p.RejectorPlugins(), Provenance: p.Provenance(),
			}
			if !p.GoneSince.IsZero() {
				gone := p.GoneSince.UTC()
				w.GoneSince, w.InTier, w.InTierAtMost = &gone, report.Seconds(gone.Sub(p.Since)), true
			}
			if next := f.NextTry(p); next != nil {
				w.NextTry = &next.Latest
			}
			if c := f.Conclude(p, nil); c != nil {
				w.Reason, w.Cause, w.Verdict = string(c.Reason), c.Cause, c.Verdict
			}
			all = append(all, w)
		}
	}
	return all
}
