package report

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/words"
)

// window is what is known of two runs at the moment up to which both are played: their moves of the last second, since the other may
// yet have the same, and where their pods are. It grows with the pods that are there, and with those that left within a minute.
type window struct {
	now   moment
	kinds numbers[moveKind]
	pods  map[types.NamespacedName]*comparedPod
	left  []leaving // in the order of time; some have come again
	// alone are the moves that have no match yet, of one run, by what a match has in common with them. recent are those moves, run by run,
	// and those that have got a match since. All are in the order of time.
	alone  map[pairKey][]*toldMove
	recent [2][]*toldMove
	// onAlone is told the moves that have no match, in the order of time; of one moment, want's first.
	onAlone func(*toldMove)
	// keepsPods is true if no pod is forgotten.
	keepsPods bool
}

// comparedPod is a pod of either run, or the pods of one name, if they come within a minute.
type comparedPod struct {
	name     types.NamespacedName
	tiers    [2]queue.Tier // where it is; None if the run did not have it yet
	since    moment        // when it was told last
	outcomes [2]outcome    // what became of it, in a rerun
}

// hasLeft reports whether neither run has the pod in its queue.
func (p *comparedPod) hasLeft() bool {
	is := func(t queue.Tier) bool { return t == queue.None || t == queue.Scheduled || t == queue.Deleted }
	return is(p.tiers[want]) && is(p.tiers[got])
}

// leaving is that neither run had the pod in its queue any more.
type leaving struct {
	at  moment
	pod *comparedPod
}

// toldMove is what is compared of a move.
type toldMove struct {
	at      moment
	by      side
	pod     *comparedPod
	kind    uint32          // its number
	other   queue.Tier      // where the other run had the pod: got's moves of that moment are counted as earlier, want's as later
	because *reason.Because // or nil
	matched bool
}

// pairKey is what two moves have in common that are the same.
type pairKey struct {
	pod  *comparedPod
	kind uint32
}

// takeIn lets time pass up to a move, and returns it. Where its pod is has not changed yet.
func (w *window) takeIn(by side, t *board.Transition) *toldMove {
	at := momentOf(t.Time)
	w.pass(at)
	pod := w.pods[t.Pod.Key]
	if pod == nil {
		name := types.NamespacedName{Namespace: strings.Clone(t.Pod.Key.Namespace), Name: strings.Clone(t.Pod.Key.Name)}
		pod = &comparedPod{name: name, since: at}
		if w.pods == nil {
			w.pods, w.alone = map[types.NamespacedName]*comparedPod{}, map[pairKey][]*toldMove{}
		}
		w.pods[name] = pod
	}
	kind := w.kinds.number(moveKind{t.To, t.Event}, ownKind)
	return &toldMove{at: at, by: by, pod: pod, kind: kind, other: pod.tiers[got-by], because: t.Pod.Because}
}

// put puts a move's pod where it is after it.
func (w *window) put(m *toldMove, tier queue.Tier) {
	m.pod.tiers[m.by], m.pod.since = tier, m.at
	if m.pod.hasLeft() && !w.keepsPods {
		w.left = append(w.left, leaving{m.at, m.pod})
	}
}

// pair makes m and a move of the other run a pair, and reports whether there is one: of the same pod to the same tier by the same event,
// within a second, with no match so far. Since it takes the earliest each time, it leaves no pair behind. Else m waits for a later one.
func (w *window) pair(m *toldMove) bool {
	k := pairKey{m.pod, m.kind}
	if alone := w.alone[k]; len(alone) > 0 && alone[0].by != m.by {
		alone[0].matched = true
		w.dropFirst(k)
		return true
	}
	w.alone[k] = append(w.alone[k], m)
	w.recent[m.by] = append(w.recent[m.by], m)
	return false
}

// dropFirst has the first of those moves wait no more.
func (w *window) dropFirst(k pairKey) {
	if rest := w.alone[k][1:]; len(rest) > 0 {
		w.alone[k] = rest
	} else {
		delete(w.alone, k)
	}
}

// pass lets time pass up to now: what came too long before it gets no match any more, and pods are forgotten that left.
func (w *window) pass(now moment) {
	w.now = now
	for m := w.oldest(); m != nil && now-m.at > moment(tolerance); m = w.oldest() {
		w.recent[m.by][0] = nil
		w.recent[m.by] = w.recent[m.by][1:]
		if !m.matched {
			w.dropFirst(pairKey{m.pod, m.kind})
			w.onAlone(m)
		}
	}
	for len(w.left) > 0 && now-w.left[0].at > moment(history.KeepLeft) {
		l := w.left[0]
		w.left[0] = leaving{}
		if w.left = w.left[1:]; w.pods[l.pod.name] == l.pod && l.pod.hasLeft() && l.pod.since == l.at {
			delete(w.pods, l.pod.name)
		}
	}
}

// oldest returns the oldest of the recent moves, or nil if there are none.
func (w *window) oldest() *toldMove {
	one, other := w.recent[want], w.recent[got]
	switch {
	case len(one) == 0 && len(other) == 0:
		return nil
	case len(one) == 0 || len(other) > 0 && other[0].at < one[0].at:
		return other[0]
	}
	return one[0]
}

// end says that no more moves come.
func (w *window) end() { w.pass(w.now + moment(tolerance) + 1) }

// missed and extra return the difference that a move is which only want makes, or only got.
func (w *window) missed(m *toldMove) Difference {
	d := w.difference("missed", m)
	d.ModelTier = m.other.String()
	return d
}

func (w *window) extra(m *toldMove) Difference {
	d := w.difference("extra", m)
	if m.because != nil {
		d.Because = m.because.Sentence(words.Zone{})
	}
	return d
}

func (w *window) difference(kind string, m *toldMove) Difference {
	k := w.kinds.values[m.kind]
	return Difference{Kind: kind, Time: m.at.time(), Pod: m.pod.name.String(), To: k.to.String(), Event: k.event}
}
