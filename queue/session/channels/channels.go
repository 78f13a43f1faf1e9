// Package channels says what silence means on the ways by which a source hears of a real scheduler.
package channels

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/ratelimit"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/sources"
)

// Channels are the two ways by which a source hears of a real scheduler: its Events, and its requests to the API server.
// They tell what silence on them means: that no attempt was made, or only that it did not show.
//
// The scheduler's event recorder (k8s.io/client-go v0.37, tools/events/event_broadcaster.go) is told of every failed
// attempt. Of those of one pod at one resourceVersion it writes the first as an Event and the second as its series;
// the third and those that follow are only counted: of five failures of an unchanged pod, two show. So an attempt that would have been a first or a second one, and is
// not among the Events, was not made. That holds while requests are not held up by the client's rate limit, and as far
// as the source has told.
type Channels struct {
	Config *schedulerconfig.Config
	// Requests is true if the source tells the scheduler's own requests. Then a change of a pod's condition is no sign
	// of one.
	Requests bool
	// Until is the moment up to which the source has told everything, but for what it could not hear: gaps.
	Until time.Time
	Gaps  Gaps

	// Verbosity is that of the scheduler's log, as *sources.Logged has it. Negative if there is none.
	Verbosity int

	Events  Events // of a source that goes on
	dropped bool   // others than the one that came last

	recorder map[types.UID]sources.Recorded // what it wrote last, of the pods of which that is known
	updated  map[types.UID]time.Time        // see Updated
	Records  bool                           // the source once told what it wrote

	ratelimit.Limit // of the scheduler's client
}

// New returns channels of which nothing was heard yet. requests is true if the source tells the scheduler's own requests.
func New(cfg *schedulerconfig.Config, requests bool) *Channels {
	c := &Channels{Config: cfg, Requests: requests, Verbosity: -1, recorder: map[types.UID]sources.Recorded{}, updated: map[types.UID]time.Time{}}
	c.Forget()
	return c
}

// Forget forgets what was heard: another scheduler begins, of which nothing is known.
func (c *Channels) Forget() {
	c.Restart(c.Config)
	clear(c.recorder)
	clear(c.updated)
	c.dropped = false
}

// queuedEvents is how many Events the recorder queues. It drops those that come while the queue is full (client-go v0.30 to v0.37,
// tools/events/event_broadcaster.go, maxQueuedEvents).
const queuedEvents = 1000

// Came takes in the Event of an attempt that failed at that moment. It reports whether it comes so late that the queue was full, so that others
// were dropped.
func (c *Channels) Came(at time.Time, f *sources.FailedAttempt) (othersDropped bool) {
	late, full := c.Events.Took(), queuedEvents*c.Config.ClientInterval()
	if !f.Heard.IsZero() {
		late = f.Heard.Sub(at)
	}
	c.dropped = full > 0 && late >= full
	return c.dropped
}

// Recorded notes what the event recorder wrote last about the pod with that UID. An empty last means that it has
// written nothing about the pod yet.
func (c *Channels) Recorded(uid types.UID, last sources.Recorded) {
	c.recorder[uid] = last
	c.Records = c.Records || last.Version != ""
}

// Gone forgets what the event recorder wrote about the pod with that UID.
func (c *Channels) Gone(uid types.UID) {
	delete(c.recorder, uid)
	delete(c.updated, uid)
}

// Updated notes that the scheduler is taken to hear at now of a new version of the pod with that UID. It may hear of that up to VersionSlack
// later: until then an attempt may be of the version before, of which the recorder writes no third Event.
func (c *Channels) Updated(now time.Time, uid types.UID) {
	if c.recorder[uid].Count >= mostEvents {
		c.updated[uid] = now
	}
}

// mostEvents is how many failures of a pod at one resourceVersion show.
const mostEvents = 2

