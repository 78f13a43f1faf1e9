package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// tolerance is how far apart two moves may be told and still be the same one: the API server writes its
// audit log some milliseconds after the scheduler has acted.
const tolerance = time.Second

// Verification says how well what is made of a recording agrees with the scheduler's own moves, the
// truth.
type Verification struct {
	Transitions MoveAgreement `json:"transitions"`
	PodSeconds  TimeAgreement `json:"podSeconds"`
	// Differences are the moves without a match, in the order of time.
	Differences []Difference `json:"differences"`
}

// MoveAgreement counts moves. One of the model matches one of the truth if the same pod goes to the same
// tier by the same event within a second; each matches at most one.
type MoveAgreement struct {
	Truth   int `json:"truth"`
	Model   int `json:"model"`
	Matched int `json:"matched"`
	// Recall is the share of the truth's moves that the model has, Precision the share of the model's
	// moves that the truth has. Of no moves, all are right.
	Recall    float64         `json:"recall"`
	Precision float64         `json:"precision"`
	ByKind    []KindAgreement `json:"byKind"`
}

// KindAgreement is about the moves to one tier by one event.
type KindAgreement struct {
	To      string `json:"to"`
	Event   string `json:"event"`
	Truth   int    `json:"truth"`
	Model   int    `json:"model"`
	Matched int    `json:"matched"`
}

// TimeAgreement sums up the time that pods spent in the queue's tiers. Total is the truth's, and Right
// the part of it in which the model had the pod in the same tier.
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
	// ModelTier is where the model had the pod of a missed move at that time. Empty if it did not know it.
	ModelTier string `json:"modelTier,omitempty"`
	// Because is why the model made an extra move: by which rule, on what evidence.
	Because string `json:"because,omitempty"`
}

// Verify replays rec and truth, and compares the moves. It looks at the time from truth's first move to
// its last, and, where rec begins with a scheduler that is at work, from there on: where it has its pods then is no move.
func Verify(ctx context.Context, rec, truth *sources.Recording, opts timeline.Options) (*Verification, error) {
	n := &names{}
	want, err := n.toldMoves(ctx, truth, opts)
	if err != nil {
		return nil, err
	}
	tells := truth.Tells()
	if !cluster.HasFact[*sources.Move](tells) || len(want) == 0 {
		return nil, fmt.Errorf("%s tells no move of the scheduler and can't be the truth: kube-scheduler writes them at -v=5 and above", truth.Name)
	}
	began := momentOf(beganAtWork(rec))
	first, last, end := max(want[0].at, began), want[len(want)-1].at, momentOf(tells[len(tells)-1].Time)
	if leaveOut(want, func(m *toldMove) bool { return m.at < began }) == len(want) {
		return nil, fmt.Errorf("%s begins after the last move that %s tells", rec.Name, truth.Name)
	}
	silent := gatesSilently(truth)
	// From here on nothing of truth is needed, whose events are most of what there is, unless the caller needs it.
	got, err := n.toldMoves(ctx, rec, opts)
	if err != nil {
		return nil, err
	}
	leaveOut(got, func(m *toldMove) bool {
		return first-m.at > moment(tolerance) || m.at-last > moment(tolerance) || silent && m.tier == queue.Gated || m.has(enters) && m.at == began
	})
	match(want, got)
	pods := n.pods.count()
	real, model := groupByPod(want, pods), groupByPod(got, pods)
	return &Verification{
		Transitions: n.agreeOnMoves(want, got),
		PodSeconds:  agreeOnTime(real, model, first, end),
		Differences: n.differences(want, got, model),
	}, nil
}

// leaveOut marks the moves that are not to be compared, and returns how many these are.
func leaveOut(moves []toldMove, isOut func(*toldMove) bool) (count int) {
	for i := range moves {
		if m := &moves[i]; isOut(m) {
			m.is |= outside
			count++
		}
	}
	return count
}

// beganAtWork returns when rec came to a scheduler that was at work, or the zero time if it tells of it from its start on.
func beganAtWork(rec *sources.Recording) time.Time {
	for _, e := range rec.Tells() {
		if _, is := e.Fact.(*sources.Attached); is {
			return e.Time
		}
	}
	return time.Time{}
}

// gatesSilently reports whether truth's scheduler logs no move of a pod that is gated: before v1.33, moveToActiveQ
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

