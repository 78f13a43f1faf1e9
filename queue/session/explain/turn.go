package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
)

// Turn is how a pod's turn came: why its attempt began when it did. Its field names in JSON are stable: see
// docs/reference/outputs.md.
type Turn struct {
	// From is the tier from which the pod was popped, and Time when.
	From string    `json:"from"`
	Time time.Time `json:"time"`
	// Since is when the pod came to that tier, zero if that is unknown. Ahead counts the attempts that began between then and Time,
	// and HigherPriority those among them of pods with a higher priority. AtLeast is true if both are lower bounds.
	Since          time.Time `json:"since,omitzero"`
	Ahead          int       `json:"ahead"`
	HigherPriority int       `json:"aheadWithHigherPriority"`
	AtLeast        bool      `json:"aheadAtLeast,omitempty"`
	// Behind counts the pods that were in the tier when the pod had left it.
	Behind int `json:"behind"`
	// Provenance is "observed" if the scheduler's log shows these moves, and "modelled" otherwise.
	Provenance string `json:"provenance"`
}

// NewTurn returns the turn that the move popped ended, given the moves that are kept, oldest first, and how many pods were in the
// tier afterwards. It is nil if the pod was not popped from a queue.
func NewTurn(popped *board.Transition, moves []*board.Transition, behind int) *Turn {
	if popped.From != queue.Active && popped.From != queue.Backoff {
		return nil
	}
	t := &Turn{From: popped.From.String(), Time: popped.Time.UTC(), Behind: behind, Provenance: board.Provenance(popped.Observed)}
	entered := popped.Prev()
	if entered == nil || entered.To != popped.From {
		return t
	}
	t.Since = entered.Time.UTC()
	t.AtLeast = len(moves) == 0 || moves[0].Seq > entered.Seq+1
	from, _ := slices.BinarySearchFunc(moves, entered.Seq, func(m *board.Transition, seq int) int { return cmp.Compare(m.Seq, seq) })
	for _, m := range moves[from:] {
		if m.Seq >= popped.Seq {
			break
		}
		if m.To != queue.InFlight {
			continue
		}
		if t.Ahead++; m.Pod.Priority > popped.Pod.Priority {
			t.HigherPriority++
		}
	}
	if !entered.Observed {
		t.Provenance = Modelled
	}
	return t
}

// String says why it was the pod's turn: "popped from activeQ after 12 ms: 3 ahead (2 with a higher priority), 5 behind".
// It does not say whether that is modelled.
func (t *Turn) String() string {
	text := "popped from activeQ"
	if t.From == queue.Backoff.String() {
		text = "popped from backoffQ (activeQ was empty)"
	}
	if !t.Since.IsZero() {
		text += " after " + rounded(t.Time.Sub(t.Since))
	}
	text += ": "
	if !t.Since.IsZero() && (t.Ahead > 0 || !t.AtLeast) {
		ahead := words.AttemptCount{N: t.Ahead, AtLeast: t.AtLeast}.String() + " ahead"
		if t.Ahead == 0 {
			ahead = "none ahead"
		}
		if t.HigherPriority > 0 {
			ahead += fmt.Sprintf(" (%d with a higher priority)", t.HigherPriority)
		}
		text += ahead + ", "
	}
	if t.Behind == 0 {
		return text + "none behind"
	}
	return text + fmt.Sprintf("%d behind", t.Behind)
}

// rounded formats a duration to a tenth of a second, and below that to a millisecond.
func rounded(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return words.Short(d.Round(100 * time.Millisecond))
	}
	return words.Short(max(d, time.Millisecond).Round(time.Millisecond))
}
