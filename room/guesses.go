package room

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// guesses are the wrong codes of the whole room. Each takes a turn, one after the other at one rate whoever gave it,
// and keeps it whatever becomes of the connection, so that hanging up buys no other try.
type guesses struct {
	turns *rate.Limiter

	mu      sync.Mutex
	waiting []turn // that are not over, in the order of time
	sources map[string]int
}

// turn is when a wrong code is answered.
type turn struct {
	at     time.Time
	source string
}

// freeGuesses are answered at once, if there were none for a while: people mistype.
const freeGuesses = 3

// The most wrong codes that wait for their turn, and the most of them from one source. With as many, further codes are
// not even compared.
const (
	mostWaiting = 512
	mostOfOne   = mostWaiting / 2
)

func newGuesses(rates rate.Limit) *guesses {
	return &guesses{turns: rate.NewLimiter(rates, freeGuesses), sources: make(map[string]int)}
}

// mayCompare reports whether a code from source is compared now: not too many wrong ones wait. At the teacher's door
// only those of the same source count.
func (g *guesses) mayCompare(source string, teachers bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	return g.sources[source] < mostOfOne && (teachers || len(g.waiting) < mostWaiting)
}

// takeTurn takes a turn for a wrong code, and returns when that is.
func (g *guesses) takeTurn(source string) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	now := time.Now()
	at := now.Add(g.turns.ReserveN(now, 1).DelayFrom(now))
	if at.After(now) {
		g.waiting = append(g.waiting, turn{at, source})
		g.sources[source]++
	}
	return at
}

// forget drops the turns that are over.
func (g *guesses) forget() {
	now, n := time.Now(), 0
	for ; n < len(g.waiting) && !g.waiting[n].at.After(now); n++ {
		source := g.waiting[n].source
		if g.sources[source]--; g.sources[source] == 0 {
			delete(g.sources, source)
		}
	}
	g.waiting = g.waiting[n:]
}
