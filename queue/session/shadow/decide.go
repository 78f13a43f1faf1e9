package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/sources"
)

// decision is what the scheduling loop does next.
type decision struct {
	do    step
	pod   *v1.Pod   // for takePod and putBack
	until time.Time // for wait
	// endsOnMove is true if the wait ends as soon as any pod moves, since the loop may then take
	// another pod.
	endsOnMove bool
	// inOrder is true if the decision follows from the queue's order. Then unseen is the next pod in
	// the queue if an attempt of it would leave a trace and none is observed.
	inOrder bool
	unseen  *v1.Pod
	because reason.Cause
}

type step int

const (
	// takeNext takes the next pod in the queue, if there is one.
	takeNext step = iota
	// takePod takes a particular pod, out of order.
	takePod
	wait
	// putBack moves a particular pod back to the unschedulable pods and decides again: the model
	// woke the pod, but an attempt of it would leave a trace and there is none.
	putBack
)

// decide returns what the loop does now. It does not change o.
func (o *oracle) decide(now time.Time) decision {
	if !o.seesNodes() || o.presence.None() {
		// Make no attempts other than observed ones.
		return decision{do: wait, until: now.Add(LongestGap)}
	}
	if until, waits := o.awaitsAnswer(now); waits {
		return decision{do: wait, until: until}
	}
	first, last, sent := o.takenByPatch(now)
	if last && first != nil && (sent.Sub(now) <= soon || o.queue.IsNext(first)) {
		return decision{do: takePod, pod: first, because: reason.Cause{Rule: reason.ByRequests, Seen: evidence.Patched, At: sent}}
	}
	othersFirst := !sent.IsZero() && (first != nil || !last)
	if seen := o.future.Failure(now, crowding); seen != nil && !(othersFirst && seen.Kind == evidence.Patched) {
		pod, saturated := o.queue.Takeable(seen), o.channels.Saturated(now) && !o.channels.Config.AsyncAPICalls
		switch {
		case pod == nil && saturated:
			// The model's queue differs, but the loop still had no time for other pods.
			return decision{do: wait, until: seen.EndedBy}
		case pod != nil && (seen.Kind == evidence.Patched && saturated || seen.EndedBy.Sub(now) <= soon):
			return decision{do: takePod, pod: pod, because: reason.ByEvidence(reason.ByFailure, seen)}
		}
	}
	return o.upcoming(now)
}

// awaitsAnswer reports whether the loop waits for the answer to the patch of a pod's status, and
// until when (schedule_one.go, handleSchedulingFailure). Schedulers with asynchronous API calls
// never wait.
func (o *oracle) awaitsAnswer(now time.Time) (until time.Time, waits bool) {
	if o.channels.Config.AsyncAPICalls {
		return until, false
	}
	ended := o.tried.Writer(now, evidence.AttemptSlack, o.nodes())
	patch := o.future.PatchUnderWay(now, writePatience, evidence.AttemptSlack, o.channels.Saturated(now), ended)
	if patch == nil {
		return until, false
	}
	return patch.Time.Add(answerDelay), true
}

// takenByPatch returns the first pod that the loop must take before the next status patch is sent,
// while requests wait for the client's rate limit. sent is when that patch is sent at the latest. Requests are
// sent in the order in which they were made, and the loop waits for the answer to its patch. So the
// loop first places the pods whose bindings are sent before the patch. Then its attempt of the
// patch's pod fails, after other pods, in queue order, whose attempts write nothing. last is true
// if first is the pod of the patch. first is nil if no patch is observed or the loop can take none
// of these pods.
func (o *oracle) takenByPatch(now time.Time) (first *v1.Pod, last bool, sent time.Time) {
	patch := o.waitingPatch(now)
	if patch == nil {
		return nil, false, sent
	}
	if pod, come := o.queue.PlacedBefore(o.future, now, patch.EndedBy); pod != nil || !come {
		return pod, false, patch.EndedBy
	}
	return o.queue.Takeable(patch), true, patch.EndedBy
}

// waitingPatch returns the next status patch to be sent, if the loop waits for its patches and this
// one was delayed by the client's rate limit. Otherwise it returns nil, also if a log contains the
// end of each attempt.
func (o *oracle) waitingPatch(now time.Time) *evidence.Observation {
	if o.channels.Config.AsyncAPICalls || o.channels.Logged() {
		return nil
	}
	if patch := o.future.NextPatch(now, bindPatience); patch != nil && patch.RateLimited {
		return patch
	}
	return nil
}

