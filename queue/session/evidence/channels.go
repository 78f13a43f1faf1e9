package evidence

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// Constants that decide what a missing trace means.
const (
	// AttemptSlack limits how much earlier or later an observed attempt may be than the model's. Chosen: twenty
	// attempts' time on few nodes.
	AttemptSlack = 15 * time.Millisecond
	// UnrecordedSlack is AttemptSlack for attempts without an Event, whose time is only known from a patch or a
	// condition that follows and that the client's rate limit may hold up. Chosen.
	UnrecordedSlack = 2 * time.Second
	// Lag is how far a live session is behind the clock while Events are not backlogged. The model looks ahead by
	// that much, because Events arrive later than they are made. Measured: mostly 10 to 30 ms later, if no rate
	// limit holds them up.
	Lag = 500 * time.Millisecond
	// WriteTime limits how long after an attempt its Event is written, if the client's rate limit does not hold it
	// up. Chosen.
	WriteTime = 100 * time.Millisecond
	// VersionSlack limits how much later than the model's the scheduler may receive a new version of a pod.
	// Measured: 38 ms at the 95th percentile among many pods, and mostly 1 ms.
	VersionSlack = 40 * time.Millisecond
	// Foresight is how far the model looks ahead for the next attempt of a pod. Derived: no further than a live
	// session can.
	Foresight = Lag - WriteTime
)

// Channels are the two channels by which a source observes a scheduler: its Events, and its requests to the
// API server.
//
// The scheduler's event recorder (k8s.io/client-go v0.37, tools/events/event_broadcaster.go) receives every
// failed attempt. For one pod at one resourceVersion it writes the first as an Event and the second as the
// Event's series, and only counts the others: of five failures of an unchanged pod, two are visible. So if
// an attempt would have been a first or second one and has no Event, it was not made. This holds while the
// client's rate limit does not hold requests up, and up to the time until which the source is complete.
type Channels struct {
	Config *schedulerconfig.Config
	// Requests is true if the source records the scheduler's own requests. Then a change of a pod's condition
	// does not show one.
	Requests bool
	// Until is the time up to which the source is complete, except for Gaps.
	Until time.Time
	Gaps  Gaps

	// Verbosity is the verbosity of the scheduler's log, as in sources.Logged. It is negative without a log.
	Verbosity int

	Events        Events // for a live source
	eventsDropped bool   // the recorder dropped Events

	recorder    map[types.UID]sources.Recorded // what it wrote last, for pods of which that is known
	updated     map[types.UID]time.Time        // see PodUpdated
	HasRecorder bool                           // the source contains what the recorder wrote

	Limit // of the scheduler's client
}

// NewChannels returns channels without observations. requests is true if the source records the scheduler's own
// requests.
func NewChannels(cfg *schedulerconfig.Config, requests bool) *Channels {
	c := &Channels{Config: cfg, Requests: requests, Verbosity: -1, recorder: map[types.UID]sources.Recorded{}, updated: map[types.UID]time.Time{}}
	c.Forget()
	return c
}

// Forget drops what is known, because another scheduler starts.
func (c *Channels) Forget() {
	c.Restart(c.Config)
	clear(c.recorder)
	clear(c.updated)
	c.eventsDropped = false
}

// recorderQueue is the length of the recorder's queue. It drops Events while the queue is full (client-go
// v0.30 to v0.37, tools/events/event_broadcaster.go, maxQueuedEvents).
const recorderQueue = 1000

// RecordEvent records the Event of an attempt that failed at that time. It reports whether the Event is so
// late that the recorder's queue was full, so that others were dropped.
func (c *Channels) RecordEvent(at time.Time, f *sources.FailedAttempt) (othersDropped bool) {
	late, full := c.Events.Delay(), recorderQueue*c.Config.ClientInterval()
	if !f.Received.IsZero() {
		late = f.Received.Sub(at)
	}
	c.eventsDropped = full > 0 && late >= full
	return c.eventsDropped
}

// SetRecorded sets what the event recorder wrote last about a pod. The zero value means that it has not
// written anything yet.
func (c *Channels) SetRecorded(uid types.UID, last sources.Recorded) {
	c.recorder[uid] = last
	c.HasRecorder = c.HasRecorder || last.Version != ""
}

// ForgetPod drops what the event recorder wrote about a pod.
func (c *Channels) ForgetPod(uid types.UID) {
	delete(c.recorder, uid)
	delete(c.updated, uid)
}

// PodUpdated records that in the model the scheduler receives a new version of the pod at now. The real one
// may receive it up to VersionSlack later. Until then an attempt may be of the previous version, of which the
// recorder writes no third Event.
func (c *Channels) PodUpdated(now time.Time, uid types.UID) {
	if c.recorder[uid].Count >= eventsPerVersion {
		c.updated[uid] = now
	}
}

// eventsPerVersion is how many failures of a pod at one resourceVersion the recorder writes.
const eventsPerVersion = 2

