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

// oracle tells a driver what the real scheduler does next, as far as the source shows it. Its answers follow from its
// fields. Asking changes nothing but which sightings are used up.
type oracle struct {
	future     *evidence.Future
	pace       *pace
	channels   *channels.Channels
	presence   *presence
	queue      lineup
	tried      lastAttempts
	preBind    preBindWaits
	beingBound iter.Seq[*v1.Pod]             // the pods that are being bound
	nodes      func() int                    // how many there are
	seesNodes  func() bool                   // whether the source tells of nodes: without, no attempt can be modelled
	lacksNodes bool                          // the scheduler may know nodes that the source does not
	pluginsOf  func(message string) []string // which rejected a pod, by the message of its attempt
	wakeComing func() bool                   // whether something that may wake pods is on its way to the scheduler
}

// turns returns what is known of the requests that wait for the rate limit of the scheduler's client.
func (o *oracle) turns() *turns {
	return &turns{Future: o.future, Channels: o.channels, Binding: o.beingBound, Patience: bindPatience}
}

// seesBinding reports whether pod is seen to be bound within writePatience from now, or as late as its turn comes, or to be
// deleted while its binding was under way. Where the source does not tell the scheduler's requests, or can't hear of pods, it is
// always true.
func (o *oracle) seesBinding(now time.Time, pod *v1.Pod) bool {
	return !o.channels.Requests || !o.channels.WatchesPods(now) || o.bindingShows(now, pod)
}

// bindingShows is seesBinding where the source tells the scheduler's requests.
func (o *oracle) bindingShows(now time.Time, pod *v1.Pod) bool {
	if o.awaits(now, pod) { // its binding takes as long as others take, and only that it fits nowhere says that there is none
		seen := o.future.Attempt(pod.UID, now, bindPatience)
		return seen == nil || !seen.Failed() || !strings.HasPrefix(seen.Message(), verdict.DoesNotFit)
	}
	seen := o.future.BindingOutcome(pod.UID, now, bindPatience)
	if seen == nil || seen.Time.Sub(now) > writePatience && !seen.RateLimited {
		return false
	}
	// A binding under way when the pod was deleted would have shown by then, unless its turn had yet to come.
	return seen.Placed() || seen.Time.Sub(now) <= crowding || seen.Time.Before(o.turns().Next(now))
}

// observedFailure returns the message and the rejector plugins of the failed attempt a in the real scheduler, if they are known and that
// scheduler knew nodes that the model does not: logs that begin in the middle lack the nodes that nothing changed since. An attempt that
// made no patch failed with the message that the pod's condition has (schedule_one.go, updatePod).
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

// awaits reports whether others have yet to provide what pod, which is placed, needs before it is bound.
func (o *oracle) awaits(now time.Time, pod *v1.Pod) bool {
	_, err := o.preBind.Deadline(now, o.channels.Config, pod)
	return err != nil
}
