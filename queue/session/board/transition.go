package board

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// MarshalJSON writes the move as one line of "watch -o json": see docs/reference/outputs.md.
func (t *Transition) MarshalJSON() ([]byte, error) {
	type line struct {
		Time          time.Time        `json:"time"`
		Pod           string           `json:"pod"`
		From          string           `json:"from,omitempty"`
		To            string           `json:"to"`
		Event         string           `json:"event,omitempty"`
		Attempts      int              `json:"attempts,omitempty"`
		AtLeast       bool             `json:"attemptsAtLeast,omitempty"`
		BackoffExpiry *time.Time       `json:"backoffExpiry,omitempty"`
		Plugins       []string         `json:"plugins,omitempty"`
		GatingPlugin  string           `json:"gatingPlugin,omitempty"`
		Node          string           `json:"node,omitempty"`
		Message       sources.SafeText `json:"message,omitempty"`
		Provenance    string           `json:"provenance"`
	}
	attempts := t.AttemptCount()
	l := line{
		Time: t.Time.UTC(), Pod: t.Pod.Key.String(), From: t.From.String(), To: t.To.String(), Event: t.Event,
		Attempts: attempts.N, AtLeast: attempts.AtLeast, Plugins: t.Pod.RejectorPlugins(), GatingPlugin: t.GatingPlugin, Provenance: t.Provenance(),
	}
	if !t.BackoffExpiry.IsZero() {
		expiry := t.BackoffExpiry.UTC()
		l.BackoffExpiry = &expiry
	}
	if t.Event == queue.ScheduleAttemptFailure {
		l.Message = t.Pod.Message
	}
	if t.To == queue.Scheduled {
		l.Node = t.Pod.Node
	}
	return json.Marshal(l)
}

// Provenance returns "observed" for a move observed in the real scheduler, "modelled" for one of the
// model, and "estimated" for one that rests on an estimated pod: see Pod.Estimated.
func (t *Transition) Provenance() string {
	if t.Pod.Estimated && !t.Observed {
		return "estimated"
	}
	return Provenance(t.Observed)
}

// Provenance returns how it is known that p is where it is: see Transition.Provenance.
func (p *Pod) Provenance() string {
	if p.Estimated && !p.Observed {
		return "estimated"
	}
	return Provenance(p.Observed)
}

// Provenance returns "observed" or "modelled": see Transition.Provenance.
func Provenance(observed bool) string {
	if observed {
		return "observed"
	}
	return "modelled"
}

// String formats the move as a line of text, in UTC.
func (t *Transition) String() string { return t.Line(words.Zone{}) }

// Line formats the move as a line of text, with times in that zone.
func (t *Transition) Line(zone words.Zone) string {
	from := words.TierWord(t.From)
	if t.From == queue.None {
		from = "·"
	}
	s := fmt.Sprintf("%s  %-13s → %-13s  %s", zone.Day(t.Time)+" "+zone.Precise(t.Time), from, words.TierWord(t.To), t.Pod.Key)
	if t.Event != "" {
		s += "  " + t.Event
	}
	if t.Event == queue.ScheduleAttemptFailure {
		if plugins := t.Pod.RejectorPlugins(); len(plugins) > 0 {
			s += fmt.Sprint("  ", plugins)
		} else {
			s += "  [error, no plugin]"
		}
	}
	if t.To == queue.Backoff && !t.BackoffExpiry.IsZero() {
		s += "  until " + zone.Clock(t.BackoffExpiry)
	}
	if t.To == queue.Scheduled && t.Pod.Node != "" {
		s += "  " + t.Pod.Node
	}
	if attempts := t.AttemptCount(); attempts.N > 0 {
		s += "  " + attempts.Attempts()
	}
	return s
}

// AttemptCount returns how many attempts of the pod are known, including that of the move.
func (t *Transition) AttemptCount() words.AttemptCount {
	return words.AttemptCount{N: t.Attempts - t.Pod.Uncounted, AtLeast: t.Pod.AttemptsAtLeast}
}

