package model

import (
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// channels are the ways on which a source tells of a real scheduler: its Events, and its requests. They say what it
// means that nothing is told.
//
// The scheduler's event recorder (k8s.io/client-go v0.37, tools/events/event_broadcaster.go) is told of every failed
// attempt. Of those of one pod at one resourceVersion it writes the first as an Event and the second as its series;
// the third and those that follow are only counted. So an attempt that would have been a first or a second one, and is
// not among the Events, was not made. That holds while requests are not held up by the client's rate limit, and as far
// as the source has told.
type channels struct {
	cfg *schedulerconfig.Config
	// requests is true if the source tells the scheduler's own requests. Then a change of a pod's condition is no sign
	// of one.
	requests bool
	// until is up to when the source has told what there is to tell.
	until time.Time

	recorder map[types.UID]sources.Recorded // what it wrote last, of the pods of which that is known
	records  bool                           // the source once told what it wrote

	limiter *rate.Limiter // what is left of the rate limit of the scheduler's client
	limited time.Time     // when that was last used up, or nearly
}

func newChannels(cfg *schedulerconfig.Config, requests bool) *channels {
	c := &channels{cfg: cfg, requests: requests, recorder: map[types.UID]sources.Recorded{}}
	c.restart()
	return c
}

// restart begins with a scheduler of which nothing was heard.
func (c *channels) restart() {
	c.limiter = clientLimiter(c.cfg, shownShare)
	clear(c.recorder)
}

// recorded takes in what the recorder wrote last of a pod. It is empty of a pod of which it wrote nothing yet.
func (c *channels) recorded(uid types.UID, last sources.Recorded) {
	c.recorder[uid] = last
	c.records = c.records || last.Version != ""
}

// mustShow reports whether the next failed attempt of pod is one that the recorder writes.
func (c *channels) mustShow(pod *v1.Pod) bool {
	last, known := c.recorder[pod.UID]
	return known && c.records && !grouped(c.cfg.Queue, pod) && (last.Count < 2 || last.Version != pod.ResourceVersion)
}

// horizon is up to when, seen from now, an attempt that is not told was not made.
func (c *channels) horizon(now time.Time) time.Time {
	horizon := now.Add(foresight)
	if until := c.until.Add(-writeTime); until.Before(horizon) {
		return until
	}
	return horizon
}

// slack is for how long after an attempt of the model a sign of a failed one is taken to be its.
func (c *channels) slack(now time.Time) time.Duration {
	if c.records && !c.saturated(now) {
		return attemptSlack
	}
	return unrecordedSlack
}

// requested notes a request of the scheduler.
func (c *channels) requested(now time.Time) {
	c.limiter.AllowN(now, 1)
	if c.saturated(now) {
		c.limited = now
	}
}

// saturated reports whether the scheduler has made nearly as many requests as its client's rate limit lets it, all at
// once or in the long run: then they wait for each other, and with them the loop.
func (c *channels) saturated(now time.Time) bool { return c.limiter.TokensAt(now) < fewLeft }

// idle reports whether the loop takes what there is to take at once.
func (c *channels) idle(now time.Time) bool { return now.Sub(c.limited) > relief }

// clientLimiter returns the rate limiter of the scheduler's client (clientConnection), at that share of its rate.
func clientLimiter(cfg *schedulerconfig.Config, share rate.Limit) *rate.Limiter {
	limit := share * rate.Limit(cfg.ClientQPS)
	if limit <= 0 {
		limit = rate.Inf
	}
	return rate.NewLimiter(limit, int(cfg.ClientBurst))
}

// grouped reports whether pod is queued with its pod group.
func grouped(opts queue.Options, pod *v1.Pod) bool {
	_, ok := opts.GroupOf(pod)
	return ok
}
