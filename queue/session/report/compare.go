package report

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Comparison compares two runs of a recording by different schedulers.
type Comparison struct {
	// Runs name the two schedulers: "v1.37", "v1.37 with podMaxBackoffSeconds=2".
	Runs [2]string `json:"runs"`
	From *Report   `json:"from"`
	To   *Report   `json:"to"`
	// Same counts the moves that both runs make: the same pod to the same tier by the same event, whatever
	// each release calls it, within a second.
	Same int `json:"sameMoves"`
	// Pods are those with different outcomes, the largest difference first.
	Pods []PodComparison `json:"pods"`
	// First is the first move that only one run makes: "missed" if it is From's, "extra" if To's.
	First *Difference `json:"firstDifference,omitempty"`
	// Placement compares the nodes of bound pods. Nil if no pod is bound.
	Placement *Placement `json:"placement,omitempty"`

	labels queue.LabelStyle // the older of the two spellings of events
}

// PodComparison is the outcome of a pod in both runs.
type PodComparison struct {
	Pod  string  `json:"pod"`
	From Outcome `json:"from"`
	To   Outcome `json:"to"`
}

// Outcome is the outcome of a pod.
type Outcome struct {
	Attempts int `json:"attempts"`
	// AttemptsAtLeast is true if Attempts is a lower bound: the pod is older than the source.
	AttemptsAtLeast bool   `json:"attemptsAtLeast,omitempty"`
	Tier            string `json:"tier"`
	// Waited is the time until it was bound, or until it or the recording ended.
	Waited Seconds `json:"waitedSeconds"`
}

// Compare runs rec again with from and with to, side by side. It calls to.Progress with the share done of
// both.
func Compare(ctx context.Context, rec *sources.Recording, from, to timeline.Options) (*Comparison, error) {
	again, err := shadow.Rerun(rec, "")
	if err != nil {
		return nil, err
	}
	return compare(ctx, [2]runSpec{{rec: again, opts: from}, {rec: again, opts: to}})
}

// compare compares two runs.
func compare(ctx context.Context, runs [2]runSpec) (*Comparison, error) {
	c := comparing{placing: newPlacing()}
	var err error
	if c.labels, err = olderLabels(runs); err != nil {
		return nil, err
	}
	c.window.labels = c.labels
	for by := range runs {
		c.reporters[by] = newReporter(runs[by].rec)
		runs[by].changed = func(ev sources.Event) { c.placing.change(side(by), ev) }
	}
	c.window.onUnmatched = c.onUnmatched
	c.window.keepPods = true // a pod bound in both may return in one much later, as one that was only preempted there
	if err := sideBySide(ctx, runs, c.add); err != nil {
		return nil, err
	}
	return c.finish(), nil
}

// later returns how much longer the pod waited in the second run.
func (p PodComparison) later() time.Duration { return time.Duration(p.To.Waited - p.From.Waited) }

// comparing is a running comparison. want is run From, got is run To.
type comparing struct {
	Comparison
	window    window
	reporters [2]*reporter
	placing   *placing
}

// add adds a move of either run.
func (c *comparing) add(by side, t *board.Transition) error {
	m := c.window.observe(by, t)
	m.pod.outcomes[by].note(t)
	c.placing.add(by, t, &m.pod.outcomes[by])
	c.window.put(m, t.Pod.Tier)
	if c.window.pair(m) {
		c.Same++
	}
	return c.reporters[by].add(t)
}

// onUnmatched handles a move that only one run makes.
func (c *comparing) onUnmatched(m *comparedMove) {
	if c.First != nil {
		return
	}
	named := c.window.missed
	if m.by == got {
		named = c.window.extra
	}
	d := named(m)
	c.First = &d
}

