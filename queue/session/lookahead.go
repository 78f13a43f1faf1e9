package session

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// What a shadow makes of what the source tells next.

// Of the requests that the real scheduler's client lets through at its rate limit, this share shows at the least: what
// becomes of victims does not show to be its doing. And this few are left when they begin to wait for each other.
const (
	shownShare = 0.8
	fewLeft    = 10
)

// requested notes a request of the real scheduler.
func (s *shadow) requested(now time.Time) {
	s.limiter.AllowN(now, 1)
	if s.saturated(now) {
		s.strained = now
	}
}

// saturated reports whether the real scheduler has made nearly as many requests as its client's rate limit lets it,
// all at once or in the long run: then they wait for each other, and with them the loop.
func (s *shadow) saturated(now time.Time) bool { return s.limiter.TokensAt(now) < fewLeft }

// sign is what shows of an attempt of a pod: it was over by then, and placed the pod or failed.
type sign struct {
	pod   types.NamespacedName
	uid   types.UID
	by    time.Time
	bound bool
	// patched is true if only the patch shows it, for which the client's rate limit may have kept it waiting.
	patched bool
}

// signOf returns ev as the sign of an attempt that the model has not had, and false if it is none.
func (s *shadow) signOf(ev sources.Event) (sign, bool) {
	switch f := ev.Fact.(type) {
	case *sources.FailedAttempt:
		return sign{pod: f.Pod, uid: f.UID, by: ev.Time}, !s.ended[f]
	case *sources.StatusPatched:
		seen := sign{pod: f.Pod, uid: f.UID, by: sentAt(ev.Time, f), patched: true}
		return seen, !s.claimed[f] // else its attempt is over, and this only its patch
	case *sources.ObjectChange:
		if pod, ok := f.Object.(*v1.Pod); ok && pod.Spec.NodeName != "" {
			return sign{uid: pod.UID, by: ev.Time, bound: true}, true
		}
	}
	return sign{}, false
}

// next returns the first attempt that is seen to have failed from now to now and within, and its pod: nil if
// the loop could not take it.
func (s *shadow) next(now time.Time, within time.Duration) (sign, *v1.Pod, bool) {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > within {
			break
		}
		seen, ok := s.signOf(ev)
		if !ok || seen.bound || seen.by.Before(now) {
			continue
		}
		info, ok := s.driver.queue.Get(seen.pod.Namespace, seen.pod.Name)
		if !ok || info.Pod.UID != seen.uid || !s.poppable(info.Tier) {
			return seen, nil, true
		}
		return seen, info.Pod, true
	}
	return sign{}, nil, false
}

// takes implements driven: an attempt that was seen to fail so soon is the next one. If the model has its
// pod elsewhere, the loop had no time for others all the same.
func (s *shadow) takes(now time.Time) (*v1.Pod, time.Time) {
	s.holds = false
	if until, ok := s.patching(now); ok {
		return nil, until
	}
	seen, pod, ok := s.next(now, crowding)
	switch {
	case !ok:
	case pod == nil && s.saturated(now):
		return nil, seen.by
	case pod != nil && (seen.patched && s.saturated(now) || seen.by.Sub(now) <= 2*attemptTime):
		return pod, time.Time{}
	}
	return s.upcoming(now)
}

// shortestRequest is how long requests to the API server take at the least: see requestTime.
const shortestRequest = 3 * time.Millisecond

// sentAt returns when the API server had the request of a patch that was answered at answered: where that is not
// told, by when it must have had it.
func sentAt(answered time.Time, f *sources.StatusPatched) time.Time {
	if f.Sent.IsZero() {
		return answered.Add(-shortestRequest)
	}
	return f.Sent
}

// patching reports whether the loop waits at now for the answer to a patch that is seen, and until when.
func (s *shadow) patching(now time.Time) (time.Time, bool) {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > writePatience {
			break
		}
		f, ok := ev.Fact.(*sources.StatusPatched)
		if !ok || !ev.Time.After(now) {
			continue
		}
		sent := sentAt(ev.Time, f)
		last, ok := s.tried[f.UID]
		if !sent.After(now) || ok && now.Sub(last.at) < lookahead && sent.Sub(now) < lookahead {
			return ev.Time.Add(answerDelay), true
		}
	}
	return time.Time{}, false
}

// Where attempts follow each other so closely that the next one seen is this near, each of them shows but
// those that write nothing.
const crowding = 60 * time.Millisecond

