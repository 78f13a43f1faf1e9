package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/sources"
)

// decision is what the scheduling loop does next.
type decision struct {
	do    step
	pod   *v1.Pod   // of takePod and putBack
	until time.Time // of wait
	// endsOnMove is true if the wait ends as soon as any pod moves: there may be another to take.
	endsOnMove bool
	// untried is the pod whose turn it is, if it would be seen to be tried and is not. Nil if the loop was not asked so far.
	untried *v1.Pod
	inTurn  bool // the queue was asked whose turn it is
	because reason.Cause
}

type step int

const (
	// takeNext is to take the pod whose turn it is, if there is one.
	takeNext step = iota
	// takePod is to take that pod out of its turn.
	takePod
	wait
	// putBack is to put that pod back among the unschedulable ones, and to decide anew: the model had woken it, and
	// an attempt of it would show, and does not.
	putBack
)

// decide returns what the loop does now. It changes nothing.
func (o *oracle) decide(now time.Time) decision {
	if !o.seesNodes() || o.presence.None() {
		return decision{do: wait, until: now.Add(LongestGap)} // only observed attempts are shown
	}
	if until, waits := o.awaitsAnswer(now); waits {
		return decision{do: wait, until: until}
	}
	first, last, sent := o.takenByPatch(now)
	if last && first != nil && (sent.Sub(now) <= soon || o.queue.IsNext(first)) {
		return decision{do: takePod, pod: first, because: reason.Cause{Rule: reason.ByRequests, Seen: evidence.Patched, At: sent}}
	}
	inTurn := !sent.IsZero() && (first != nil || !last) // others are tried before the pod of the next patch
	if seen := o.future.Failure(now, crowding); seen != nil && !(inTurn && seen.Kind == evidence.Patched) {
		pod, saturated := o.queue.Takeable(seen), o.channels.Saturated(now) && !o.channels.Config.AsyncAPICalls
		switch {
		case pod == nil && saturated: // the model has it elsewhere, but the loop had no time for others all the same
			return decision{do: wait, until: seen.EndedBy}
		case pod != nil && (seen.Kind == evidence.Patched && saturated || seen.EndedBy.Sub(now) <= soon):
			return decision{do: takePod, pod: pod, because: reason.ByEvidence(reason.ByFailure, seen)}
		}
	}
	return o.upcoming(now)
}

// awaitsAnswer reports whether the loop waits for the answer to the patch of a pod's status, and until when
// (schedule_one.go, handleSchedulingFailure). Schedulers that make their API calls beside the loop never do.
func (o *oracle) awaitsAnswer(now time.Time) (until time.Time, waits bool) {
	if o.channels.Config.AsyncAPICalls {
		return until, false
	}
	ended := o.tried.Writer(now, channels.AttemptSlack, o.nodes())
	patch := o.future.PatchUnderWay(now, writePatience, channels.AttemptSlack, o.channels.Saturated(now), ended)
	if patch == nil {
		return until, false
	}
	return patch.Time.Add(answerDelay), true
}

// takenByPatch returns the pods that the loop takes before any other whose request is sent later than sent, which is the
// next patch of a status, where the requests of the scheduler's client wait for each other: they are sent in the order in
// which they were made, and the loop waits for its patch. So it places the pods whose bindings are sent before that, then
// its attempt of the patch's pod fails, behind others in their turn whose attempts write nothing. first is the first of them,
// and last is true if that is the patch's. first is nil if no patch is seen, or none of the pods can be taken.
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

// waitingPatch returns the patch of a status that is sent next, if the scheduler's loop waits for its patches and that one
// had waited for the client's rate limit. Otherwise it returns nil, as where a log tells when each attempt ended.
func (o *oracle) waitingPatch(now time.Time) *evidence.Observation {
	if o.channels.Config.AsyncAPICalls || o.channels.Logged() {
		return nil
	}
	if patch := o.future.NextPatch(now, bindPatience); patch != nil && patch.RateLimited {
		return patch
	}
	return nil
}

