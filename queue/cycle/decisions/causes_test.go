package decisions

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle"
)

// The causes of differences, as docs/development/accuracy.md has them. Each is found by asking the model again over
// the state that the cause says the real scheduler may have had.
const (
	// The scheduler writes a handler's line before it takes the change in, and "Attempting to schedule
	// pod" before it looks at the state.
	causeMeanwhile = "A change arrived at the start of the attempt, or during it"
	// A claim's, a volume's: only an estimate says when it was heard.
	causeUntold = "No log line shows when a change arrived"
	// Plugins read claims from the informer's store, which is ahead of the handlers that write the lines.
	causeStore = "A claim was in the informer's store before its log line"
)

const (
	// race is how long before an attempt a line may be whose change the attempt does not see.
	race = 200 * time.Microsecond
	// untoldWindow is how wrong the estimate may be of when a change was heard.
	untoldWindow = 50 * time.Millisecond
)

// earlier is the verdict over the state before a change.
type earlier struct {
	cycle.Verdict
	cause string
}

// lookBefore keeps, if an attempt is near, its verdict without the next change.
func (r *replayer) lookBefore() {
	h := r.heard[0]
	window, cause := race, causeMeanwhile
	if !h.told {
		window, cause = untoldWindow, causeUntold
	}
	for i := h.line; i < len(r.log) && r.between(h.line, i) < window; i++ {
		l := &r.log[i]
		if pod := r.pods[l.pod]; l.says == attempting && pod != nil && (h.told || hasVolumes(pod)) {
			r.earlier[i] = append(r.earlier[i], earlier{r.judge(pod), cause})
		}
	}
}

// hasVolumes reports whether pod needs anything whose changes the log may not tell.
func hasVolumes(pod *v1.Pod) bool { return len(pod.Spec.Volumes)+len(pod.Spec.ResourceClaims) > 0 }

// cause returns the cause of a difference, or "" if there is none of those that are known. The changes
// that may explain it are heard from now on.
func (r *replayer) cause(a *attempt) string {
	for _, e := range r.earlier[a.line] {
		if a.same(e.Verdict) {
			return e.cause
		}
	}
	for i := 0; i < len(r.heard) && r.between(a.real.line, r.heard[i].line) < untoldWindow; {
		h := r.heard[i]
		_, isClaim := h.Object.(*v1.PersistentVolumeClaim)
		var cause string
		switch {
		case h.line <= a.real.line && h.told:
			cause = causeMeanwhile
		case !h.told:
			cause = causeUntold
		case isClaim:
			cause = causeStore
		default:
			i++ // it was heard later
			continue
		}
		r.hear(h)
		r.heard = slices.Delete(r.heard, i, i+1)
		if a.same(r.judge(a.pod)) {
			return cause
		}
	}
	return ""
}

// between returns the time from one line to another.
func (r *replayer) between(from, to int) time.Duration { return r.log[to].at.Sub(r.log[from].at) }
