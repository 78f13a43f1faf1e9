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
		BackoffExpiry *time.Time       `json:"backoffExpiry,omitempty"`
		Plugins       []string         `json:"plugins,omitempty"`
		GatingPlugin  string           `json:"gatingPlugin,omitempty"`
		Node          string           `json:"node,omitempty"`
		Message       sources.SafeText `json:"message,omitempty"`
		Provenance    string           `json:"provenance"`
	}
	l := line{
		Time: t.Time.UTC(), Pod: t.Pod.Key.String(), From: t.From.String(), To: t.To.String(), Event: t.Event,
		Attempts: t.Attempts, Plugins: t.Pod.RejectorPlugins(), GatingPlugin: t.GatingPlugin, Provenance: t.Provenance(),
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

// Provenance is "observed" for a move seen in the real scheduler, "modelled" for one of the model, and
// "estimated" for one that rests on what is thought of a pod from before its source came: see
// Pod.Estimated.
func (t *Transition) Provenance() string {
	if t.Pod.Estimated && !t.Observed {
		return "estimated"
	}
	return Provenance(t.Observed)
}

// Provenance is where it comes from that p is where it is: see Transition.Provenance.
func (p *Pod) Provenance() string {
	if p.Estimated && !p.Observed {
		return "estimated"
	}
	return Provenance(p.Observed)
}

// Provenance is "observed" or "modelled": see Transition.Provenance.
func Provenance(observed bool) string {
	if observed {
		return "observed"
	}
	return "modelled"
}

// String writes the move as a line for a person, in UTC.
func (t *Transition) String() string { return t.Line(words.Zone{}) }

// Line writes the move as a line for a person, with times in that zone.
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
			s += "  [no plugin: an error]"
		}
	}
	if t.To == queue.Backoff && !t.BackoffExpiry.IsZero() {
		s += "  until " + zone.Clock(t.BackoffExpiry)
	}
	if t.To == queue.Scheduled && t.Pod.Node != "" {
		s += "  " + t.Pod.Node
	}
	if t.Attempts > 0 {
		s += "  " + words.Times(t.Attempts, "attempt")
	}
	return s
}

// Transition is one move in a session's history.
type Transition struct {
	queue.Transition
	// Seq is its number in the history, from 0.
	Seq int
	// Pod is the pod right after the move. Its Last is this transition.
	Pod *Pod

	Change int // its number among the history's changes

	// prev is the same pod's move before this one, as long as it is in memory, and prevSeq its number plus one, or 0 if there
	// is none.
	prev    atomic.Pointer[Transition]
	prevSeq int
	past    Past
}

// Past finds moves that are not in memory any more.
type Past interface {
	// Move returns the move of that number, or nil if it can't be had. Any goroutine may call it.
	Move(seq int) *Transition
}

// Prev returns the same pod's move before this one, or nil if there is none or it is forgotten.
func (t *Transition) Prev() *Transition {
	if prev := t.prev.Load(); prev != nil || t.past == nil || t.prevSeq == 0 {
		return prev
	}
	return t.past.Move(t.prevSeq - 1)
}

// Follow makes prev, which may be nil, the same pod's move before t.
func (t *Transition) Follow(prev *Transition) {
	if t.prev.Store(prev); prev != nil {
		t.prevSeq = prev.Seq + 1
	}
}

// PrevSeq returns the number of the same pod's move before t, and false if there is none.
func (t *Transition) PrevSeq() (int, bool) { return t.prevSeq - 1, t.prevSeq > 0 }

// FollowIn makes the move of that number in past the same pod's move before t.
func (t *Transition) FollowIn(past Past, seq int) { t.past, t.prevSeq = past, seq+1 }

// KeepIn says where moves before t are found once they are not in memory. It must be said before t is handed out.
func (t *Transition) KeepIn(past Past) { t.past = past }

// Release lets go of the move before t, which is in the past that t is kept in.
func (t *Transition) Release() { t.prev.Store(nil) }

// LastWait returns the last move by which the pod ended a wait, which may be t: one out of backoffQ, or out of the unschedulable or
// gated pods. Nil if there is none, or it is forgotten.
func (t *Transition) LastWait() *Transition {
	for ; t != nil; t = t.Prev() {
		if t.From != t.To && (t.From == queue.Backoff || t.From == queue.Unschedulable || t.From == queue.Gated) {
			return t
		}
	}
	return nil
}

// Shorten lets go of the moves before t, all but the last of them by which the pod ended a wait.
func (t *Transition) Shorten() {
	wait := t.Prev().LastWait()
	if wait != nil {
		wait.prev.Store(nil)
	}
	t.prev.Store(wait)
}

// Restated reports whether the scheduler said a second time where the pod is, and nothing moved.
func (t *Transition) Restated() bool { return t.From == t.To && t.Observed && t.To != queue.Gated }

// PutBack reports whether the model had woken the pod, and took that back because no attempt was seen.
func (t *Transition) PutBack() bool {
	return t.To == queue.Unschedulable && t.Event == "" && (t.From == queue.Active || t.From == queue.Backoff)
}

// LastOf returns the pods of moves, each as its last move left it, in the order of those.
func LastOf(moves []*Transition) []*Pod {
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