// doubts implements driven. Under load the model's order of pods comes to differ from the real one's. An
// attempt that would have shown, by a patch or a binding, and does not, is taken back in favour of the
// next one that shows.
func (s *shadow) doubts(now time.Time, a *cycle.Attempt) *v1.Pod {
	if a.Skipped || !s.tells {
		return nil
	}
	instead := s.bindsNext(now)
	if a.Binding == nil || instead == nil || instead.UID == a.Pod.UID || s.binds(now, a) {
		within := lookahead
		if s.saturated(now) {
			within = crowding
		}
		_, pod, _ := s.next(now, within)
		if pod == nil || pod.UID == a.Pod.UID || s.shows(now, a) {
			return nil
		}
		instead = pod
	}
	d := s.driver
	d.sched.Undo(a)
	from := s.told[len(s.told)-1].From // of the pop
	s.told = s.told[:len(s.told)-1]
	d.queue.Unpop(a.Pod.UID, from)
	return instead
}

// bindsNext returns the first pod that is bound so soon that its attempt can begin now, if the loop can
// take it.
func (s *shadow) bindsNext(now time.Time) *v1.Pod {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > crowding {
			break
		}
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod, ok := c.Object.(*v1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			continue
		}
		if info, ok := s.driver.queue.Get(pod.Namespace, pod.Name); ok && info.Pod.UID == pod.UID && s.poppable(info.Tier) {
			return info.Pod
		}
	}
	return nil
}

// shows reports whether attempt a agrees with what the source shows.
func (s *shadow) shows(now time.Time, a *cycle.Attempt) bool {
	if a.Binding == nil {
		c := unscheduled(a.Pod)
		if c != nil && c.Message == a.Message && (a.Nominated == "" || a.Nominated == a.Pod.Status.NominatedNodeName) {
			return true // nothing is written
		}
		return s.patchOf(now, a.Pod) != nil
	}
	return s.binds(now, a)
}

// binds implements driven.
func (s *shadow) binds(now time.Time, a *cycle.Attempt) bool {
	if !s.tells {
		return true
	}
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > writePatience {
			return false
		}
		if c, ok := ev.Fact.(*sources.ObjectChange); ok {
			pod, ok := c.Object.(*v1.Pod)
			switch {
			case !ok || pod.UID != a.Pod.UID:
			case pod.Spec.NodeName != "":
				return true
			case c.Verb == sources.Deleted: // a binding under way would have shown by then
				return ev.Time.Sub(now) <= crowding
			}
		}
	}
	return false
}

// lookahead is how long an attempt may have taken longer than the model's would.
const lookahead = 15 * time.Millisecond

// endsAt implements driven: when the attempt of pod that begins now was seen to fail.
func (s *shadow) endsAt(now time.Time, pod *v1.Pod) (time.Time, bool) {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > lookahead {
			break
		}
		if f, ok := ev.Fact.(*sources.FailedAttempt); ok && f.UID == pod.UID && !ev.Time.Before(now) && !s.ended[f] {
			s.ended[f] = true
			return ev.Time, true
		}
	}
	return time.Time{}, false
}

// patchedAt implements driven.
func (s *shadow) patchedAt(now time.Time, pod *v1.Pod, until time.Time) time.Time {
	if !s.tells {
		return until
	}
	if i := s.patchOf(now, pod); i != nil {
		s.claimed[i.Fact.(*sources.StatusPatched)] = true
		return i.Time
	}
	return now
}

// patchOf returns the patch of pod's status that an attempt which ends now makes, or nil. The loop waits for
// its answer, so nothing is seen of the next attempt before.
func (s *shadow) patchOf(now time.Time, pod *v1.Pod) *sources.Event {
	late := s.saturated(now)
	for i := range s.ahead {
		ev := &s.ahead[i]
		if ev.Time.Sub(now) > writePatience {
			break
		}
		switch f := ev.Fact.(type) {
		case *sources.StatusPatched:
			switch {
			case s.claimed[f]:
			case f.UID == pod.UID:
				return ev
			case !late && !sentAt(ev.Time, f).Before(now):
				return nil
			}
		case *sources.FailedAttempt:
			if (f.UID == pod.UID || !late) && ev.Time.After(now) && !s.ended[f] {
				return nil
			}
		}
	}
	return nil
}

// ends implements driven.
func (s *shadow) ends(now time.Time, victim *v1.Pod) bool {
	if !s.tells {
		return true
	}
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > writePatience {
			break
		}
		if c, ok := ev.Fact.(*sources.ObjectChange); ok {
			if pod, ok := c.Object.(*v1.Pod); ok && pod.UID == victim.UID && (pod.DeletionTimestamp != nil || c.Verb == sources.Deleted) {
				return true
			}
		}
	}
	return false
}
