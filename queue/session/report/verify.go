package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// tolerance is the largest time difference between two moves that are the same: the API server writes its
// audit log some milliseconds after the scheduler has acted.
const tolerance = time.Second

// Verification describes how well the model's moves agree with the moves in the scheduler's log, the truth.
type Verification struct {
	Source sources.SafeText `json:"source"`
	Truth  sources.SafeText `json:"truth"`
	// Start and End limit the time that was compared.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`

	// Answers compares what the screen shows about waiting pods. Transitions and PodSeconds help to find why an answer is
	// wrong.
	Answers     Answers       `json:"answers"`
	Transitions MoveAgreement `json:"transitions"`
	PodSeconds  TimeAgreement `json:"podSeconds"`
	// Differences are the first moves without a match, in time order, and More counts the others.
	Differences []Difference `json:"differences"`
	More        int          `json:"-"`
}

// MoveAgreement counts moves. A modelled move matches one of the truth if the same pod moves to the same
// tier by the same event within a second. Each move matches at most one other.
type MoveAgreement struct {
	Truth   int `json:"truth"`
	Model   int `json:"model"`
	Matched int `json:"matched"`
	// Recall is the share of the truth's moves that the model has, Precision the share of the model's
	// moves that the truth has. Both are 1 if there are no moves.
	Recall    float64         `json:"recall"`
	Precision float64         `json:"precision"`
	ByKind    []KindAgreement `json:"byKind"`
}

// KindAgreement is the agreement on moves to one tier by one event.
type KindAgreement struct {
	To      string `json:"to"`
	Event   string `json:"event"`
	Truth   int    `json:"truth"`
	Model   int    `json:"model"`
	Matched int    `json:"matched"`
}

// TimeAgreement sums up the time that pods spent in the queue's tiers. Total is the truth's, and Right the
// part of it in which the model had the pod in the same tier.
type TimeAgreement struct {
	Total Seconds         `json:"total"`
	Right Seconds         `json:"right"`
	Share float64         `json:"share"`
	Tiers []TierAgreement `json:"tiers"`
}

// TierAgreement is TimeAgreement for one tier.
type TierAgreement struct {
	Tier  string  `json:"tier"`
	Truth Seconds `json:"truth"`
	Right Seconds `json:"right"`
	Share float64 `json:"share"`
}

// Difference is a move without a match.
type Difference struct {
	// Kind is "missed" for a move of the truth, "extra" for one of the model.
	Kind  string    `json:"kind"`
	Time  time.Time `json:"time"`
	Pod   string    `json:"pod"`
	To    string    `json:"to"`
	Event string    `json:"event,omitempty"`
	// ModelTier is where the model had the pod of a missed move at that time. Empty if it had no such pod.
	ModelTier string `json:"modelTier,omitempty"`
	// Because is why the model made an extra move: by which rule, on what evidence.
	Because string `json:"because,omitempty"`
}

// Verify replays rec and truth side by side and compares the moves from truth's first to its last. If rec
// attaches to a running scheduler, the comparison begins there, and the initial pods do not count as
// moves. It lists up to most differences.
func Verify(ctx context.Context, rec, truth *sources.Recording, opts timeline.Options, most int) (*Verification, error) {
	return verify(ctx, runSpec{rec: rec, opts: opts}, attachedAt(rec), truth, opts, most)
}

// VerifyMoves is Verify for the moves that a session made, in time order. It compares the moves from from on; earlier moves
// only determine where the pods are then.
func VerifyMoves(ctx context.Context, made []*board.Transition, from time.Time, truth *sources.Recording, opts timeline.Options, most int) (*Verification, error) {
	return verify(ctx, runSpec{rec: truth, opts: opts, made: made}, from, truth, opts, most)
}