// finish returns the result.
func (c *comparing) finish() *Comparison {
	c.window.end()
	all := slices.Collect(maps.Values(c.window.pods))
	c.Placement = c.placing.finish(all)
	ends := [2]time.Time{c.reporters[want].report.End, c.reporters[got].report.End}
	c.Pods = []PodComparison{}
	for _, p := range all {
		one, other := p.outcomes[want], p.outcomes[got]
		if one == (outcome{}) {
			continue // only the other run has it
		}
		if other == (outcome{}) || one.differs(other) {
			c.Pods = append(c.Pods, PodComparison{p.name.String(), one.public(ends[want]), other.public(ends[got])})
		}
	}
	c.From, c.To = c.reporters[want].finish(), c.reporters[got].finish()
	slices.SortFunc(c.Pods, func(a, b PodComparison) int {
		return cmp.Or(-cmp.Compare(a.later().Abs(), b.later().Abs()), cmp.Compare(a.Pod, b.Pod))
	})
	made := c.Comparison
	return &made
}

// outcome is the outcome of a pod so far.
type outcome struct {
	attempts     words.AttemptCount
	tier         queue.Tier
	node         uint32 // its number in placing, or 0
	since, ended time.Time
}

// note updates the outcome with a move of the pod.
func (o *outcome) note(t *board.Transition) {
	if *o == (outcome{}) || t.From == queue.None && !o.ended.IsZero() {
		*o = outcome{since: t.Time}
	}
	o.attempts, o.tier = t.AttemptCount(), t.To
	if (t.To == queue.Scheduled || t.To == queue.Deleted) && o.ended.IsZero() {
		o.ended = t.Time
	}
}

// differs reports whether the outcomes differ, ignoring the node and small differences in time.
func (o outcome) differs(other outcome) bool {
	return o.attempts != other.attempts || o.tier != other.tier || o.ended.Sub(other.ended).Abs() > tolerance
}

// AttemptCount returns how many attempts are known.
func (o Outcome) AttemptCount() words.AttemptCount {
	return words.AttemptCount{N: o.Attempts, AtLeast: o.AttemptsAtLeast}
}

func (o outcome) public(end time.Time) Outcome {
	if !o.ended.IsZero() {
		end = o.ended
	}
	public := Outcome{Attempts: o.attempts.N, AttemptsAtLeast: o.attempts.AtLeast, Tier: o.tier.String()}
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

// Wakes returns how often each event woke a pod in the two runs, the largest difference first. Spellings
// of one event share a row.
func (c *Comparison) Wakes() []WakePair {
	pairs := map[string]*WakePair{}
	add := func(wakes []WakeReport, count func(*WakePair) *int) {
		for _, w := range wakes {
			older := c.labels.Of(w.Event)
			if pairs[older] == nil {
				pairs[older] = &WakePair{}
			}
			pairs[older].labels = append(pairs[older].labels, w.Event)
			*count(pairs[older]) += w.Total()
		}
	}
	add(c.From.Wakes, func(p *WakePair) *int { return &p.From })
	add(c.To.Wakes, func(p *WakePair) *int { return &p.To })
	var all []WakePair
	for older, p := range pairs {
		p.Event = spellings(older, p.labels)
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b WakePair) int {
		return cmp.Or(-cmp.Compare(max(a.To-a.From, a.From-a.To), max(b.To-b.From, b.From-b.To)), cmp.Compare(a.Event, b.Event))
	})
	return all
}

// WakePair is how many moves an event caused in each run.
type WakePair struct {
	// Event is the event's label, with the older spelling behind it if the releases differ:
	// "NodeUpdateNodeTaint (NodeTaintChange)".
	Event    string
	From, To int

	labels []string
}

// spellings joins the labels of an event, the older one last.
func spellings(older string, labels []string) string {
	slices.Sort(labels)
	labels = slices.Compact(labels)
	newer := slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == older })
	switch {
	case len(newer) == 0:
		return older
	case len(newer) == len(labels):
		return strings.Join(newer, ", ")
	}
	return strings.Join(newer, ", ") + " (" + older + ")"
}
