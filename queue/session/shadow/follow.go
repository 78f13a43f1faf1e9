package shadow

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// This file applies observations of the real scheduler to the model: a binding, a failed attempt,
// the patch of a pod's status, a refused request, the deletion of a pod.

// follow applies what the change from old to pod shows. old is nil if the pod is new.
func (s *shadow) follow(now time.Time, old, pod *v1.Pod) {
	switch {
	case old == nil || old.Spec.NodeName != "" || old.UID != pod.UID:
	case pod.Spec.NodeName != "":
		s.applyBinding(now, old, pod)
	case !s.oracle.channels.Requests && cluster.ShowsFailedAttempt(old, pod):
		s.applyPatch(now, pod, false)
	}
}

// applyBinding applies the binding of pod. old is the pod before.
func (s *shadow) applyBinding(now time.Time, old, pod *v1.Pod) {
	if !s.oracle.channels.Exact {
		s.oracle.channels.RecordRequest(now)
	}
	s.oracle.pace.SawOther()
	s.deliverPod(now, pod, true) // otherwise an update would bring the pod back into the queue
	s.flushSeen(now, keyOf(pod))
	d := s.driver
	b := d.bindingOf(pod.UID)
	if b == nil {
		d.catchUp(now, pod, false)
		b = d.bindingOf(pod.UID)
	}
	if b != nil {
		d.dropBinding(b)
		if b.Node != pod.Spec.NodeName {
			d.Scheduler.Forget(b.Binding)
		} else {
			d.Scheduler.Confirm(b.Binding)
			_ = d.Scheduler.Writes() // what the real scheduler wrote stays
		}
	}
	s.ensureInFlight(now, old)
	d.because = reason.Cause{Rule: reason.ByOutcome, Seen: evidence.Bound, At: now}
	d.queue.Observe(now, queue.Observation{Pod: old, To: queue.Scheduled})
	s.emitMoves(now, nil)
	d.endPatchWait(pod.UID, now.Add(answerDelay))
}

// applySelectedNode handles the scheduler's choice of a node for the pod of claim: the scheduler
// has placed the pod, which waits for the volume. An empty node means that there was no choice. If
// several waiting pods use the claim, it is unknown which of them was placed.
func (s *shadow) applySelectedNode(now time.Time, claim *v1.PersistentVolumeClaim, node string) {
	d := s.driver
	if node == "" || !s.oracle.seesNodes() {
		return
	}
	var waiting []*v1.Pod
	for info := range d.queue.Pods(func(t queue.Tier) bool { return t.Queued() || t == queue.InFlight }) {
		if !cluster.HasVolume(info.Pod, claim) {
			continue
		}
		if d.bindingOf(info.Pod.UID) != nil {
			return // it is the one
		}
		waiting = append(waiting, info.Pod)
	}
	if len(waiting) == 1 {
		s.placeOn(now, waiting[0], node)
	}
}

// placeOn records that the loop placed pod on that node before now.
func (s *shadow) placeOn(now time.Time, pod *v1.Pod, node string) {
	d := s.driver
	if d.UnderWay != nil {
		d.Conclude(now)
	}
	if free := d.LoopFree; d.bindingOf(pod.UID) == nil {
		d.because = reason.Cause{Rule: reason.ByCatchingUp}
		if d.attemptOf(now, pod, true, node) != nil {
			d.Conclude(now)
		}
		d.LoopFree = free
	}
	if b := d.bindingOf(pod.UID); b != nil { // regardless of later observations
		b.Until, b.timesOut = s.oracle.preBind.Deadline(now, s.cfg, b.Pod)
	}
	s.emitMoves(now, nil)
}

