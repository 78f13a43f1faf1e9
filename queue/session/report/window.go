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

// window is the state of two runs at the moment up to which both are played: their moves of the last
// second, which may still get a match, and where their pods are. Its size grows with the pods in the
// queue and those that left within a minute.
type window struct {
	now   moment
	kinds numbers[moveKind]
	// labels is the older of the two runs' spellings of events, and same the number of each kind in that
	// spelling: moves are compared by what their events mean.
	labels queue.LabelStyle
	same   []uint32
	pods   map[types.NamespacedName]*comparedPod
	left   []leaving // in time order; some have returned
	// unmatched are the moves of one run that have no match yet, by the key of a match. recent are those
	// moves by run, and those that have been matched since. All are in time order.
	unmatched map[pairKey][]*comparedMove
	recent    [2][]*comparedMove
	// onUnmatched is called for the moves without a match, in time order, want's first at equal times.
	onUnmatched func(*comparedMove)
	// keepPods is true if no pod is dropped.
	keepPods bool
}

// comparedPod is a pod of either run. Pods that reuse its name within a minute share it.
type comparedPod struct {
	name     types.NamespacedName
	tiers    [2]queue.Tier // its tier in each run; None if the run has not had it
	since    moment        // the time of its last move
	outcomes [2]outcome    // its outcome in each run of a comparison
	answers  *answeredPod  // of a verification
}

// hasLeft reports whether neither run has the pod in its queue.
func (p *comparedPod) hasLeft() bool {
	is := func(t queue.Tier) bool { return t == queue.None || t == queue.Scheduled || t == queue.Deleted }
	return is(p.tiers[want]) && is(p.tiers[got])
}

// leaving records when a pod had left the queues of both runs.
type leaving struct {
	at  moment
	pod *comparedPod
}

// comparedMove is the part of a move that is compared.
type comparedMove struct {
	at      moment
	by      side
	pod     *comparedPod
	kind    uint32        // its number
	same    uint32        // that of its kind in the older run's spelling
	other   queue.Tier    // the pod's tier in the other run; at equal times got's moves come before want's
	because *reason.Cause // or nil
	matched bool
}

// pairKey is what two matching moves have in common.
type pairKey struct {
	pod  *comparedPod
	same uint32
}

// observe advances the window to a move and returns it. It does not move its pod yet.
func (w *window) observe(by side, t *board.Transition) *comparedMove {
	at := momentOf(t.Time)
	w.pass(at)
	pod := w.pods[t.Pod.Key]
	if pod == nil {
		name := types.NamespacedName{Namespace: strings.Clone(t.Pod.Key.Namespace), Name: strings.Clone(t.Pod.Key.Name)}
		pod = &comparedPod{name: name, since: at}
		if w.pods == nil {
			w.pods, w.unmatched = map[types.NamespacedName]*comparedPod{}, map[pairKey][]*comparedMove{}
		}
		w.pods[name] = pod
	}
	kind := w.kind(moveKind{t.To, t.Event})
	return &comparedMove{at: at, by: by, pod: pod, kind: kind, same: w.same[kind], other: pod.tiers[got-by], because: t.Pod.Cause}
}

// kind returns the number of a kind.
func (w *window) kind(k moveKind) uint32 {
	n := w.kinds.number(k, ownKind)
	if int(n) == len(w.same) {
		w.same = append(w.same, n)
		if common := w.labels.Of(k.event); common != k.event {
			w.same[n] = w.kind(moveKind{k.to, common})
		}
	}
	return n
}

// put moves a move's pod to its new tier.
func (w *window) put(m *comparedMove, tier queue.Tier) {
	m.pod.tiers[m.by], m.pod.since = tier, m.at
	if m.pod.hasLeft() && !w.keepPods {
		w.left = append(w.left, leaving{m.at, m.pod})
	}
}

// pair matches m with the earliest unmatched move of the other run of the same pod to the same tier by the
// same event within a second, and reports whether there is one. Otherwise m waits for a later one.
func (w *window) pair(m *comparedMove) bool {
	k := pairKey{m.pod, m.same}
	if alone := w.unmatched[k]; len(alone) > 0 && alone[0].by != m.by {
		alone[0].matched = true
		w.dropFirst(k)
		return true
	}
	w.unmatched[k] = append(w.unmatched[k], m)
	w.recent[m.by] = append(w.recent[m.by], m)
	return false
}

// dropFirst removes the first unmatched move with that key.
func (w *window) dropFirst(k pairKey) {
	if rest := w.unmatched[k][1:]; len(rest) > 0 {
		w.unmatched[k] = rest
	} else {
		delete(w.unmatched, k)
	}
}

// pass advances the window to now: moves more than a second older stay unmatched, and pods that left are
// dropped.
func (w *window) pass(now moment) {
	w.now = now
	for m := w.oldest(); m != nil && now-m.at > moment(tolerance); m = w.oldest() {
		w.recent[m.by][0] = nil
		w.recent[m.by] = w.recent[m.by][1:]
		if !m.matched {
			w.dropFirst(pairKey{m.pod, m.same})
			w.onUnmatched(m)
		}
	}
	for len(w.left) > 0 && now-w.left[0].at > moment(history.LeftRetention) {
		l := w.left[0]
		w.left[0] = leaving{}
		if w.left = w.left[1:]; w.pods[l.pod.name] == l.pod && l.pod.hasLeft() && l.pod.since == l.at {
			delete(w.pods, l.pod.name)
		}
	}
}

// oldest returns the oldest of the recent moves, or nil if there are none.
func (w *window) oldest() *comparedMove {
	one, other := w.recent[want], w.recent[got]
	switch {
	case len(one) == 0 && len(other) == 0:
		return nil
	case len(one) == 0 || len(other) > 0 && other[0].at < one[0].at:
		return other[0]
	}
	return one[0]
}

// end handles the end of both runs.
func (w *window) end() { w.pass(w.now + moment(tolerance) + 1) }

// missed and extra return the difference for a move that only want makes, or only got.
func (w *window) missed(m *comparedMove) Difference {
	d := w.difference("missed", m)
	d.ModelTier = m.other.String()
	return d
}

func (w *window) extra(m *comparedMove) Difference {
	d := w.difference("extra", m)
	if m.because != nil {
		d.Because = m.because.Sentence(words.Zone{})
	}
	return d
}

func (w *window) difference(kind string, m *comparedMove) Difference {
	k := w.kinds.values[m.kind]
	return Difference{Kind: kind, Time: m.at.time(), Pod: m.pod.name.String(), To: k.to.String(), Event: k.event}
}