// upcoming decides by the queue alone. The loop takes the next pod unless that is held (see
// heldUntil). If it is held, the loop waits until presence.passesOver reports that the pod can't be
// in the real queue, and then takes others. Pods for which no scheduler is at work are skipped.
func (o *oracle) upcoming(now time.Time) decision {
	nHeld, next, skipped := 0, time.Time{}, false
	does := decision{do: takeNext, inOrder: true}
	for pod := range o.queue.Upcoming() {
		if !o.presence.Works(pod) {
			skipped = true
			continue
		}
		until, held, because := o.heldUntil(now, pod)
		if !held && nHeld > 0 && !o.presence.passesOver(now) {
			break
		}
		switch {
		case !held && (nHeld > 0 || skipped):
			does.do, does.pod, does.because = takePod, pod, reason.Cause{Rule: reason.OutOfOrder, At: o.channels.Horizon(now, pod)}
			return does
		case !held:
			does.because = because
			return does
		case until.Sub(now) == evidence.Foresight && o.queue.FailedBefore(pod) && !cluster.MayHaveDevices(pod) && o.channels.Idle(now):
			// The real loop would have taken pod by then.
			return decision{do: putBack, pod: pod, because: reason.Cause{Rule: reason.NotTried, At: until}}
		case nHeld == 0 || until.Before(next):
			next = until
		}
		if nHeld == 0 && until.Equal(o.channels.Horizon(now, pod)) {
			does.unseen = pod
		}
		nHeld++
		// If an attempt is this near, it is the next one: the loop was held up. The loop was also
		// held up if nothing can have woken the pod just now.
		heldUp := until.Sub(now) < o.longestWork() || until.Before(o.channels.Horizon(now, pod)) && !o.mayWakeBy(now, until)
		if heldUp || nHeld == upcomingLimit {
			break
		}
	}
	if nHeld == 0 && !skipped {
		return does
	}
	if does.do, does.until, does.endsOnMove = wait, next, true; nHeld == 0 {
		does.until = now.Add(LongestGap)
	}
	return does
}

// longestWork limits the time from one attempt until the next one leaves a trace, while the loop
// has work.
func (o *oracle) longestWork() time.Duration { return max(patchSlack, o.pace.Longest()) }

// share limits the duration of an attempt that begins now, given the attempts that the loop makes
// in queue order before the next observed one: each gets an equal part of the time until then.
// There is no limit (LongestGap) if no attempt is observed, if the observation does not show when
// the attempt ends, or if the time is so short that the real order of pods must differ.
func (o *oracle) share(now time.Time) time.Duration {
	seen, before := o.queue.NextSeen(o.future, now, crowding, upcomingLimit, func(pod *v1.Pod) bool { return o.channels.Silence(now, pod) == evidence.Conclusive })
	switch {
	case seen == nil:
		return LongestGap
	case seen.Kind != evidence.Failed && (o.channels.Config.AsyncAPICalls || seen.RateLimited || !seen.HasSendTime()):
		return LongestGap
	}
	part := seen.EndedBy.Sub(now) / time.Duration(before+2)
	if part < o.pace.Attempt(attemptTime)/mostHaste {
		return LongestGap
	}
	return part
}

// heldUntil reports whether the loop leaves pod alone now although it could take it, and until when
// at least. It does if an attempt would leave a trace and none is observed: then the real loop made
// no attempt. Otherwise heldUntil returns the reason why the loop takes the pod.
func (o *oracle) heldUntil(now time.Time, pod *v1.Pod) (until time.Time, held bool, because reason.Cause) {
	turn := reason.Cause{Rule: reason.InOrder, Silence: o.channels.Silence(now, pod)}
	if turn.Silence != evidence.Conclusive {
		return until, false, turn
	}
	horizon := o.channels.Horizon(now, pod)
	if at, ok := o.future.NextStart(pod.UID, now, horizon.Sub(now)); ok {
		return at, at.After(now), reason.Cause{Rule: reason.InOrder, Seen: evidence.Started, At: at}
	}
	// A patch without an Event also shows an attempt: the event recorder may have known an older
	// version of the pod.
	claimedAt, claimed := o.preBind.ClaimedAt(now, pod)
	if seen := o.future.Attempt(pod.UID, now, horizon.Sub(now)); seen != nil && !(claimed && claimedAt.Before(seen.EndedBy)) {
		if seen.Kind == evidence.BindingFailed {
			// The binding failed: take the pod now, whenever it was really placed.
			return until, false, reason.ByEvidence(reason.InOrder, seen)
		}
		until = seen.EndedBy.Add(-soon)
		return until, until.After(now), reason.ByEvidence(reason.InOrder, seen)
	}
	if o.preBind.AwaitsVolume(pod) {
		return until, false, turn // its outcome may be visible only after minutes
	}
	if claimed {
		return claimedAt.Add(-soon), claimedAt.Sub(now) > soon, turn
	}
	if o.preBind.Device(now, pod) != nil {
		return until, false, turn
	}
	return horizon, true, turn
}

