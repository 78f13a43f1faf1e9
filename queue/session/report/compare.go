package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Comparison says what comes out differently when a recording is run again by two schedulers.
type Comparison struct {
	From *Report `json:"from"`
	To   *Report `json:"to"`
	// Same is how many of their moves are the same: the same pod to the same tier by the same event, within
	// a second.
	Same int `json:"sameMoves"`
	// Pods are those with another outcome, the largest difference first.
	Pods []PodComparison `json:"pods"`
	// First is the first move that only one of them makes: "missed" if it is From's, "extra" if To's.
	First *Difference `json:"firstDifference,omitempty"`
}

// PodComparison is what became of a pod in both runs.
type PodComparison struct {
	Pod  string  `json:"pod"`
	From Outcome `json:"from"`
	To   Outcome `json:"to"`
}

// Outcome is what became of a pod.
type Outcome struct {
	Attempts int    `json:"attempts"`
	Tier     string `json:"tier"`
	// Waited is the time until it was bound, or until it or the recording ended.
	Waited Seconds `json:"waitedSeconds"`
}

// Compare runs rec again as from says and as to says. to's Progress is told how much of both is done.
func Compare(ctx context.Context, rec *sources.Recording, from, to timeline.Options) (*Comparison, error) {
	again, err := model.Rerun(rec, "")
	if err != nil {
		return nil, err
	}
	if progress := to.Progress; progress != nil {
		from.Progress = func(share float64) { progress(share / 2) }
		to.Progress = func(share float64) { progress((1 + share) / 2) }
	}
	one, err := newRun(ctx, again, from)
	if err != nil {
		return nil, err
	}
	other, err := newRun(ctx, again, to)
	if err != nil {
		return nil, err
	}
	match(one.moves, other.moves)
	c := &Comparison{From: one.report, To: other.report, Pods: []PodComparison{}}
	for _, m := range one.moves {
		if m.matched {
			c.Same++
		}
	}
	if d := differences(one.moves, other.moves, staysOf(other.moves)); len(d) > 0 {
		c.First = &d[0]
	}
	for pod, o := range one.outcomes {
		if p := other.outcomes[pod]; p == nil || o.differs(p) {
			if p == nil {
				p = &outcome{}
			}
			c.Pods = append(c.Pods, PodComparison{pod.String(), o.public(one.end), p.public(other.end)})
		}
	}
	slices.SortFunc(c.Pods, func(a, b PodComparison) int {
		return cmp.Or(-cmp.Compare(a.later().Abs(), b.later().Abs()), cmp.Compare(a.Pod, b.Pod))
	})
	return c, nil
}

// later is how much longer the pod waited in the second run.
func (p PodComparison) later() time.Duration { return time.Duration(p.To.Waited - p.From.Waited) }

// run is what came of one run.
type run struct {
	report   *Report
	moves    []toldMove
	outcomes map[types.NamespacedName]*outcome
	end      time.Time
}

// outcome is a pod's, so far.
type outcome struct {
	attempts     int
	tier         queue.Tier
	since, ended time.Time
}

func newRun(ctx context.Context, rec *sources.Recording, opts timeline.Options) (*run, error) {
	reporter := newReporter(rec)
	r := &run{outcomes: map[types.NamespacedName]*outcome{}, end: reporter.report.End}
	err := timeline.Replay(ctx, rec, opts, func(t *board.Transition) error {
		r.moves = append(r.moves, toldMove{at: t.Time, pod: t.Pod.Key, kind: moveKind{t.To, t.Event}, tier: t.Pod.Tier})
		o := r.outcomes[t.Pod.Key]
		if o == nil || t.From == queue.None && !o.ended.IsZero() {
			o = &outcome{since: t.Time}
			r.outcomes[t.Pod.Key] = o
		}
		o.attempts, o.tier = t.Attempts, t.To
		if (t.To == queue.Scheduled || t.To == queue.Deleted) && o.ended.IsZero() {
			o.ended = t.Time
		}
		return reporter.add(t)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.moves, func(a, b toldMove) int { return a.at.Compare(b.at) })
	r.report = reporter.finish()
	return r, nil
}

// differs reports whether the outcomes are not the same, but for a moment.
func (o *outcome) differs(other *outcome) bool {
	return o.attempts != other.attempts || o.tier != other.tier || o.ended.Sub(other.ended).Abs() > tolerance
}

func (o *outcome) public(end time.Time) Outcome {
	if !o.ended.IsZero() {
		end = o.ended
	}
	public := Outcome{Attempts: o.attempts, Tier: o.tier.String()}
	if !o.since.IsZero() {
		public.Waited = Seconds(end.Sub(o.since))
	}
	return public
}

// Tiers pairs the two reports' tiers.
func (c *Comparison) Tiers() []TierPair {
	of := func(r *Report) map[string]TierReport {
		m := map[string]TierReport{}
		for _, t := range r.Tiers {
			m[t.Tier] = t
		}
		return m
	}
	from, to := of(c.From), of(c.To)
	var pairs []TierPair
	for _, tier := range board.Tiers {
		pairs = append(pairs, TierPair{tier.String(), from[tier.String()], to[tier.String()]})
	}
	return pairs
}

// TierPair is one tier in both reports.
type TierPair struct {
	Tier     string
	From, To TierReport
}

// Wakes returns how often each event woke a pod in either run, the most different first.
func (c *Comparison) Wakes() []WakePair {
	pairs := map[string]*WakePair{}
	add := func(wakes []WakeReport, count func(*WakePair) *int) {
		for _, w := range wakes {
			if pairs[w.Event] == nil {
				pairs[w.Event] = &WakePair{Event: w.Event}
			}
			*count(pairs[w.Event]) += w.Total()
		}
	}
	add(c.From.Wakes, func(p *WakePair) *int { return &p.From })
	add(c.To.Wakes, func(p *WakePair) *int { return &p.To })
	var all []WakePair
	for _, p := range pairs {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b WakePair) int {
		return cmp.Or(-cmp.Compare(max(a.To-a.From, a.From-a.To), max(b.To-b.From, b.From-b.To)), cmp.Compare(a.Event, b.Event))
	})
	return all
}

// WakePair is how many moves an event made in both runs.
type WakePair struct {
	Event    string
	From, To int
}
