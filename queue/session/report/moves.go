package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
)

// Two runs are compared as a whole, and one after the other. So each move of both is kept until then, in 32 bytes, and of each pod
// its name, once.

// names numbers the pods that runs tell of, and the kinds of their moves.
type names struct {
	pods  podNames
	kinds numbers[moveKind]
}

// numbers has values by their numbers, which they get as they come, from 0 on.
type numbers[T comparable] struct {
	known  map[T]uint32
	values []T
}

// number returns v's number, which it may get now. Then own(v) is kept, which equals v.
func (n *numbers[T]) number(v T, own func(T) T) uint32 {
	i, known := n.known[v]
	if !known {
		if n.known == nil {
			n.known = map[T]uint32{}
		}
		i, v = uint32(len(n.values)), own(v)
		n.known[v], n.values = i, append(n.values, v)
	}
	return i
}

// moveKind is what moves are counted by.
type moveKind struct {
	to    queue.Tier
	event string
}

func ownKind(k moveKind) moveKind { return moveKind{k.to, strings.Clone(k.event)} }

// moment is a time in nanoseconds since 1970, as all of a recording have one (sources.CheckTime), or never.
type moment int64

// never is the zero time.
const never moment = math.MinInt64

func momentOf(t time.Time) moment {
	if t.IsZero() {
		return never
	}
	return moment(t.UnixNano())
}

// time returns the time in UTC.
func (m moment) time() time.Time {
	if m == never {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// toldMove is what is compared of a move.
type toldMove struct {
	at, seenAt moment     // seenAt is of its reason: see reason.Because
	pod, kind  uint32     // their numbers
	tier       queue.Tier // where the pod was after it
	rule       reason.Rule
	silence    reason.Silence
	seen       evidence.Kind
	is         moveFlags
}

// moveFlags say what a toldMove is.
type moveFlags uint8

const (
	reasoned moveFlags = 1 << iota // it has a reason
	enters                         // the queue did not have the pod before
	outside                        // it is not to be compared
	matched                        // the other run has it, too
)

// has reports whether m has all those flags.
func (m *toldMove) has(flags moveFlags) bool { return m.is&flags == flags }

// add adds a move that is told.
func (n *names) add(moves []toldMove, t *board.Transition) []toldMove {
	m := toldMove{at: momentOf(t.Time), seenAt: never, tier: t.Pod.Tier,
		pod: n.pods.number(t.Pod.Key), kind: n.kinds.number(moveKind{t.To, t.Event}, ownKind)}
	if b := t.Pod.Because; b != nil {
		m.is, m.rule, m.silence, m.seen, m.seenAt = reasoned, b.Rule, b.Silence, b.Seen, momentOf(b.At)
	}
	if t.From == queue.None {
		m.is |= enters
	}
	return append(moves, m)
}

// because returns the reason of a move, or nil.
func (m *toldMove) because() *reason.Because {
	if !m.has(reasoned) {
		return nil
	}
	return &reason.Because{Rule: m.rule, Silence: m.silence, Seen: m.seen, At: m.seenAt.time()}
}

// sortMoves puts moves in the order of time.
func sortMoves(moves []toldMove) {
	slices.SortStableFunc(moves, func(a, b toldMove) int { return cmp.Compare(a.at, b.at) })
}

// match marks the moves of want and got that are the same, but for those outside. Both are in the order of time, so that it
// leaves no pair behind to take each time the earliest two that can go together.
func match(want, got []toldMove) {
	type key struct{ pod, kind uint32 }
	waiting := map[key][]int{} // indexes in want, of those that are near enough to the move of got
	from, to := 0, 0           // and these are in it, or were
	for i := range got {
		m := &got[i]
		if m.has(outside) {
			continue
		}
		for ; to < len(want) && want[to].at-m.at <= moment(tolerance); to++ {
			if w := &want[to]; !w.has(outside) {
				waiting[key{w.pod, w.kind}] = append(waiting[key{w.pod, w.kind}], to)
			}
		}
		for ; from < to && m.at-want[from].at > moment(tolerance); from++ { // too old for m, and for all that follow it
			k := key{want[from].pod, want[from].kind}
			if near := waiting[k]; len(near) > 1 && near[0] == from {
				waiting[k] = near[1:]
			} else if len(near) == 1 && near[0] == from {
				delete(waiting, k)
			}
		}
		k := key{m.pod, m.kind}
		near := waiting[k]
		if len(near) == 0 {
			continue
		}
		want[near[0]].is |= matched
		m.is |= matched
		if waiting[k] = near[1:]; len(near) == 1 {
			delete(waiting, k)
		}
	}
}

// byPod are moves pod by pod.
type byPod struct {
	moves []toldMove
	order []uint32 // their indexes
	first []uint32 // in order, of each pod, and behind the last
}

// groupByPod groups moves of so many pods at the most. Of each pod they stay in their order.
func groupByPod(moves []toldMove, pods int) byPod {
	b := byPod{moves, make([]uint32, len(moves)), make([]uint32, pods+1)}
	for i := range moves {
		b.first[moves[i].pod+1]++
	}
	for pod := range pods {
		b.first[pod+1] += b.first[pod]
	}
	next := slices.Clone(b.first)
	for i := range moves {
		pod := moves[i].pod
		b.order[next[pod]] = uint32(i)
		next[pod]++
	}
	return b
}

// stay is a pod's time in a tier, up to the next stay.
type stay struct {
	from moment
	tier queue.Tier
}

// stays are a pod's stays in the tiers, and out of them, in the order of time. A move that leaves a pod where it is cuts a stay in
// two, which add up to the same.
type stays struct {
	moves []toldMove
	order []uint32
}

// staysOf returns the stays of the pod of that number.
func (b *byPod) staysOf(pod uint32) stays {
	return stays{b.moves, b.order[b.first[pod]:b.first[pod+1]]}
}

// at returns the i-th stay.
func (s stays) at(i int) stay { return stay{s.moves[s.order[i]].at, s.moves[s.order[i]].tier} }

// endOf returns when the i-th stay ends.
func (s stays) endOf(i int, end moment) moment {
	if i+1 < len(s.order) {
		return s.at(i + 1).from
	}
	return end
}

// tierAt returns the tier of the pod at that moment.
func (s stays) tierAt(at moment) queue.Tier {
	after, _ := slices.BinarySearchFunc(s.order, at, func(i uint32, at moment) int {
		if s.moves[i].at > at {
			return 1
		}
		return -1
	})
	if after == 0 {
		return queue.None
	}
	return s.at(after - 1).tier
}