// leavesTrace reports whether an attempt of pod that fails now is visible. It is if it is the pod's first
// one, which writes the pod's condition, and the source records requests. It also is if the recorder writes
// an Event: if what it wrote before is known, and is less than eventsPerVersion at the version of the pod
// that the scheduler has.
func (c *Channels) leavesTrace(now time.Time, pod *v1.Pod) bool {
	if c.Logged() || c.leavesRequest(pod) {
		return true
	}
	last, known := c.recorder[pod.UID]
	if !known || !c.HasRecorder || cluster.Grouped(c.Config.Queue, pod) {
		return false
	}
	return last.Count < eventsPerVersion || last.Version != pod.ResourceVersion && now.Sub(c.updated[pod.UID]) >= VersionSlack
}

// leavesRequest reports whether an attempt of pod sends a recorded request whatever its outcome is, as a
// first attempt does.
func (c *Channels) leavesRequest(pod *v1.Pod) bool {
	return c.Requests && cluster.Unscheduled(pod) == nil && !cluster.Grouped(c.Config.Queue, pod)
}

// Logged reports whether the scheduler's log contains the end of every attempt.
func (c *Channels) Logged() bool { return c.Verbosity >= sources.AttemptsVerbosity }

// LogsStarts reports whether the scheduler's log contains the start of every attempt.
func (c *Channels) LogsStarts() bool { return c.Verbosity > sources.AttemptsVerbosity }

// watchesFor returns the resources whose watches are needed to see an attempt of pod. The pods' watch alone
// shows bindings, and the outcome of a first attempt.
func (c *Channels) watchesFor(pod *v1.Pod) []string {
	switch {
	case c.Logged():
		return nil
	case c.leavesRequest(pod):
		return []string{sources.PodsWatch}
	}
	return []string{sources.PodsWatch, sources.EventsWatch}
}

// WatchesPods reports whether the pods' watch, or the log, works during Foresight from now on.
func (c *Channels) WatchesPods(now time.Time) bool {
	return c.Logged() && c.Gaps.Working(now, Foresight) || c.Gaps.Working(now, Foresight, sources.PodsWatch)
}

// Silence is what it means that no trace of an attempt was observed.
type Silence uint8

const (
	// Inconclusive means that an attempt need not leave a trace, or that the source does not reach that far.
	Inconclusive Silence = iota
	// Late means that the trace may still arrive, because the requests that leave it wait for each other.
	Late
	// Conclusive means that there was no attempt: it would have left a trace.
	Conclusive
	// WatchBroken means that the attempt would have left a trace, but its watch did not work.
	WatchBroken
)

// Silence returns what it means that no attempt of pod is observed from now until Horizon.
func (c *Channels) Silence(now time.Time, pod *v1.Pod) Silence {
	switch {
	case !c.Until.Add(-WriteTime).After(now) || !c.leavesTrace(now, pod):
		return Inconclusive
	case !c.Horizon(now, pod).After(now):
		return WatchBroken
	case c.mayBeLate(now, pod):
		return Late
	}
	return Conclusive
}

// mayBeLate reports whether a trace of an attempt of pod at now may be late or dropped.
func (c *Channels) mayBeLate(now time.Time, pod *v1.Pod) bool {
	switch {
	case c.Logged():
		return false
	case c.Saturated(now):
		return true
	case c.leavesRequest(pod):
		return c.eventsLate(now) && c.Idle(now) // while requests wait, they show the order
	}
	return c.eventsDropped || c.eventsLate(now)
}

// eventsLate reports whether the Event of an attempt at now may not have arrived yet, because Events wait for
// their client's rate limit.
func (c *Channels) eventsLate(now time.Time) bool {
	return c.Events.Backlogged(c.Until) && now.Add(Foresight).After(c.Events.CompleteUntil(c.Until))
}

// Horizon returns the time before which every attempt of pod is observed, seen from now. It is Foresight
// after now, but at most WriteTime before the source's end or its next gap.
func (c *Channels) Horizon(now time.Time, pod *v1.Pod) time.Time {
	horizon, until := now.Add(Foresight), c.Until
	if gap, ok := c.Gaps.Next(now, c.watchesFor(pod)...); ok && gap.Since.Before(until) {
		until = gap.Since
	}
	if until := until.Add(-WriteTime); until.Before(horizon) {
		return until
	}
	return horizon
}

// Slack returns how long after an attempt of the model a trace of a failure is taken for that attempt's. event
// is true for an Event, which contains the time of the failure, and false for a change of the pod.
func (c *Channels) Slack(now time.Time, event bool) time.Duration {
	if since, missed := c.Gaps.Missed(now, sources.PodsWatch); missed && !event && !c.Logged() {
		return now.Sub(since) + UnrecordedSlack
	}
	if c.Logged() || c.HasRecorder && !c.Saturated(now) && (event || c.Gaps.Working(now, 0, sources.EventsWatch)) {
		return AttemptSlack
	}
	return UnrecordedSlack
}

// RecordRequest counts a request that is observed at now against the client's rate limit.
func (c *Channels) RecordRequest(now time.Time) {
	_, missed := c.Gaps.Missed(now, sources.PodsWatch)
	c.CountRequest(now, !missed)
}
