package room

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// codeLimiter delays the replies to wrong codes of the whole room. All share one rate, whatever
// their source, and a reply keeps its slot after the connection closes, so hanging up does not buy
// another guess.
type codeLimiter struct {
	replies *rate.Limiter

	mu        sync.Mutex
	waiting   []pendingReply // future replies, by time
	perSource map[string]int // of waiting
}

type pendingReply struct {
	at     time.Time
	source string
}

// codeBurst is how many wrong codes are answered at once after a quiet period, since people mistype.
const codeBurst = 3

// Limits of the wrong codes that wait for a reply, in all and per source. Above them, further codes
// are not compared.
const (
	maxWaiting          = 512
	maxWaitingPerSource = maxWaiting / 2
)

func newCodeLimiter(perSecond rate.Limit) *codeLimiter {
	return &codeLimiter{replies: rate.NewLimiter(perSecond, codeBurst), perSource: make(map[string]int)}
}

// allow reports whether a code from source may be compared now. On a teachers-only listener only
// wrong codes from the same source count.
func (l *codeLimiter) allow(source string, teachersOnly bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	return l.perSource[source] < maxWaitingPerSource && (teachersOnly || len(l.waiting) < maxWaiting)
}

// reserve reserves a reply to a wrong code, and returns its time.
func (l *codeLimiter) reserve(source string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	now := time.Now()
	at := now.Add(l.replies.ReserveN(now, 1).DelayFrom(now))
	if at.After(now) {
		l.waiting = append(l.waiting, pendingReply{at, source})
		l.perSource[source]++
	}
	return at
}

// expire drops past replies.
func (l *codeLimiter) expire() {
	now, n := time.Now(), 0
	for ; n < len(l.waiting) && !l.waiting[n].at.After(now); n++ {
		source := l.waiting[n].source
		if l.perSource[source]--; l.perSource[source] == 0 {
			delete(l.perSource, source)
		}
	}
	l.waiting = l.waiting[n:]
}
