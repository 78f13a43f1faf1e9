package web

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/schedq/schedq/room"
)

// passes are what those in the room come in by again, without a code, when they have lost the connection: a token each, which
// nobody guesses.
type passes struct {
	mu      sync.Mutex
	byToken map[string]pass
}

// pass is what a token stands for.
type pass struct {
	room.Pass
	until time.Time
}

// lasting is for how long a token is good after it was given or used last, and mostPasses how many there are.
const (
	lasting    = 12 * time.Hour
	mostPasses = 4096
)

// issue makes a token for somebody who is let in. It is empty if there are too many.
func (p *passes) issue(of room.Pass) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for token, known := range p.byToken {
		if known.until.Before(now) {
			delete(p.byToken, token)
		}
	}
	if len(p.byToken) >= mostPasses {
		return ""
	}
	token := rand.Text()
	p.byToken[token] = pass{of, now.Add(lasting)}
	return token
}

// redeem takes a token back, and returns what it stands for: each is good once.
func (p *passes) redeem(token string) (room.Pass, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.byToken[token]
	delete(p.byToken, token)
	return known.Pass, ok && time.Now().Before(known.until)
}

// newName is a name for somebody who gives none, that nobody had before: how far they come is kept by it.
func newName() string { return "guest-" + rand.Text()[:6] }