func verify(ctx context.Context, run runSpec, began time.Time, truth *sources.Recording, opts timeline.Options, most int) (*Verification, error) {
	rec, events := run.rec, truth.Events
	v := verifying{
		began: momentOf(began), silent: gatesSilently(truth), first: never,
		differences: differences{named: []Difference{}, most: most}, beyond: beyond{differences: differences{most: most}},
	}
	runs := [2]runSpec{{rec: truth, opts: opts}, run}
	var err error
	if v.window.labels, err = olderLabels(runs); err != nil {
		return nil, err
	}
	if cluster.HasFact[*sources.Move](events) {
		v.end, v.ends, v.window.onUnmatched = momentOf(events[len(events)-1].Time), math.MaxInt64, v.onUnmatched
		if !truth.End.IsZero() {
			v.ends = momentOf(truth.End)
		}
		err = sideBySide(ctx, runs, v.add)
	}
	switch {
	case err != nil:
		return nil, err
	case v.first == never:
		return nil, fmt.Errorf("%s contains no scheduler moves to compare with: kube-scheduler logs them at -v=5 and above", truth.Name)
	case v.last < v.began:
		return nil, fmt.Errorf("%s begins after the last move in %s", rec.Name, truth.Name)
	}
	made := v.finish()
	made.Source, made.Truth = rec.Name, truth.Name
	return made, nil
}

// attachedAt returns when rec attached to a running scheduler, or the zero time if it starts with the scheduler.
func attachedAt(rec *sources.Recording) time.Time {
	for _, e := range rec.Events {
		if _, is := e.Fact.(*sources.Attached); is {
			return e.Time
		}
	}
	return time.Time{}
}

// gatesSilently reports whether truth's scheduler does not log gating pods: before v1.33, moveToActiveQ
// (scheduling_queue.go) did not.
func gatesSilently(truth *sources.Recording) bool {
	var minor int
	s := timeline.RecordedScheduler(truth)
	if s == nil {
		return false
	}
	_, err := fmt.Sscanf(string(s.Release), "v1.%d", &minor)
	return err == nil && minor < 33
}

// verifying is a running verification. want is the truth, got the model.
type verifying struct {
	window window
	// began is when the model attached to a running scheduler, or never, end the truth's last event, and
	// ends the last time in its files, or math.MaxInt64 if unknown.
	began, end, ends moment
	silent           bool   // the truth does not contain gating moves
	first            moment // start of the comparison; never before the truth's first move
	last             moment // the truth's newest move
	kinds            []KindAgreement
	differences
	beyond beyond
	// spent is the time that the truth's pods spent in each tier, and right the part of it in which the
	// model's did too.
	spent, right [queue.Deleted + 1]Seconds
	answers      Answers
}

// differences are the first moves without a match, and the number of all.
type differences struct {
	named       []Difference
	count, most int
}

func (d *differences) differ(named func(*comparedMove) Difference, m *comparedMove) {
	if d.count++; len(d.named) < d.most {
		d.named = append(d.named, named(m))
	}
}

// beyond are moves that only the model makes, more than a second after the truth's newest move. They count
// once the truth continues.
type beyond struct {
	differences
	kinds map[uint32]int
}

// add adds a move of either run.
func (v *verifying) add(by side, t *board.Transition) error {
	m := v.window.observe(by, t)
	v.addStay(m.pod, m.at)
	v.window.put(m, t.Pod.Tier)
	if m.pod.answers == nil {
		m.pod.answers = &answeredPod{}
	}
	m.pod.answers.states[by] = podStateOf(t.Pod)
	switch {
	case by == want:
		v.onTruthMove(m.at)
		if m.at < v.began {
			break
		}
		k := v.kind(m.same)
		if k.Truth++; v.window.pair(m) {
			k.Model, k.Matched = k.Model+1, k.Matched+1
		}
	case v.silent && t.Pod.Tier == queue.Gated || t.From == queue.None && m.at == v.began:
	case v.window.pair(m):
		k := v.kind(m.same)
		k.Model, k.Matched = k.Model+1, k.Matched+1
	}
	return nil
}

