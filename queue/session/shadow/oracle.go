package shadow

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/verdict"
)

// oracle answers, from the traces ahead, what the real scheduler does next. Its answers depend only
// on its fields. A query changes nothing, except that failsAt and patchedAt mark the observation
// that they return as used, so that no other attempt gets it.
type oracle struct {
	future     *evidence.Future
	pace       *pace
	channels   *evidence.Channels
	presence   *presence
	queue      lineup
	tried      lastAttempts
	preBind    preBindWaits
	nodes      func() int                    // number of nodes
	seesNodes  func() bool                   // whether the source has nodes, which attempts need
	lacksNodes bool                          // the scheduler may know nodes that the source lacks
	pluginsOf  func(message string) []string // rejector plugins by an attempt's message
	wakeComing func() bool                   // whether a pending delivery may wake pods
}

// seesBinding reports whether pod is observed to be bound, or to be deleted during its binding. The
// limit is writePatience from now, or later if the request waits for the rate limit. It returns
// true if the source does not contain the scheduler's requests or its watch of pods is broken.
func (o *oracle) seesBinding(now time.Time, pod *v1.Pod) bool {
	return !o.channels.Requests || !o.channels.WatchesPods(now) || o.bindingShows(now, pod)
}

// bindingShows is seesBinding for a source that contains the scheduler's requests. It returns true
// while something must still be provided for pod, unless an attempt of it fails meanwhile.
func (o *oracle) bindingShows(now time.Time, pod *v1.Pod) bool {
	if o.awaits(now, pod) {
		// The binding takes as long as its prerequisites; only an attempt that fits nowhere
		// disproves it.
		seen := o.future.Attempt(pod.UID, now, bindPatience)
		return seen == nil || !seen.Failed() || !strings.HasPrefix(seen.Message(), verdict.DoesNotFit)
	}
	seen := o.future.BindingOutcome(pod.UID, now, bindPatience)
	if seen == nil || seen.Time.Sub(now) > writePatience && !seen.RateLimited {
		return false
	}
	// If the pod was deleted during its binding, the binding would have left a trace by then.
	return seen.Placed() || seen.Time.Sub(now) <= crowding
}

// observedFailure returns the message and the rejector plugins of the failed attempt a in the real
// scheduler. It does so only if they are known and the message counts another number of nodes than
// the model has: logs that begin in the middle lack nodes that have not changed since. An attempt without a
// patch failed with the message in the pod's condition (schedule_one.go, updatePod).
func (o *oracle) observedFailure(now time.Time, a *cycle.Attempt) (message string, plugins []string, ok bool) {
	if !o.lacksNodes || !o.channels.Requests || a.Binding != nil || a.Skipped || a.Group != nil {
		return "", nil, false
	}
	if seen := o.patch(now, a.Pod.UID, ""); seen != nil {
		message = seen.ConditionMessage
	} else if c := cluster.Unscheduled(a.Pod); c != nil && o.channels.WatchesPods(now) {
		message = c.Message
	}
	if nodes, _, _ := verdict.ReadMessage(message); nodes == 0 || nodes == o.nodes() {
		return "", nil, false
	}
	plugins = o.pluginsOf(message)
	return message, plugins, len(plugins) > 0 && !verdict.Incomplete(plugins)
}

// awaits reports whether pod, which is placed, still waits for others to provide its prerequisites
// before it is bound.
func (o *oracle) awaits(now time.Time, pod *v1.Pod) bool {
	_, err := o.preBind.Deadline(now, o.channels.Config, pod)
	return err != nil
}

// seesDeletion reports whether the victim with that UID is observed to be deleted within
// writePatience from now. It returns true if the source does not contain the scheduler's requests
// or its watch of pods is broken.
func (o *oracle) seesDeletion(now time.Time, victim types.UID) bool {
	return !o.channels.Requests || !o.channels.WatchesPods(now) || o.future.PodEnds(victim, now, writePatience)
}

// failsAt returns when attempt a, which begins now, is observed to fail, and marks that observation
// as used. It returns false if there is no such observation within evidence.AttemptSlack, or within
// a longer time if a log contains the starts of attempts or a has victims.
func (o *oracle) failsAt(now time.Time, a *cycle.Attempt) (time.Time, bool) {
	within := evidence.AttemptSlack
	switch {
	case o.channels.LogsStarts():
		within = bindPatience // any duration: the loop makes one attempt at a time
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

// patchedAt returns when the API server answered the patch of the pod's status that is made now,
// and marks that observation as used. It returns now if no patch was made. It returns otherwise if
// the source does not contain the scheduler's requests, or if its watch of pods is broken and no
// patch is observed. message is the reason for the attempt's failure if the failure was observed
// now, otherwise empty.
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

// patchOutlasts reports whether a patch that is made now and has no trace may be sent after the end
// of the source. While requests wait for the rate limit, the loop waits for its patch and makes no
// other attempt.
func (o *oracle) patchOutlasts(now time.Time) bool {
	return !o.channels.Config.AsyncAPICalls && !o.channels.Logged() && o.channels.Saturated(now) &&
		o.channels.Until.Sub(now) < bindPatience && o.future.NextPatch(now, bindPatience) == nil
}

// patch returns the observed patch of an attempt of that pod that ends now, or nil if there is
// none. message is as in patchedAt.
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
		return nil // it belongs to a later attempt
	}
	return seen
}

// comesLater reports whether patch belongs to a later attempt: before it is sent, a pod is placed
// that is not in the queue yet or not awake yet, and the loop places no pod while it waits for the
// answer to a patch (schedule_one.go, v1.33, handleSchedulingFailure). If the source contains all
// requests, the order of the waiting ones shows this instead (see waitingPatch).
func (o *oracle) comesLater(now time.Time, patch *evidence.Observation) bool {
	return !o.channels.Config.AsyncAPICalls && !o.channels.Exact && o.queue.PlacesOthers(o.future, now, patch.EndedBy)
}