// applyBound applies a binding in the scheduler's log, unless a change of the pod has already
// shown it.
func (s *shadow) applyBound(now time.Time, f *sources.Bound) {
	pod := s.objects.Pod(f.Pod)
	if pod == nil || pod.UID != f.UID || pod.Spec.NodeName != "" || f.Node == "" {
		return
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = f.Node
	c := &sources.ObjectChange{Verb: sources.Updated, Object: pod}
	s.emit(sources.Event{Time: now, Fact: c})
	s.changed(now, c)
}

// applyFailure applies the Event of a failed attempt.
func (s *shadow) applyFailure(now time.Time, f *sources.FailedAttempt) {
	if s.driver == nil {
		if s.limited { // otherwise Events arrive at once, and the source summarizes earlier ones
			s.priorAttempts.Failed(sources.Event{Time: now, Fact: f})
		}
		return
	}
	if !s.hasJustAttempted(now, f.UID, true) {
		s.deliverCause(now, f.Pod)
	}
	if pod := s.objects.Pod(f.Pod); pod != nil && cluster.Waiting(pod) && pod.UID == f.UID {
		s.applyRejection(now, pod, f.Message, f)
	}
}

// applyStart applies the start of an attempt in the scheduler's log. Whatever the loop did
// before is over.
func (s *shadow) applyStart(seen *evidence.Observation) {
	d, now := s.driver, seen.Time
	if d == nil || s.reported != nil || !s.oracle.seesNodes() || !s.oracle.channels.LogsStarts() {
		return
	}
	if a := d.UnderWay; a != nil {
		if a.Pod.UID == seen.UID {
			return
		}
		d.Conclude(now)
	}
	d.AwaitedPatch = nil
	s.deliverCause(now, seen.Pod)
	if pod := s.objects.Pod(seen.Pod); pod != nil && pod.UID == seen.UID && cluster.Waiting(pod) && d.bindingOf(pod.UID) == nil {
		d.AttemptOf(now, pod)
	}
}

// applyPatch applies the scheduler's patch of pod's condition, after which the loop continues.
// expected is true if an attempt of the model waits for that patch.
func (s *shadow) applyPatch(now time.Time, pod *v1.Pod, expected bool) {
	s.deliverPod(now, pod, false)
	d, c := s.driver, cluster.Unscheduled(pod)
	last, ok := s.oracle.tried.Last(pod.UID)
	// The patch may be late: the rate limit determined when it was sent.
	late := d.asyncAPICalls && s.oracle.channels.Saturated(now)
	since, missed := s.oracle.channels.Gaps.Missed(now, sources.PodsWatch)
	recent := ok && (now.Sub(last.At) < unexpectedPatch || late || missed && last.At.After(since.Add(-unexpectedPatch)))
	if d.asyncAPICalls && ok && c != nil && last.Message == c.Message {
		// The call waited for others and carries the last attempt's failure (api_dispatcher.go,
		// v1.34, Run).
		recent = true
	}
	if d.asyncAPICalls && last.FromEvent && c != nil && last.Message != c.Message {
		expected = false // it carries a later attempt's failure
	}
	if d.bindingOf(pod.UID) != nil && c != nil && !(s.oracle.channels.Requests && s.oracle.bindingShows(now, pod)) {
		recent, expected = false, false // from another attempt: the model placed the pod
	}
	logged := s.oracle.channels.Logged()
	if cluster.Waiting(pod) && !expected && !recent && !logged {
		s.flushSeen(now, keyOf(pod))
		message := ""
		if c != nil {
			message = c.Message
		}
		s.applyRejection(now, pod, sources.Sanitize(message), nil)
	} else if recent && !logged && c != nil && c.Reason == v1.PodReasonSchedulerError {
		s.applyError(now, pod, evidence.Patched)
	}
	if node := pod.Status.NominatedNodeName; cluster.Waiting(pod) && node != "" && node != d.queue.NominatedNode(pod.UID) {
		d.Scheduler.Renominate(now, pod, node)
		d.CollectEvictions()
	}
	s.oracle.tried.SeePatch(pod.UID)
	d.endPatchWait(pod.UID, now.Add(answerDelay))
}

// applyError records that the last attempt of pod is observed to have failed with an error. If the
// model had rejected the pod, the pod has been backing off since then, and no event could wake it.
func (s *shadow) applyError(now time.Time, pod *v1.Pod, seen evidence.Kind) {
	d := s.driver
	if s.cfg.Queue.Rules.ErrorsWait {
		return
	}
	if a := d.UnderWay; a != nil && a.Pod.UID == pod.UID {
		d.Conclude(now) // the error is that of the attempt before
	}
	if info, ok := d.queue.Get(pod.Namespace, pod.Name); ok && info.Pod.UID == pod.UID && d.bindingOf(pod.UID) == nil && info.ConsecutiveErrorsCount == 0 {
		d.because = reason.Cause{Rule: reason.ByOutcome, Seen: seen, At: now}
		d.queue.Observe(now, queue.Observation{Pod: pod, To: queue.Backoff, Event: queue.ScheduleAttemptFailure})
		s.emitMoves(now, nil)
	}
}

// applyRejection applies a failed attempt of pod and its reason. If the model has not just made
// that attempt, its loop makes it now. If the model placed the pod or can't make the attempt, the
// pod goes to the tier that event or message imply; otherwise the plugins that rejected it in the
// model stand. event is the failure's Event, or nil.
func (s *shadow) applyRejection(now time.Time, pod *v1.Pod, message sources.SafeText, event *sources.FailedAttempt) {
	d := s.driver
	had := s.hasJustAttempted(now, pod.UID, event != nil) || d.catchUp(now, pod, event != nil)
	if b := d.bindingOf(pod.UID); b != nil {
		d.dropBinding(b)
		d.Scheduler.Forget(b.Binding)
		had = false
	}
	if !had {
		s.ensureInFlight(now, pod)
		why := queue.Rejection{}
		switch {
		case event != nil && event.Error: // rejected by no plugin
		case event != nil && event.Plugins != nil:
			why.UnschedulablePlugins = event.Plugins
		case event != nil && message == "":
			why.UnschedulablePlugins = []string{verdict.UnknownPlugin}
		default:
			why.UnschedulablePlugins = s.reasons.PluginsOf(string(message), s.cfg.Release)
		}
		d.because = reason.Cause{Rule: reason.ByOutcome, Seen: evidence.Patched, At: now}
		if event != nil {
			d.because.Seen = evidence.Failed
		}
		_ = d.queue.AddUnschedulableIfNotPresent(now, pod, why) // can't fail: the pod is in flight
		s.emitMoves(now, nil)
	} else if event != nil && event.Error {
		s.applyError(now, pod, evidence.Failed)
	}
	s.oracle.tried.Note(pod.UID, lastAttempt{At: now, Seen: true, Message: string(message), FromEvent: event != nil && event.Count < 2})
	if event != nil {
		s.oracle.tried.Ended = now
	}
	c, awaited := cluster.Unscheduled(pod), d.AwaitedPatch != nil && d.AwaitedPatch.uid == pod.UID
	if awaited || c != nil && sources.Sanitize(c.Message) == message {
		return // its patch is known, or the condition is unchanged and nothing is written
	}
	if at := s.oracle.patchedAt(now, pod.UID, string(message), now); at.After(now) && !d.asyncAPICalls {
		d.AwaitedPatch = &statusPatch{uid: pod.UID, until: at.Add(answerDelay)}
	}
}

// hasJustAttempted reports whether the model has just made an attempt of the pod with that UID that
// was not observed yet. If so, the attempt observed now is that one. event is true if the
// observation is an Event.
func (s *shadow) hasJustAttempted(now time.Time, uid types.UID, event bool) bool {
	return s.oracle.tried.IsUnseen(now, uid, s.oracle.channels.Slack(now, event))
}

// ensureInFlight moves pod to in-flight if it is not there: its pop was not observed, but a
// consequence was.
func (s *shadow) ensureInFlight(now time.Time, pod *v1.Pod) {
	if info, ok := s.driver.queue.Get(pod.Namespace, pod.Name); !ok || info.Tier != queue.InFlight {
		s.driver.because = reason.Cause{Rule: reason.ByCatchingUp}
		s.driver.queue.Observe(now, queue.Observation{Pod: pod, To: queue.InFlight, Inferred: true})
		s.emitMoves(now, nil)
	}
}

// deliverPod delivers pending changes to the scheduler now, up to the creation of pod, because an
// attempt of the pod was observed. With updates, it delivers them up to the last change of the pod.
func (s *shadow) deliverPod(now time.Time, pod *v1.Pod, updates bool) {
	for slices.ContainsFunc(s.deliveries, func(h delivery) bool {
		p, ok := h.Change.Object.(*v1.Pod)
		return ok && p.UID == pod.UID && (updates || h.Change.Verb == sources.Added)
	}) {
		s.deliverNext(now)
	}
}

// deliverCause delivers changes to the scheduler earlier than the model would, until the loop can
// take the named pod: an attempt of the pod was observed, so its cause must have been delivered. It
// may also apply changes that the source reports slightly later: their timestamp is that of the
// answer to a request, and the watch may have been faster.
func (s *shadow) deliverCause(now time.Time, pod types.NamespacedName) {
	s.flushSeen(now, pod)
	for len(s.deliveries) > 0 && !s.oracle.queue.IsAwake(pod) {
		s.deliverNext(now)
	}
	for seen := range s.oracle.future.Changes(now, watchLead) {
		if s.oracle.queue.IsAwake(pod) {
			return
		}
		if seen.Used {
			continue
		}
		seen.Used = true
		s.emit(sources.Event{Time: now, Fact: seen.Change})
		s.changed(now, seen.Change)
		for len(s.deliveries) > 0 {
			s.deliverNext(now)
		}
	}
}

// flushSeen runs the backoff flush if the named pod is still in backoffQ although its backoff is
// over. Without PopFromBackoffQ, an observed attempt of the pod is the only sign of when the flush
// runs. The start time of the scheduler gives only a rough estimate: up to v1.32 each period of the
// real flush was slightly longer than a second (wait.Until, scheduling_queue.go, Run).
func (s *shadow) flushSeen(now time.Time, pod types.NamespacedName) {
	d := s.driver
	info, ok := d.queue.Get(pod.Namespace, pod.Name)
	if !ok || info.Tier != queue.Backoff || s.cfg.Queue.PopFromBackoffQ || info.BackoffExpiry.After(now) {
		return
	}
	began := now
	if !s.oracle.channels.LogsStarts() { // the observation is of the attempt's end
		began = now.Add(-d.timeFor(nominalTime(s.objects.Count("Node"))))
	}
	// Since v1.33 a backoff is over only after its expiry; in older releases a nanosecond makes no difference.
	ran := d.ticks.AdjustBackoff(info.BackoffExpiry.Add(time.Nanosecond), began)
	d.queue.FlushBackoffCompletedAsOf(now, ran)
	d.onMoves(now, nil)
}

// endEvictions ends the evictions of the victim with that UID.
func (s *shadow) endEvictions(now time.Time, uid types.UID) {
	for _, e := range slices.Clone(s.driver.Evictions) {
		if e.Victim.UID == uid {
			s.driver.finishEviction(e)
		}
	}
}

// podGone ends all waits for the pod with that UID.
func (s *shadow) podGone(now time.Time, uid types.UID) {
	d := s.driver
	s.oracle.tried.Forget(uid)
	s.oracle.channels.ForgetPod(uid)
	if s.oracle.future.RefusedRequest(uid, now, bindPatience) != nil {
		return // its binding or patch ends with the refusal
	}
	s.unbind(now, uid, ErrNotSeen)
	d.endPatchWait(uid, now)
}

// unbind fails the binding of the pod with that UID with err, if one is in progress.
func (s *shadow) unbind(now time.Time, uid types.UID, err error) {
	if s.driver.Unbind(now, uid, err) {
		_ = s.driver.Scheduler.Writes()
		s.emitMoves(now, nil)
	}
}

// applyRefusal applies the refusal of one of the scheduler's requests.
func (s *shadow) applyRefusal(now time.Time, f *sources.Refused) {
	switch {
	case s.driver == nil:
	case f.Binding, !s.driver.asyncAPICalls && s.driver.bindingOf(f.UID) != nil:
		// The second case is the patch after a failed binding cycle.
		s.unbind(now, f.UID, errRefused)
	default:
		s.driver.endPatchWait(f.UID, now.Add(answerDelay))
	}
}

// emitRemovals emits the removal from the queue of pods whose deletion no scheduler received
// because it happened between two schedulers.
func (s *shadow) emitRemovals(now time.Time) {
	for _, key := range s.shown.RemoveGone(s.objects) {
		s.emit(sources.Event{Time: now, Fact: &Move{Move: &sources.Move{Pod: key, To: sources.Tier(queue.Deleted.String())}}})
	}
}