// leftAlone reports whether the real loop left pod alone although it could take it: an attempt made
// now would leave a trace, and none is observed. Unlike heldUntil, it also counts traces that may be
// late.
func (o *oracle) leftAlone(now time.Time, pod *v1.Pod) bool {
	silence := o.channels.Silence(now, pod)
	return (silence == evidence.Conclusive || silence == evidence.Late) && o.preBind.Device(now, pod) == nil && o.future.Attempt(pod.UID, now, o.channels.Horizon(now, pod).Sub(now)) == nil
}

// insteadOf returns the pod that the real loop took now instead of attempt a's, or nil if it took
// that one. Under load the model's order of pods drifts from the real order. An attempt that should
// have left a trace but did not is therefore replaced with the next observed failure. insteadOf does
// not change o.
func (o *oracle) insteadOf(now time.Time, a *cycle.Attempt) (other *v1.Pod, because reason.Cause) {
	if a.Skipped || !o.channels.Requests {
		return nil, because
	}
	if a.Binding != nil {
		if pod, _, sent := o.takenByPatch(now); pod != nil && pod.UID != a.Pod.UID && o.placesAfter(now, sent, a.Pod) {
			return pod, reason.Cause{Rule: reason.ByRequests, Seen: evidence.Patched, At: sent}
		}
	}
	within := evidence.AttemptSlack
	if o.channels.Saturated(now) {
		within = crowding
	}
	seen := o.future.Failure(now, within)
	if seen == nil {
		return nil, because
	}
	pod := o.queue.Takeable(seen)
	if pod == nil || pod.UID == a.Pod.UID || o.agreesWithSeen(now, a) {
		return nil, because
	}
	return pod, reason.ByEvidence(reason.Replacement, seen)
}

// placesAfter reports whether pod is observed to be bound by a request sent after sent, and was
// therefore placed after sent: a binding is sent as soon as its pod is placed (schedule_one.go,
// runBindingCycle), unless something must be provided for the pod first.
func (o *oracle) placesAfter(now, sent time.Time, pod *v1.Pod) bool {
	if cluster.BindsLate(pod) || cluster.MayHaveDevices(pod) {
		return false
	}
	seen := o.future.BindingOutcome(pod.UID, now, bindPatience)
	if seen != nil && !seen.HasSendTime() {
		sent = sent.Add(requestTime)
	}
	return seen != nil && seen.Placed() && seen.EndedBy.After(sent)
}

// agreesWithSeen reports whether the next trace of attempt a's pod matches the outcome of a, which
// ends now: its binding or its patch. It returns true if the attempt writes nothing, because then no
// trace can contradict it.
func (o *oracle) agreesWithSeen(now time.Time, a *cycle.Attempt) bool {
	if a.Binding != nil {
		return o.seesBinding(now, a.Pod)
	}
	if cluster.StatusUnchanged(a.Pod, a.Message, a.Nominated) {
		return true // nothing is written
	}
	if o.channels.Config.AsyncAPICalls && o.future.Patches(a.Pod.UID, now, writePatience) {
		// It may have been queued and merged with the next one (api_calls/pod_status_patch.go,
		// v1.34, Merge).
		return true
	}
	return o.patch(now, a.Pod.UID, "") != nil || !o.channels.WatchesPods(now)
}

// mayWakeBy reports whether the scheduler receives a change that may wake pods between now and
// until, or may receive one unobserved.
func (o *oracle) mayWakeBy(now, until time.Time) bool {
	return o.wakeComing() || !o.channels.Gaps.WorkingExcept(now, until.Sub(now), sources.EventsWatch, sources.LeasesWatch) || o.future.WakesWithin(now, until.Sub(now))
}
