package shadow

import (
	"iter"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/verdict"
)

// oracle predicts what the real scheduler does next, as far as the source shows it. Its answers
// depend only on its fields. A query changes nothing except that it may mark observations as used.
type oracle struct {
	future     *evidence.Future
	pace       *pace
	channels   *channels.Channels
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
