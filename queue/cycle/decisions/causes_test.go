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
	causeEstimated = "No log line shows when a change arrived"
	// Plugins read claims from the informer's store, which is ahead of the handlers that write the lines.
	causeStore = "A claim was in the informer's store before its log line"
)

const (
	// race is the maximum time between the line of a change and a later attempt that does not see the change.
	race = 200 * time.Microsecond
	// estimateError is the maximum error of an estimated arrival.
	estimateError = 50 * time.Millisecond
)

// earlier is the verdict on the state before a change.
type earlier struct {
	cycle.Verdict
	cause string
}

// judgeBefore records the verdict without the next change if an attempt is near.
func (r *replayer) judgeBefore() {
	h := r.arrivals[0]
	window, cause := race, causeMeanwhile
	if !h.inLog {
		window, cause = estimateError, causeEstimated
	}
	for i := h.line; i < len(r.log) && r.between(h.line, i) < window; i++ {
		l := &r.log[i]
		if pod := r.pods[l.pod]; l.kind == attempting && pod != nil && (h.inLog || hasVolumes(pod)) {
			r.earlier[i] = append(r.earlier[i], earlier{r.judge(pod), cause})
		}
	}
}

// hasVolumes reports whether pod uses objects whose changes the log may not contain.
func hasVolumes(pod *v1.Pod) bool { return len(pod.Spec.Volumes)+len(pod.Spec.ResourceClaims) > 0 }

// cause returns the known cause of a difference, or "". It applies the changes that may explain the
// difference.
func (r *replayer) cause(a *attempt) string {
	for _, e := range r.earlier[a.line] {
		if a.same(e.Verdict) {
			return e.cause
		}
	}
	for i := 0; i < len(r.arrivals) && r.between(a.real.line, r.arrivals[i].line) < estimateError; {
		h := r.arrivals[i]
		_, isClaim := h.Object.(*v1.PersistentVolumeClaim)
		var cause string
		switch {
		case h.line <= a.real.line && h.inLog:
			cause = causeMeanwhile
		case !h.inLog:
			cause = causeEstimated
		case isClaim:
			cause = causeStore
		default:
			i++ // it arrived later
			continue
		}
		r.apply(h)
		r.arrivals = slices.Delete(r.arrivals, i, i+1)
		if a.same(r.judge(a.pod)) {
			return cause
		}
	}
	return ""
}

// between returns the time between two lines.
func (r *replayer) between(from, to int) time.Duration { return r.log[to].at.Sub(r.log[from].at) }
