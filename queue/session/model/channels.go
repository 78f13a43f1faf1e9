package model

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/backlog"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/gaps"
	"github.com/schedq/schedq/queue/session/ratelimit"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/sources"
)

// channels are the two ways by which a source hears of a real scheduler: its Events, and its requests to the API server.
// They tell what silence on them means: that no attempt was made, or only that it did not show.
//
// The scheduler's event recorder (k8s.io/client-go v0.37, tools/events/event_broadcaster.go) is told of every failed
// attempt. Of those of one pod at one resourceVersion it writes the first as an Event and the second as its series;
// the third and those that follow are only counted: of five failures of an unchanged pod, two show. So an attempt that would have been a first or a second one, and is
// not among the Events, was not made. That holds while requests are not held up by the client's rate limit, and as far
// as the source has told.
type channels struct {
	cfg *schedulerconfig.Config
	// requests is true if the source tells the scheduler's own requests. Then a change of a pod's condition is no sign
	// of one.
	requests bool
	// until is the moment up to which the source has told everything, but for what it could not hear: gaps.
	until time.Time
	gaps  gaps.Gaps

	// verbosity is that of the scheduler's log, as *sources.Logged has it. Negative if there is none.
	verbosity int

	events backlog.Events // of a source that goes on

	recorder map[types.UID]sources.Recorded // what it wrote last, of the pods of which that is known
	records  bool                           // the source once told what it wrote

	ratelimit.Limit // of the scheduler's client
}

func newChannels(cfg *schedulerconfig.Config, requests bool) *channels {
	c := &channels{cfg: cfg, requests: requests, verbosity: -1, recorder: map[types.UID]sources.Recorded{}}
	c.restart()
	return c
}

// restart forgets what was heard: another scheduler begins, of which nothing is known.
func (c *channels) restart() {
	c.Restart(c.cfg)
	clear(c.recorder)
}

// recorded notes what the event recorder wrote last about the pod with that UID. An empty last means that it has
// written nothing about the pod yet.
func (c *channels) recorded(uid types.UID, last sources.Recorded) {
	c.recorder[uid] = last
	c.records = c.records || last.Version != ""
}

// mustShow reports whether an attempt of pod that failed now would show. It would as the pod's first, which writes the pod's
// condition, where the source tells the scheduler's requests. And it would become an Event if what the recorder wrote is known, and
// it is less than two Events of the pod at its present resourceVersion.
func (c *channels) mustShow(pod *v1.Pod) bool {
	if c.logged() || c.requests && cluster.Unscheduled(pod) == nil && !cluster.Grouped(c.cfg.Queue, pod) {
		return true
	}
	last, known := c.recorder[pod.UID]
	return known && c.records && !cluster.Grouped(c.cfg.Queue, pod) && (last.Count < 2 || last.Version != pod.ResourceVersion)
}

// logged reports whether the scheduler's log tells how every attempt ends.
func (c *channels) logged() bool { return c.verbosity >= sources.AttemptsVerbosity }

// begins reports whether the scheduler's log tells when every attempt begins, too.
func (c *channels) begins() bool { return c.verbosity > sources.AttemptsVerbosity }

// shownBy returns the resources without whose watches an attempt of pod need not show: a binding shows by the pods' alone, as does
// whatever becomes of a first attempt.
func (c *channels) shownBy(pod *v1.Pod) []string {
	switch {
	case c.logged():
		return nil
	case c.requests && cluster.Unscheduled(pod) == nil && !cluster.Grouped(c.cfg.Queue, pod):
		return []string{sources.PodsWatch}
	}
	return []string{sources.PodsWatch, sources.EventsWatch}
}

// hearsPods reports whether the pods' watch tells what is seen of the scheduler's requests from now on, as far as anybody looks.
func (c *channels) hearsPods(now time.Time) bool {
	return c.logged() && c.gaps.Hears(now, foresight) || c.gaps.Hears(now, foresight, sources.PodsWatch)
}

// silence returns what it means that no attempt of pod is seen from now up to the horizon.
func (c *channels) silence(now time.Time, pod *v1.Pod) reason.Silence {
	switch {
	case !c.until.Add(-writeTime).After(now) || !c.mustShow(pod):
		return reason.Unknown
	case !c.horizon(now, pod).After(now):
		return reason.Unheard
	case !c.logged() && (c.Saturated(now) || c.comesLate(now) && c.Idle(now)):
		return reason.Late
	}
	return reason.Told
}

// comesLate reports whether the Event of an attempt made now may not have come: Events wait for the rate limit of their client.
func (c *channels) comesLate(now time.Time) bool {
	return c.events.Wait(c.until) && now.Add(foresight).After(c.events.ToldUntil(c.until))
}

// horizon returns the moment before which an attempt of pod that is not told was not made, seen from now: foresight later,
// or writeTime before the end of what the source has told, or could hear, whichever is first.
func (c *channels) horizon(now time.Time, pod *v1.Pod) time.Time {
	horizon, until := now.Add(foresight), c.until
	if gap, some := c.gaps.Next(now, c.shownBy(pod)...); some && gap.Since.Before(until) {
		until = gap.Since
	}
	if until := until.Add(-writeTime); until.Before(horizon) {
		return until
	}
	return horizon
}

// slack returns for how long after an attempt of the model a sign of a failed attempt is taken for a sign of that
// one: an Event, which says itself when it was, or else what the pods' watch tells.
func (c *channels) slack(now time.Time, event bool) time.Duration {
	if since, missed := c.gaps.Missed(now, sources.PodsWatch); missed && !event && !c.logged() {
		return now.Sub(since) + unrecordedSlack
	}
	if c.logged() || c.records && !c.Saturated(now) && (event || c.gaps.Hears(now, 0, sources.EventsWatch)) {
		return attemptSlack
	}
	return unrecordedSlack
}

// requested counts a request that the scheduler made at now against its client's rate limit.
func (c *channels) requested(now time.Time) {
	_, missed := c.gaps.Missed(now, sources.PodsWatch)
	c.Sent(now, !missed)
}
