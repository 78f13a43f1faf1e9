// Package ratelimit knows when a scheduler's requests wait for its client's rate limit, from those that are seen.
package ratelimit

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// When the requests of the scheduler's client wait for each other (client-go, rate.Limiter; the rate and the burst are
// the configuration's, clientConnection).
const (
	// shownShare is the share that shows, at the least, of the requests that the rate limit lets through: the patches
	// of victims do not show to be the scheduler's doing. Chosen, no derivation yet.
	shownShare = 0.8
	// fewLeft is how few requests are left when they begin to wait. Chosen, no derivation yet.
	fewLeft = 10
	// noneLeft is the same where all requests are told. Derived: see evidence, ownTurn.
	noneLeft = 2
	// limitedShare is the share of the rate limit at which requests are sent, at the least, that had waited for it when a
	// source came to the scheduler. Chosen: who is not held up has no reason to come near to it, and not to go beyond.
	limitedShare = 0.9
	// relief is for how long after that pods may still wait for the loop. Chosen, no derivation yet.
	relief = 5 * time.Second
)

// Limit is what is left of the rate limit of a scheduler's client. Restart must come first.
type Limit struct {
	// Exact is true if the source tells all requests of that client: see sources.Requested.
	Exact bool

	cfg     *schedulerconfig.Config
	limiter *rate.Limiter
	limited time.Time // when that was last used up, or nearly
	// attached is when the source came to a scheduler at work, and first how many requests have shown in the time from then on in
	// which its burst would be let through a second time. Zero if the source knows the scheduler from its start.
	attached time.Time
	first    int
	cadence  Cadence   // of those that show
	line     time.Time // when the last request given to Wait is sent
}

// OfShown is the limit of the requests that show, where not all are told, and how few of it are left when they begin to wait.
func OfShown(cfg *schedulerconfig.Config) (limit *rate.Limiter, left float64) {
	return cfg.ClientLimiter(shownShare), fewLeft
}

// Restart begins anew with a scheduler of that configuration, which has made no requests.
func (l *Limit) Restart(cfg *schedulerconfig.Config) {
	l.cfg, l.limiter = cfg, cfg.ClientLimiter(shownShare)
	if l.Exact {
		l.limiter = cfg.ClientLimiter(1)
	}
	l.attached, l.first, l.cadence, l.line = time.Time{}, 0, CadenceOf(cfg.ClientInterval()), time.Time{}
}

// Attach says that the source came at now to a scheduler at work, and whether its requests waited for the limit then.
func (l *Limit) Attach(now time.Time, limited bool) {
	l.attached = now
	if limited {
		l.limiter.ReserveN(now, l.limiter.Burst())
		l.limited = now
	}
}

// Sent counts a request that is seen at now against the limit. heard is false if it may have been made at any time before, as what made
// it was not heard: then it counts only where all are told.
func (l *Limit) Sent(now time.Time, heard bool) {
	if l.Exact {
		l.limiter.ReserveN(now, 1)
	} else if heard {
		l.cadence.UseUp(l.limiter, now)
		l.limiter.AllowN(now, 1) // it may be counted later than it was made
		l.countFirst(now)
	}
	if l.Saturated(now) {
		l.limited = now
	}
}

// countFirst counts a request of those that show first where the source came to a scheduler at work. If as many come as the rate limit
// lets through, they wait for it: so nothing was left of it when the source came, whatever it let through before.
func (l *Limit) countFirst(now time.Time) {
	if l.attached.IsZero() || now.Sub(l.attached) > l.cfg.BurstTime() {
		return
	}
	if l.first++; l.first == l.cfg.SentInBurstTime(limitedShare) {
		l.limiter.ReserveN(now, int(l.limiter.TokensAt(now)))
	}
}

// Saturated reports whether the scheduler has made nearly as many requests as its client's rate limit lets it, all at
// once or in the long run: then they wait for each other, and with them the loop.
func (l *Limit) Saturated(now time.Time) bool {
	few := fewLeft
	if l.Exact {
		few = noneLeft
	}
	return l.limiter.TokensAt(now) < float64(few)
}

// Turn returns when a request is sent that is made at now, which need not show: while requests wait, behind those that Wait was told of, and behind
// shown, when one is sent that does show. Where all are told it returns now.
func (l *Limit) Turn(now, shown time.Time) time.Time {
	if l.Exact || !l.Saturated(now) {
		return now
	}
	behind := now
	for _, sent := range []time.Time{shown, l.line} {
		if sent.After(behind) {
			behind = sent
		}
	}
	return behind.Add(l.cfg.ClientInterval())
}

// Wait counts a request that is made at now, need not show, and waits for its turn. If that is now, nothing waits any more.
func (l *Limit) Wait(now, turn time.Time) {
	if l.line = turn; turn.After(now) {
		l.limiter.ReserveN(now, 1)
	}
}

// Idle reports whether the loop has caught up, so that it takes a pod as soon as there is one: the rate limit has
// held nothing up for longer than relief.
func (l *Limit) Idle(now time.Time) bool { return now.Sub(l.limited) > relief }

// BeginLimited reports whether the scheduler's requests waited for its client's rate limit when events come to it at work, and when
// that is: they were sent at that rate for as long as its burst would have lasted at most.
func BeginLimited(cfg *schedulerconfig.Config, events []sources.Event) (began time.Time, limited bool) {
	sent, began := cluster.RequestsAfterAttach(events, cfg.BurstTime())
	return began, cfg.ClientQPS > 0 && sent >= cfg.SentInBurstTime(limitedShare)
}