// onTruthMove handles a move of the truth.
func (v *verifying) onTruthMove(at moment) {
	if v.last = at; v.first == never {
		v.first = max(at, v.began)
	}
	if v.beyond.count == 0 {
		return
	}
	for kind, count := range v.beyond.kinds {
		v.kind(kind).Model += count
	}
	v.count += v.beyond.count
	v.named = append(v.named, v.beyond.named[:min(len(v.beyond.named), v.most-len(v.named))]...)
	v.beyond = beyond{differences: differences{most: v.most}}
}

// onUnmatched handles a move without a match.
func (v *verifying) onUnmatched(m *comparedMove) {
	switch {
	case m.by == want:
		v.differ(v.window.missed, m)
	case v.first == never || v.first-m.at > moment(tolerance) || m.at > v.ends:
	case m.at-v.last > moment(tolerance):
		if v.beyond.kinds == nil {
			v.beyond.kinds = map[uint32]int{}
		}
		v.beyond.kinds[m.same]++
		v.beyond.differ(v.window.extra, m)
	default:
		v.kind(m.same).Model++
		v.differ(v.window.extra, m)
	}
}

// kind returns the counts for a kind of move.
func (v *verifying) kind(number uint32) *KindAgreement {
	for int(number) >= len(v.kinds) {
		k := v.window.kinds.values[len(v.kinds)]
		v.kinds = append(v.kinds, KindAgreement{To: k.to.String(), Event: k.event})
	}
	return &v.kinds[number]
}

// addStay counts the time from a pod's last move until then, within the time compared. A move that leaves a
// pod in its tier splits a stay in two, which does not change the sum.
func (v *verifying) addStay(p *comparedPod, until moment) {
	from, until := max(p.since, v.began), min(until, v.end)
	if until <= from {
		return
	}
	v.answers.compare(p, from, until)
	tier := p.tiers[want]
	v.spent[tier] += Seconds(until - from)
	if p.tiers[got] == tier {
		v.right[tier] += Seconds(until - from)
	}
}

// finish returns the result.
func (v *verifying) finish() *Verification {
	v.window.end()
	for _, p := range v.window.pods {
		v.addStay(p, v.end)
	}
	return &Verification{Start: v.first.time(), End: v.last.time(), Answers: v.answers, Transitions: agreeOnMoves(v.kinds), PodSeconds: v.agreeOnTime(), Differences: v.named, More: v.count - len(v.named)}
}

// agreeOnMoves sums up kinds.
func agreeOnMoves(kinds []KindAgreement) MoveAgreement {
	a := MoveAgreement{ByKind: []KindAgreement{}}
	for _, k := range kinds {
		a.Truth, a.Model, a.Matched = a.Truth+k.Truth, a.Model+k.Model, a.Matched+k.Matched
		if k.Truth+k.Model > 0 {
			a.ByKind = append(a.ByKind, k)
		}
	}
	a.Recall, a.Precision = share(a.Matched, a.Truth), share(a.Matched, a.Model)
	slices.SortFunc(a.ByKind, func(a, b KindAgreement) int {
		return cmp.Or(cmp.Compare(b.Truth, a.Truth), cmp.Compare(b.Model, a.Model), cmp.Compare(a.To, b.To), cmp.Compare(a.Event, b.Event))
	})
	return a
}

// share returns part of whole, or 1 if whole is 0.
func share[T int | Seconds](part, whole T) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// agreeOnTime sums up the stays.
func (v *verifying) agreeOnTime() (a TimeAgreement) {
	for _, tier := range board.Tiers {
		a.Total += v.spent[tier]
		a.Right += v.right[tier]
		a.Tiers = append(a.Tiers, TierAgreement{tier.String(), v.spent[tier], v.right[tier], share(v.right[tier], v.spent[tier])})
	}
	a.Share = share(a.Right, a.Total)
	return a
}