// mustShow reports whether an attempt of pod that failed now would show. It would as the pod's first, which writes the pod's
// condition, where the source tells the scheduler's requests. And it would become an Event if what the recorder wrote is known, and
// it is less than two Events of the pod at its present resourceVersion, of which the scheduler knows.
func (c *Channels) mustShow(now time.Time, pod *v1.Pod) bool {
	if c.Logged() || c.showsByRequest(pod) {
		return true
	}
	last, known := c.recorder[pod.UID]
	if !known || !c.Records || cluster.Grouped(c.Config.Queue, pod) {
		return false
	}
	return last.Count < mostEvents || last.Version != pod.ResourceVersion && now.Sub(c.updated[pod.UID]) >= VersionSlack
}

// showsByRequest reports whether an attempt of pod shows by a request whatever it comes to: the first one does.
func (c *Channels) showsByRequest(pod *v1.Pod) bool {
	return c.Requests && cluster.Unscheduled(pod) == nil && !cluster.Grouped(c.Config.Queue, pod)
}

// Logged reports whether the scheduler's log tells how every attempt ends.
func (c *Channels) Logged() bool { return c.Verbosity >= sources.AttemptsVerbosity }

// Begins reports whether the scheduler's log tells when every attempt begins, too.
func (c *Channels) Begins() bool { return c.Verbosity > sources.AttemptsVerbosity }

// shownBy returns the resources without whose watches an attempt of pod need not show: a binding shows by the pods' alone, as does
// whatever becomes of a first attempt.
func (c *Channels) shownBy(pod *v1.Pod) []string {
	switch {
	case c.Logged():
		return nil
	case c.showsByRequest(pod):
		return []string{sources.PodsWatch}
	}
	return []string{sources.PodsWatch, sources.EventsWatch}
}

// HearsPods reports whether the pods' watch tells what is seen of the scheduler's requests from now on, as far as anybody looks.
func (c *Channels) HearsPods(now time.Time) bool {
	return c.Logged() && c.Gaps.Hears(now, Foresight) || c.Gaps.Hears(now, Foresight, sources.PodsWatch)
}

// Silence returns what it means that no attempt of pod is seen from now up to the Horizon.
func (c *Channels) Silence(now time.Time, pod *v1.Pod) reason.Silence {
	switch {
	case !c.Until.Add(-WriteTime).After(now) || !c.mustShow(now, pod):
		return reason.Unknown
	case !c.Horizon(now, pod).After(now):
		return reason.Unheard
	case !c.Logged() && (c.Saturated(now) || c.dropped && !c.showsByRequest(pod) || c.comesLate(now) && (c.Idle(now) || !c.showsByRequest(pod))): // while requests wait, they tell the order
		return reason.Late
	}
	return reason.Told
}

// comesLate reports whether the Event of an attempt made now may not have come: Events wait for the rate limit of their client.
func (c *Channels) comesLate(now time.Time) bool {
	return c.Events.Wait(c.Until) && now.Add(Foresight).After(c.Events.ToldUntil(c.Until))
}

// Horizon returns the moment before which an attempt of pod that is not told was not made, seen from now: Foresight later,
// or WriteTime before the end of what the source has told, or could hear, whichever is first.
func (c *Channels) Horizon(now time.Time, pod *v1.Pod) time.Time {
	horizon, until := now.Add(Foresight), c.Until
	if gap, some := c.Gaps.Next(now, c.shownBy(pod)...); some && gap.Since.Before(until) {
		until = gap.Since
	}
	if until := until.Add(-WriteTime); until.Before(horizon) {
		return until
	}
	return horizon
}

// Slack returns for how long after an attempt of the model a sign of a failed attempt is taken for a sign of that
// one: an Event, which says itself when it was, or else what the pods' watch tells.
func (c *Channels) Slack(now time.Time, event bool) time.Duration {
	if since, missed := c.Gaps.Missed(now, sources.PodsWatch); missed && !event && !c.Logged() {
		return now.Sub(since) + UnrecordedSlack
	}
	if c.Logged() || c.Records && !c.Saturated(now) && (event || c.Gaps.Hears(now, 0, sources.EventsWatch)) {
		return AttemptSlack
	}
	return UnrecordedSlack
}

// Requested counts a request that the scheduler made at now against its client's rate limit.
func (c *Channels) Requested(now time.Time) {
	_, missed := c.Gaps.Missed(now, sources.PodsWatch)
	c.Sent(now, !missed)
}