// toldMoves returns rec's moves in the order of time.
func (n *names) toldMoves(ctx context.Context, rec *sources.Recording, opts timeline.Options) ([]toldMove, error) {
	var moves []toldMove
	err := timeline.Replay(ctx, rec, opts, func(t *board.Transition) error {
		moves = n.add(moves, t)
		return nil
	})
	sortMoves(moves)
	return moves, err
}

func (n *names) agreeOnMoves(want, got []toldMove) MoveAgreement {
	a := MoveAgreement{ByKind: []KindAgreement{}}
	kinds := make([]KindAgreement, len(n.kinds.values))
	for i := range want {
		m := &want[i]
		if m.has(outside) {
			continue
		}
		a.Truth++
		kinds[m.kind].Truth++
		if m.has(matched) {
			a.Matched++
			kinds[m.kind].Matched++
		}
	}
	for i := range got {
		if m := &got[i]; !m.has(outside) {
			a.Model++
			kinds[m.kind].Model++
		}
	}
	a.Recall, a.Precision = share(a.Matched, a.Truth), share(a.Matched, a.Model)
	for i, k := range kinds {
		if k.Truth+k.Model > 0 {
			k.To, k.Event = n.kinds.values[i].to.String(), n.kinds.values[i].event
			a.ByKind = append(a.ByKind, k)
		}
	}
	slices.SortFunc(a.ByKind, func(a, b KindAgreement) int {
		return cmp.Or(cmp.Compare(b.Truth, a.Truth), cmp.Compare(b.Model, a.Model), cmp.Compare(a.To, b.To), cmp.Compare(a.Event, b.Event))
	})
	return a
}

// share returns part of whole; of nothing, all.
func share[T int | Seconds](part, whole T) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// agreeOnTime compares the stays of two runs from begin to end. Of a pod that only got has, none is compared.
func agreeOnTime(want, got byPod, begin, end moment) TimeAgreement {
	var total, right [queue.Deleted + 1]Seconds
	for pod := range uint32(len(want.first) - 1) {
		stays, model := want.staysOf(pod), got.staysOf(pod)
		for i := range stays.order {
			s, until := stays.at(i), stays.endOf(i, end)
			if until <= begin {
				continue
			}
			s.from = max(s.from, begin)
			total[s.tier] += Seconds(until - s.from)
			for len(model.order) > 0 && model.endOf(0, end) <= s.from {
				model.order = model.order[1:] // over before s began
			}
			for j := range model.order {
				m := model.at(j)
				if m.from >= until {
					break
				}
				if m.tier == s.tier {
					right[s.tier] += Seconds(min(until, model.endOf(j, end)) - max(s.from, m.from))
				}
			}
		}
	}
	var a TimeAgreement
	for _, tier := range board.Tiers {
		a.Total += total[tier]
		a.Right += right[tier]
		a.Tiers = append(a.Tiers, TierAgreement{tier.String(), total[tier], right[tier], share(right[tier], total[tier])})
	}
	a.Share = share(a.Right, a.Total)
	return a
}

// differences returns the moves without a match, but for those outside, in the order of time. model are got's.
func (n *names) differences(want, got []toldMove, model byPod) []Difference {
	d := []Difference{}
	for i := range want {
		if m := &want[i]; m.is&(matched|outside) == 0 {
			d = append(d, n.missed(m, model))
		}
	}
	for i := range got {
		if m := &got[i]; m.is&(matched|outside) == 0 {
			d = append(d, n.extra(m))
		}
	}
	slices.SortStableFunc(d, func(a, b Difference) int { return a.Time.Compare(b.Time) })
	return d
}

// missed returns the difference that a move of the truth is.
func (n *names) missed(m *toldMove, model byPod) Difference {
	stays := model.staysOf(m.pod)
	d := n.difference("missed", m)
	d.ModelTier = stays.tierAt(m.at).String()
	return d
}

// extra returns the difference that a move of the model is.
func (n *names) extra(m *toldMove) Difference {
	d := n.difference("extra", m)
	if b := m.because(); b != nil {
		d.Because = b.Sentence(words.Zone{})
	}
	return d
}

func (n *names) difference(kind string, m *toldMove) Difference {
	k := n.kinds.values[m.kind]
	return Difference{Kind: kind, Time: m.at.time(), Pod: n.pods.name(m.pod).String(), To: k.to.String(), Event: k.event}
}
