package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/reason"
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

// moveKind is what moves are counted by.
type moveKind struct {
	to    queue.Tier
	event string
}

// toldMove is what is compared of a move.
type toldMove struct {
	at      time.Time
	pod     types.NamespacedName
	kind    moveKind
	tier    queue.Tier // where the pod was after it
	enters  bool       // the queue did not have the pod before
	because *reason.Because
	matched bool
}

// stay is a pod's time in a tier, up to the next stay.
type stay struct {
	from time.Time
	tier queue.Tier
}

// Verify replays rec and truth, and compares the moves. It looks at the time from truth's first move to
// its last, and, where rec begins with a scheduler that is at work, from there on: where it has its pods then is no move.
func Verify(ctx context.Context, rec, truth *sources.Recording, opts timeline.Options) (*Verification, error) {
	want, err := toldMoves(ctx, truth, opts)
	if err != nil {
		return nil, err
	}
	if !model.HasFact[*sources.Move](truth.Events) || len(want) == 0 {
		return nil, fmt.Errorf("%s tells no move of the scheduler and can't be the truth: kube-scheduler writes them at -v=5 and above", truth.Name)
	}
	all, err := toldMoves(ctx, rec, opts)
	if err != nil {
		return nil, err
	}
	stays, real := staysOf(all), staysOf(want)
	last := want[len(want)-1].at
	began := beganAtWork(rec)
	first := later(want[0].at, began)
	if want = slices.DeleteFunc(want, func(m toldMove) bool { return m.at.Before(began) }); len(want) == 0 {
		return nil, fmt.Errorf("%s begins after the last move that %s tells", rec.Name, truth.Name)
	}
	silent := gatesSilently(truth)
	got := slices.DeleteFunc(slices.Clone(all), func(m toldMove) bool {
		return first.Sub(m.at) > tolerance || m.at.Sub(last) > tolerance || silent && m.tier == queue.Gated || m.enters && m.at.Equal(began)
	})
	match(want, got)
	return &Verification{
		Transitions: agreeOnMoves(want, got),
		PodSeconds:  agreeOnTime(real, stays, first, truth.Events[len(truth.Events)-1].Time),
		Differences: differences(want, got, stays),
	}, nil
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
func toldMoves(ctx context.Context, rec *sources.Recording, opts timeline.Options) ([]toldMove, error) {
	var moves []toldMove
	err := timeline.Replay(ctx, rec, opts, func(t *board.Transition) error {
		moves = append(moves, toldMove{at: t.Time, pod: t.Pod.Key, kind: moveKind{t.To, t.Event}, tier: t.Pod.Tier, enters: t.From == queue.None, because: t.Pod.Because})
		return nil
	})
	slices.SortStableFunc(moves, func(a, b toldMove) int { return a.at.Compare(b.at) })
	return moves, err
}

// match marks the moves of want and got that are the same. Both are in the order of time, so that it
// leaves no pair behind to take each time the earliest two that can go together.
func match(want, got []toldMove) {
	type key struct {
		pod  types.NamespacedName
		kind moveKind
	}
	waiting := map[key][]int{} // indexes in want
	for i, m := range want {
		k := key{m.pod, m.kind}
		waiting[k] = append(waiting[k], i)
	}
	for i := range got {
		m := &got[i]
		k := key{m.pod, m.kind}
		left := waiting[k]
		for len(left) > 0 && m.at.Sub(want[left[0]].at) > tolerance {
			left = left[1:] // too old for m, and for all that follow it
		}
		if len(left) > 0 && want[left[0]].at.Sub(m.at) <= tolerance {
			want[left[0]].matched, m.matched = true, true
			left = left[1:]
		}
		waiting[k] = left
	}
}

func agreeOnMoves(want, got []toldMove) MoveAgreement {
	kinds := map[moveKind]*KindAgreement{}
	of := func(m toldMove) *KindAgreement {
		k := kinds[m.kind]
		if k == nil {
			k = &KindAgreement{To: m.kind.to.String(), Event: m.kind.event}
			kinds[m.kind] = k
		}
		return k
	}
	a := MoveAgreement{Truth: len(want), Model: len(got), ByKind: []KindAgreement{}}
	for _, m := range want {
		of(m).Truth++
		if m.matched {
			a.Matched++
			of(m).Matched++
		}
	}
	for _, m := range got {
		of(m).Model++
	}
	a.Recall, a.Precision = share(a.Matched, a.Truth), share(a.Matched, a.Model)
	for k := range maps.Values(kinds) {
		a.ByKind = append(a.ByKind, *k)
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

// staysOf returns each pod's stays in the tiers, and out of them, in the order of time. A move that leaves
// a pod where it is cuts a stay in two, which add up to the same.
func staysOf(moves []toldMove) map[types.NamespacedName][]stay {
	stays := map[types.NamespacedName][]stay{}
	for _, m := range moves {
		stays[m.pod] = append(stays[m.pod], stay{m.at, m.tier})
	}
	return stays
}

// agreeOnTime compares stays from begin to end.
func agreeOnTime(want, got map[types.NamespacedName][]stay, begin, end time.Time) TimeAgreement {
	var total, right [queue.Deleted + 1]Seconds
	for pod, stays := range want {
		model := got[pod]
		for i, s := range stays {
			until := endOf(stays, i, end)
			if !until.After(begin) {
				continue
			}
			s.from = later(s.from, begin)
			total[s.tier] += Seconds(until.Sub(s.from))
			for len(model) > 0 && !endOf(model, 0, end).After(s.from) {
				model = model[1:] // over before s began
			}
			for j, m := range model {
				if !m.from.Before(until) {
					break
				}
				if m.tier == s.tier {
					right[s.tier] += Seconds(earlier(until, endOf(model, j, end)).Sub(later(s.from, m.from)))
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

// endOf returns when the i-th of a pod's stays ends.
func endOf(stays []stay, i int, end time.Time) time.Time {
	if i+1 < len(stays) {
		return stays[i+1].from
	}
	return end
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// differences returns the moves without a match. stays are the model's.
func differences(want, got []toldMove, stays map[types.NamespacedName][]stay) []Difference {
	d := []Difference{}
	note := func(kind string, m toldMove, tier queue.Tier) {
		if !m.matched {
			because := ""
			if kind == "extra" && m.because != nil {
				because = m.because.Sentence(words.Zone{})
			}
			d = append(d, Difference{kind, m.at.UTC(), m.pod.String(), m.kind.to.String(), m.kind.event, tier.String(), because})
		}
	}
	for _, m := range want {
		note("missed", m, tierAt(stays[m.pod], m.at))
	}
	for _, m := range got {
		note("extra", m, queue.None)
	}
	slices.SortStableFunc(d, func(a, b Difference) int { return a.Time.Compare(b.Time) })
	return d
}

// tierAt returns the tier of a pod with these stays.
func tierAt(stays []stay, at time.Time) queue.Tier {
	after := sort.Search(len(stays), func(i int) bool { return stays[i].from.After(at) })
	if after == 0 {
		return queue.None
	}
	return stays[after-1].tier
}