// Transition is one move in a session's history.
type Transition struct {
	queue.Transition
	// Seq is its number in the history, from 0.
	Seq int
	// Pod is the pod right after the move. Its Last is this transition.
	Pod *Pod

	Change int // its number among the history's changes

	// prev is the pod's previous move while it is in memory, and prevSeq its number plus one, or 0 if
	// there is none.
	prev    atomic.Pointer[Transition]
	prevSeq int
	past    Past
}

// Past finds moves that are no longer in memory.
type Past interface {
	// Move returns the move with that number, or nil if it can't be read. Any goroutine may call it.
	Move(seq int) *Transition
}

// Prev returns the pod's previous move, or nil if there is none or it was dropped.
func (t *Transition) Prev() *Transition {
	if prev := t.prev.Load(); prev != nil || t.past == nil || t.prevSeq == 0 {
		return prev
	}
	return t.past.Move(t.prevSeq - 1)
}

// SetPrev sets the pod's previous move, which may be nil.
func (t *Transition) SetPrev(prev *Transition) {
	if t.prev.Store(prev); prev != nil {
		t.prevSeq = prev.Seq + 1
	}
}

// PrevSeq returns the number of the pod's previous move, and false if there is none.
func (t *Transition) PrevSeq() (int, bool) { return t.prevSeq - 1, t.prevSeq > 0 }

// SetPrevIn sets the pod's previous move to the one with that number in past.
func (t *Transition) SetPrevIn(past Past, seq int) { t.past, t.prevSeq = past, seq+1 }

// SetPast sets where previous moves are found that are no longer in memory. It must be called before t is
// published.
func (t *Transition) SetPast(past Past) { t.past = past }

// Release drops the reference to the previous move, which past holds.
func (t *Transition) Release() { t.prev.Store(nil) }

// LastWait returns the pod's last move, possibly t, out of backoffQ or out of the unschedulable or gated
// pods. Nil if there is none or it was dropped.
func (t *Transition) LastWait() *Transition {
	for ; t != nil; t = t.Prev() {
		if t.From != t.To && (t.From == queue.Backoff || t.From == queue.Unschedulable || t.From == queue.Gated) {
			return t
		}
	}
	return nil
}

// LastWake returns the pod's last move, possibly t, by which an event took it from the unschedulable or gated pods to
// activeQ or backoffQ. Nil if there is none or it was dropped.
func (t *Transition) LastWake() *Transition {
	for ; t != nil; t = t.Prev() {
		if (t.From == queue.Unschedulable || t.From == queue.Gated) && (t.To == queue.Active || t.To == queue.Backoff) && t.Event != "" {
			return t
		}
	}
	return nil
}

// Shorten drops the moves before t, except the last one that ended a wait and the last one by which an event woke the pod.
func (t *Transition) Shorten() {
	prev := t.Prev()
	wait, wake := prev.LastWait(), prev.LastWake()
	if wake != nil {
		wake.prev.Store(nil)
	}
	if wait != nil && wait != wake {
		wait.prev.Store(wake)
	}
	t.prev.Store(wait)
}

// Restated reports whether the scheduler logged the pod's place again, and nothing moved.
func (t *Transition) Restated() bool { return t.From == t.To && t.Observed && t.To != queue.Gated }

// TakenBack reports whether the model had woken the pod, and undid that because no attempt followed.
func (t *Transition) TakenBack() bool {
	return t.To == queue.Unschedulable && t.Event == "" && (t.From == queue.Active || t.From == queue.Backoff)
}

// LastStates returns the pods of moves after their last moves, in the order of those.
func LastStates(moves []*Transition) []*Pod {
	seen := map[types.NamespacedName]bool{}
	var pods []*Pod
	for _, m := range slices.Backward(moves) {
		if !seen[m.Pod.Key] {
			seen[m.Pod.Key] = true
			pods = append(pods, m.Pod)
		}
	}
	slices.Reverse(pods)
	return pods
}
