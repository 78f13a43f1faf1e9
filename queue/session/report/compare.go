package report

import (
	"cmp"
	"context"
	"slices"
	"time"

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
	n := &names{}
	one, err := n.newRun(ctx, again, from)
	if err != nil {
		return nil, err
	}
	other, err := n.newRun(ctx, again, to)
	if err != nil {
		return nil, err
	}
	match(one.moves, other.moves)
	c := &Comparison{From: one.report, To: other.report, Pods: []PodComparison{}, First: n.firstDifference(one.moves, other.moves)}
	for i := range one.moves {
		if one.moves[i].has(matched) {
			c.Same++
		}
	}
	for pod, o := range one.outcomes {
		if o == (outcome{}) {
			continue // only the other run has it
		}
		if p := other.outcomeOf(pod); p == (outcome{}) || o.differs(p) {
			c.Pods = append(c.Pods, PodComparison{n.pods.name(uint32(pod)).String(), o.public(one.end), p.public(other.end)})
		}
	}
	slices.SortFunc(c.Pods, func(a, b PodComparison) int {
		return cmp.Or(-cmp.Compare(a.later().Abs(), b.later().Abs()), cmp.Compare(a.Pod, b.Pod))
	})
	return c, nil
}

// later is how much longer the pod waited in the second run.
func (p PodComparison) later() time.Duration { return time.Duration(p.To.Waited - p.From.Waited) }

// firstDifference returns the first move that only one of two runs has, or nil.
func (n *names) firstDifference(one, other []toldMove) *Difference {
	isAlone := func(m toldMove) bool { return !m.has(matched) }
	i, j := slices.IndexFunc(one, isAlone), slices.IndexFunc(other, isAlone)
	var d Difference
	switch {
	case i < 0 && j < 0:
		return nil
	case i < 0 || j >= 0 && other[j].at < one[i].at:
		d = n.extra(&other[j])
	default:
		d = n.missed(&one[i], groupByPod(other, n.pods.count()))
	}
	return &d
}

// run is what came of one run.
type run struct {
	report   *Report
	moves    []toldMove
	outcomes []outcome // by the pods' numbers, and empty of those that the run does not have
	end      time.Time
}

// outcomeOf returns what became of the pod of that number, which is empty if the run does not have it.
func (r *run) outcomeOf(pod int) outcome {
	if pod < len(r.outcomes) {
		return r.outcomes[pod]
	}
	return outcome{}
}

// outcome is a pod's, so far.
type outcome struct {
	attempts     int
	tier         queue.Tier
	since, ended time.Time
}

func (n *names) newRun(ctx context.Context, rec *sources.Recording, opts timeline.Options) (*run, error) {
	reporter := newReporter(rec)
	r := &run{end: reporter.report.End}
	err := timeline.Replay(ctx, rec, opts, func(t *board.Transition) error {
		r.moves = n.add(r.moves, t)
		pod := int(r.moves[len(r.moves)-1].pod)
		if more := pod + 1 - len(r.outcomes); more > 0 {
			r.outcomes = append(r.outcomes, make([]outcome, more)...)
		}
		o := &r.outcomes[pod]
		if *o == (outcome{}) || t.From == queue.None && !o.ended.IsZero() {
			*o = outcome{since: t.Time}
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
	sortMoves(r.moves)
	r.report = reporter.finish()
	return r, nil
}

// differs reports whether the outcomes are not the same, but for a moment.
func (o outcome) differs(other outcome) bool {
	return o.attempts != other.attempts || o.tier != other.tier || o.ended.Sub(other.ended).Abs() > tolerance
}

func (o outcome) public(end time.Time) Outcome {
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