// upcoming decides by the queue alone. The loop takes the pod whose turn it is, unless that is held (see heldUntil): then it
// waits, up to writePatience; after that the pod is not in the real queue, and the loop takes others. Pods for which no scheduler
// is there have no turn.
func (o *oracle) upcoming(now time.Time) decision {
	held, next, passed := 0, time.Time{}, false
	does := decision{do: takeNext, inTurn: true}
	for pod := range o.queue.Upcoming() {
		if !o.presence.Works(pod) {
			passed = true
			continue
		}
		until, is, because := o.heldUntil(now, pod)
		if !is && held > 0 && !o.presence.passesOver(now) {
			break
		}
		switch {
		case !is && (held > 0 || passed):
			does.do, does.pod, does.because = takePod, pod, reason.Cause{Rule: reason.OutOfOrder, At: o.channels.Horizon(now, pod)}
			return does
		case !is:
			does.because = because
			return does
		case until.Sub(now) == channels.Foresight && o.queue.FailedBefore(pod) && !cluster.MayHaveDevices(pod) && o.channels.Idle(now):
			return decision{do: putBack, pod: pod, because: reason.Cause{Rule: reason.NotTried, At: until}} // the loop would have taken it by then
		case held == 0 || until.Before(next):
			next = until
		}
		if held == 0 && until.Equal(o.channels.Horizon(now, pod)) {
			does.untried = pod
		}
		held++
		// An attempt that is as near as that is the next one: the loop was held up. So it was if nothing can have woken
		// the pod only now.
		heldUp := until.Sub(now) < o.longestWork() || until.Before(o.channels.Horizon(now, pod)) && !o.mayWakeBy(now, until)
		if heldUp || held == upcomingLimit {
			break
		}
	}
	if held == 0 && !passed {
		return does
	}
	if does.do, does.until, does.endsOnMove = wait, next, true; held == 0 {
		does.until = now.Add(LongestGap)
	}
	return does
}

// longestWork returns how long it takes at the most from one attempt to what shows of the next, while the loop is at work.
func (o *oracle) longestWork() time.Duration { return max(patchSlack, o.pace.Longest()) }

