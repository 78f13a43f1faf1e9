package evidence

import (
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// The rate and the burst of the client's limit (client-go, rate.Limiter) are those of the scheduler's
// configuration, clientConnection.
const (
	// visibleShare is the minimum share of requests that are visible: patches of victims do not show that the
	// scheduler sent them. Chosen.
	visibleShare = 0.8
	// lowVisible is how few tokens are left when requests begin to wait, if only visible requests are counted.
	// Chosen.
	lowVisible = 10
	// lowExact is lowVisible if all requests are counted. Derived: see ownTokens.
	lowExact = 2
	// limitedShare is the minimum share of the rate at which requests are sent that waited for the limit when the
	// source attached. Chosen: a client that is not held up rarely comes close to its limit without exceeding it.
	limitedShare = 0.9
	// idleAfter is how long after waiting requests pods may still wait for the loop. Chosen.
	idleAfter = 5 * time.Second
)

// Limit estimates the tokens left of the rate limit of a scheduler's client. Restart must be called first.
type Limit struct {
	// Exact is true if the source records all requests of that client: see sources.Requested.
	Exact bool

	cfg       *schedulerconfig.Config
	limiter   *rate.Limiter
	limitedAt time.Time // when requests last waited
	// attached is when the source attached to a running scheduler, zero if it knows the scheduler from its start.
	// sinceAttach counts the visible requests from then on.
	attached    time.Time
	sinceAttach int
	cadence     cadence // of the visible requests
}

// Restart resets l for a scheduler with that configuration, which has sent no requests.
func (l *Limit) Restart(cfg *schedulerconfig.Config) {
	l.cfg, l.limiter = cfg, cfg.ClientLimiter(visibleShare)
	if l.Exact {
		l.limiter = cfg.ClientLimiter(1)
	}
	l.attached, l.sinceAttach, l.cadence = time.Time{}, 0, cadence{interval: cfg.ClientInterval()}
}

// Attach records that the source attached to a running scheduler at now. limited is true if requests waited
// for the limit then.
func (l *Limit) Attach(now time.Time, limited bool) {
	l.attached = now
	if limited {
		l.limiter.ReserveN(now, l.limiter.Burst())
		l.limitedAt = now
	}
}

// CountRequest counts a request that is observed at now. timely is false if it may be much older, because its
// watch did not work. Then it only counts if all requests are recorded.
func (l *Limit) CountRequest(now time.Time, timely bool) {
	if l.Exact {
		l.limiter.ReserveN(now, 1)
	} else if timely {
		l.cadence.observe(l.limiter, now)
		l.limiter.AllowN(now, 1) // takes no token in advance: the request may be older
		l.countSinceAttach(now)
	}
	if l.Saturated(now) {
		l.limitedAt = now
	}
}

// countSinceAttach counts a visible request shortly after attaching. If they come at nearly the rate of the
// limit, they wait, so no tokens were left when the source attached.
func (l *Limit) countSinceAttach(now time.Time) {
	if l.attached.IsZero() || now.Sub(l.attached) > l.cfg.BurstTime() {
		return
	}
	if l.sinceAttach++; l.sinceAttach == l.cfg.SentInBurstTime(limitedShare) {
		l.limiter.ReserveN(now, int(l.limiter.TokensAt(now)))
	}
}

// Saturated reports whether the client's rate limit is nearly used up. Then requests wait for each other, and
// the scheduling loop for them.
func (l *Limit) Saturated(now time.Time) bool {
	low := lowVisible
	if l.Exact {
		low = lowExact
	}
	return l.limiter.TokensAt(now) < float64(low)
}

// Idle reports whether the scheduling loop has caught up, so that it pops a pod as soon as there is one.
func (l *Limit) Idle(now time.Time) bool { return now.Sub(l.limitedAt) > idleAfter }

// LimitedAtAttach reports whether requests waited for the rate limit when a source attached to a running
// scheduler, and when it attached. They did if they were sent at nearly that rate for as long as a burst lasts.
func LimitedAtAttach(cfg *schedulerconfig.Config, events []sources.Event) (attached time.Time, limited bool) {
	sent, attached := requestsAfterAttach(events, cfg.BurstTime())
	return attached, cfg.ClientQPS > 0 && sent >= cfg.SentInBurstTime(limitedShare)
}

// requestsAfterAttach returns how many of the scheduler's requests events include within that time after
// attaching to it, and when that was. sent is 0 if they do not include attaching. Earlier requests are
// late ones, as those of Events.
func requestsAfterAttach(events []sources.Event, within time.Duration) (sent int, began time.Time) {
	i := slices.IndexFunc(events, func(ev sources.Event) bool { _, is := ev.Fact.(*sources.Attached); return is })
	if i < 0 {
		return 0, began
	}
	began = events[i].Time
	for _, ev := range events[i:] {
		if ev.Time.Sub(began) > within {
			break
		}
		if _, is := ev.Fact.(*sources.Requested); is {
			sent++
		}
	}
	return sent, began
}
