package web

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/schedq/schedq/room"
)

// tokens stores random tokens with which users log in again after a lost connection, without a code.
type tokens struct {
	mu      sync.Mutex
	byToken map[string]tokenEntry
}

type tokenEntry struct {
	room.Identity
	expires time.Time
}

const (
	tokenLifetime = 12 * time.Hour
	maxTokens     = 4096
)

func newTokens() *tokens { return &tokens{byToken: make(map[string]tokenEntry)} }

// issue returns a new token for id, or "" if there are too many.
func (t *tokens) issue(id room.Identity) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for token, entry := range t.byToken {
		if entry.expires.Before(now) {
			delete(t.byToken, token)
		}
	}
	if len(t.byToken) >= maxTokens {
		return ""
	}
	token := rand.Text()
	t.byToken[token] = tokenEntry{id, now.Add(tokenLifetime)}
	return token
}

// redeem invalidates a token and returns its identity. A token is valid once.
func (t *tokens) redeem(token string) (room.Identity, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, ok := t.byToken[token]
	delete(t.byToken, token)
	return entry.Identity, ok && time.Now().Before(entry.expires)
}

// guestName returns a random name for a kiosk visitor. Progress is kept by name, so it must be unused.
func guestName() string { return "guest-" + rand.Text()[:6] }