// share returns the time that an attempt which begins now has if the loop makes others, in their turn, before the next one that is
// observed: an equal part of the time until then. If nothing is, or nothing that tells when, or the time is so short that the real
// order of pods must be another, it has all time.
func (o *oracle) share(now time.Time) time.Duration {
	seen, before := o.queue.NextSeen(o.future, now, crowding, upcomingLimit, func(pod *v1.Pod) bool { return o.channels.Silence(now, pod) == reason.Conclusive })
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

// heldUntil reports whether the loop leaves pod alone now although it could take it, and until when at least. It does
// where an attempt would show and none is seen: then the real loop made none. Otherwise it returns why the loop takes it.
func (o *oracle) heldUntil(now time.Time, pod *v1.Pod) (until time.Time, held bool, because reason.Cause) {
	turn := reason.Cause{Rule: reason.InOrder, Silence: o.channels.Silence(now, pod)}
	if turn.Silence != reason.Conclusive {
		return until, false, turn
	}
	horizon := o.channels.Horizon(now, pod)
	if at, ok := o.future.NextStart(pod.UID, now, horizon.Sub(now)); ok {
		return at, at.After(now), reason.Cause{Rule: reason.InOrder, Seen: evidence.Started, At: at}
	}
	// A patch without an Event shows an attempt too: the recorder may have known an older version of the pod.
	claimedAt, claimed := o.preBind.ClaimedAt(now, pod)
	if seen := o.future.Attempt(pod.UID, now, horizon.Sub(now)); seen != nil && !(claimed && claimedAt.Before(seen.EndedBy)) {
		if seen.Kind == evidence.BindingFailed {
			return until, false, reason.ByEvidence(reason.InOrder, seen) // whenever it was placed
		}
		until = seen.EndedBy.Add(-soon)
		return until, until.After(now), reason.ByEvidence(reason.InOrder, seen)
	}
	if o.preBind.AwaitsVolume(pod) {
		return until, false, turn // what it comes to may show in minutes
	}
	if claimed {
		return claimedAt.Add(-soon), claimedAt.Sub(now) > soon, turn
	}
	if o.preBind.Device(now, pod) != nil {
		return until, false, turn
	}
	return horizon, true, turn
}

// untried reports whether the real loop has left pod alone although it could take it: an attempt made now would show,
// and none is seen.
func (o *oracle) untried(now time.Time, pod *v1.Pod) bool {
	silence := o.channels.Silence(now, pod)
	return (silence == reason.Conclusive || silence == reason.Late) && o.preBind.Device(now, pod) == nil && o.future.Attempt(pod.UID, now, o.channels.Horizon(now, pod).Sub(now)) == nil
}

// insteadOf returns what the real loop did now in place of attempt a, or takeNext if a may stand. Under load the model's order of pods
// comes to differ from the real one's. So an attempt that would have shown and does not gives way to the next failure that shows. It
// changes nothing.
func (o *oracle) insteadOf(now time.Time, a *cycle.Attempt) (stands decision) {
	if a.Skipped || !o.channels.Requests {
		return stands
	}
	if a.Binding != nil {
		if pod, _, sent := o.takenByPatch(now); pod != nil && pod.UID != a.Pod.UID && o.placesAfter(now, sent, a.Pod) {
			return decision{do: takePod, pod: pod, because: reason.Cause{Rule: reason.ByRequests, Seen: evidence.Patched, At: sent}}
		}
	}
	within := channels.AttemptSlack
	if o.channels.Saturated(now) {
		within = crowding
	}
	seen := o.future.Failure(now, within)
	if seen == nil {
		return stands
	}
	pod := o.queue.Takeable(seen)
	if pod == nil || pod.UID == a.Pod.UID || o.agreesWithSeen(now, a) {
		return stands
	}
	return decision{do: takePod, pod: pod, because: reason.ByEvidence(reason.Replacement, seen)}
}

// placesAfter reports whether pod is seen to be bound by a request that is sent after that moment, and so was placed after that: a
// binding is sent as soon as its pod is placed (schedule_one.go, runBindingCycle), unless others have to provide something first.
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

// agreesWithSeen reports whether the next trace of attempt a's pod fits the outcome of a, which ends now: its binding, its
// patch, or neither where it writes nothing.
func (o *oracle) agreesWithSeen(now time.Time, a *cycle.Attempt) bool {
	if a.Binding != nil {
		return o.seesBinding(now, a.Pod)
	}
	if cluster.StatusUnchanged(a.Pod, a.Message, a.Nominated) {
		return true // nothing is written
	}
	if o.channels.Config.AsyncAPICalls && o.future.Patches(a.Pod.UID, now, writePatience) {
		return true // it may have waited, and have taken the next one in (api_calls/pod_status_patch.go, v1.34, Merge)
	}
	return o.patch(now, a.Pod.UID, "") != nil || !o.channels.WatchesPods(now)
}

// seesDeletion reports whether the victim with that UID is seen to be deleted within writePatience from now. Where
// the source does not tell the scheduler's requests, or can't hear of pods, it is always true.
func (o *oracle) seesDeletion(now time.Time, victim types.UID) bool {
	return !o.channels.Requests || !o.channels.WatchesPods(now) || o.future.PodEnds(victim, now, writePatience)
}

// failsAt returns when attempt a, which begins now, is seen to fail, and uses that sighting up. It returns
// false if no failure is seen within channels.AttemptSlack.
func (o *oracle) failsAt(now time.Time, a *cycle.Attempt) (time.Time, bool) {
	within := channels.AttemptSlack
	switch {
	case o.channels.LogsStarts():
		within = bindPatience // however long it took: the loop makes one attempt at a time
	case len(a.Evictions) > 0:
		within = writePatience
	}
	seen := o.future.Event(a.Pod.UID, now, within)
	if seen == nil {
		return time.Time{}, false
	}
	seen.Used = true
	return seen.Time, true
}

// patchedAt returns when the API server answered the patch of the pod's status that is made now, and uses that
// sighting up. It returns now if it is known that none was made, and the argument otherwise if the source does not
// tell the scheduler's requests, or can't hear of pods and none is seen. message is what the attempt failed with, if that was observed
// now, and else empty.
func (o *oracle) patchedAt(now time.Time, uid types.UID, message string, otherwise time.Time) time.Time {
	if !o.channels.Requests {
		return otherwise
	}
	if seen := o.patch(now, uid, message); seen != nil {
		seen.Used = true
		return seen.Time
	}
	if !o.channels.WatchesPods(now) {
		return otherwise
	}
	if o.patchOutlasts(now) {
		return o.channels.Until
	}
	return now
}

// patchOutlasts reports whether a patch that is made now and has no trace may be sent after the end of the source: while requests
// wait for the rate limit, the loop waits for its patch and makes no other attempt.
func (o *oracle) patchOutlasts(now time.Time) bool {
	return !o.channels.Config.AsyncAPICalls && !o.channels.Logged() && o.channels.Saturated(now) &&
		o.channels.Until.Sub(now) < bindPatience && o.future.NextPatch(now, bindPatience) == nil
}

// bindingOutlasts reports whether a binding that the model has answered then may come after the end of the source: requests wait for
// the rate limit, and not all of them leave a trace.
func (o *oracle) bindingOutlasts(now, then time.Time) bool {
	return o.channels.Saturated(now) && o.channels.Until.Before(then.Add(patchPatience))
}

// patch returns the sighting of the patch that an attempt of that pod makes which ends now, or nil if none is seen. message is as
// in patchedAt.
func (o *oracle) patch(now time.Time, uid types.UID, message string) *evidence.Observation {
	if next := o.waitingPatch(now); next != nil {
		if next.UID != uid {
			return nil
		}
		return next
	}
	if message != "" {
		seen := o.future.Patch(uid, now, writePatience, true)
		if seen != nil && seen.ConditionMessage == message && !o.queue.PlacesOthers(o.future, now, seen.EndedBy) {
			return seen // the loop waits for it, however late it is sent
		}
	}
	late := o.channels.Saturated(now) || o.channels.Config.AsyncAPICalls
	seen := o.future.Patch(uid, now, writePatience, late)
	if seen != nil && (!late && seen.EndedBy.Sub(now) > patchSlack || late && o.comesLater(now, seen)) {
		return nil // it is that of an attempt to come
	}
	return seen
}

// comesLater reports whether patch is of an attempt to come: a pod is placed before it is sent that has yet to come or to be woken, and
// while the loop waits for the answer to a patch it places none (schedule_one.go, v1.33, handleSchedulingFailure). Where all requests are
// told, that is known of those that wait by their order (see waitingPatch).
func (o *oracle) comesLater(now time.Time, patch *evidence.Observation) bool {
	return !o.channels.Config.AsyncAPICalls && !o.channels.Exact && o.queue.PlacesOthers(o.future, now, patch.EndedBy)
}

// mayWakeBy reports whether the scheduler hears, between now and until, of a change that may wake pods, or may do so unseen.
func (o *oracle) mayWakeBy(now, until time.Time) bool {
	return o.wakeComing() || !o.channels.Gaps.WorkingExcept(now, until.Sub(now), sources.EventsWatch, sources.LeasesWatch) || o.future.WakesWithin(now, until.Sub(now))
}
