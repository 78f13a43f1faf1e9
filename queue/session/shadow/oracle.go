package shadow

import (
	"iter"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/verdict"
)

// oracle predicts what the real scheduler does next, as far as the source shows it. Its answers
// depend only on its fields. A query changes nothing except that it may mark observations as used.
type oracle struct {
	future     *evidence.Future
	pace       *pace
	channels   *evidence.Channels
	presence   *presence
	queue      lineup
	tried      lastAttempts
	preBind    preBindWaits
	beingBound iter.Seq[*v1.Pod]             // pods with a binding in progress
	nodes      func() int                    // number of nodes
	seesNodes  func() bool                   // whether the source has nodes, which attempts need
	lacksNodes bool                          // the scheduler may know nodes that the source lacks
	pluginsOf  func(message string) []string // rejector plugins by an attempt's message
	wakeComing func() bool                   // whether a pending delivery may wake pods
}

// turns returns the state of the requests that wait for the client's rate limit.
func (o *oracle) turns() *turns {
	return &turns{Future: o.future, Channels: o.channels, Binding: o.beingBound, Patience: bindPatience}
}

// seesBinding reports whether pod is observed to be bound, or to be deleted during its binding. The
// limit is writePatience from now, or later if the request waits for the rate limit. It returns
// true if the source does not contain the scheduler's requests or its watch of pods is broken.
func (o *oracle) seesBinding(now time.Time, pod *v1.Pod) bool {
	return !o.channels.Requests || !o.channels.WatchesPods(now) || o.bindingShows(now, pod)
}

// bindingShows is seesBinding for a source that contains the scheduler's requests.
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
	// If the pod was deleted during its binding, the binding would have left a trace by then,
	// unless it was still waiting for the rate limit.
	return seen.Placed() || seen.Time.Sub(now) <= crowding || seen.Time.Before(o.turns().Next(now))
}

// observedFailure returns the message and the rejector plugins of the failed attempt a in the real
// scheduler. It does so only if they are known and that scheduler knew nodes that the model does
// not: logs that begin in the middle lack nodes that have not changed since. An attempt without a
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

// lastAttempt describes a completed attempt.
type lastAttempt struct {
	At time.Time // when it ended
	// Seen is true if the source showed the attempt.
	Seen bool
	// Message is the reason for the failure, until a patch reports it. It is empty if the attempt
	// did not fail or the reason is unknown.
	Message string
	// Told is true if Message comes from the attempt's own Event. An Event series keeps the message
	// of its first attempt.
	Told bool
}

// lastAttempts records the last attempt of each pod, by UID.
type lastAttempts struct {
	last map[types.UID]lastAttempt
	// Ended is when the last attempt with an observed end ended. The loop does not wait for a patch
	// of an earlier attempt: a patch is answered before the loop takes another pod
	// (schedule_one.go, v1.33, handleSchedulingFailure).
	Ended time.Time
}

// Note records a as the last attempt of the pod with that UID.
func (p *lastAttempts) Note(uid types.UID, a lastAttempt) {
	if p.last == nil {
		p.last = map[types.UID]lastAttempt{}
	}
	p.last[uid] = a
}

// Last returns the last attempt of the pod with that UID, and false if none is known.
func (p *lastAttempts) Last(uid types.UID) (lastAttempt, bool) {
	a, ok := p.last[uid]
	return a, ok
}

// Forget forgets the pod with that UID.
func (p *lastAttempts) Forget(uid types.UID) { delete(p.last, uid) }

// Clear forgets all pods.
func (p *lastAttempts) Clear() { clear(p.last) }

// IsNew reports whether the last attempt of the pod with that UID ended less than within before
// now, and no later attempt was observed to end.
func (p *lastAttempts) IsNew(now time.Time, uid types.UID, within time.Duration) bool {
	a, ok := p.last[uid]
	return ok && now.Sub(a.At) < within && !p.Ended.After(a.At)
}

// IsUnseen reports whether the last attempt of the pod with that UID ended less than within before
// now and was not observed yet. If so, a trace observed now belongs to that attempt.
func (p *lastAttempts) IsUnseen(now time.Time, uid types.UID, within time.Duration) bool {
	a, ok := p.last[uid]
	return ok && !a.Seen && now.Sub(a.At) < within
}

// See marks the last attempt of the pod with that UID as observed, given an observed end at at. It
// returns false if the observation is of an unknown attempt: one that ended later than the last
// attempt by more than slack.
func (p *lastAttempts) See(at time.Time, uid types.UID, slack time.Duration) bool {
	a, ok := p.last[uid]
	if !ok || a.At.Before(at.Add(-slack)) {
		return false
	}
	a.Seen = true
	p.last[uid] = a
	return true
}

// SeePatch clears the message of the last attempt of the pod with that UID, because its patch was
// observed: no other patch reports that message.
func (p *lastAttempts) SeePatch(uid types.UID) {
	if a, ok := p.last[uid]; ok {
		a.Message = ""
		p.last[uid] = a
	}
}

// Writer returns a predicate: is the last attempt of the pod with that UID new (see IsNew), and can
// it have sent a patch with the message wrote? The node counts of both messages must agree if both
// have one. A count equal to nodes, the current number of nodes, is also accepted, since the
// scheduler may know of a node change before the model does.
func (p *lastAttempts) Writer(now time.Time, within time.Duration, nodes int) func(uid types.UID, wrote string) bool {
	return func(uid types.UID, wrote string) bool {
		had, _, _ := verdict.ReadMessage(p.last[uid].Message)
		counts, _, _ := verdict.ReadMessage(wrote)
		return p.IsNew(now, uid, within) && (had == 0 || counts == 0 || counts == had || counts == nodes)
	}
}
