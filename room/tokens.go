package room

import (
	"crypto/rand"
	"time"
)

// Scope is what a token is good for.
type Scope string

// A token for one page does not open the other.
const (
	RoomToken  Scope = "room"
	NotesToken Scope = "notes"
)

// token lets a user return after a lost connection, once and without a code. It ends with the code, unless its owner is
// in the room when the code changes, and with its owner: when they quit, are removed, or return under another one.
type token struct {
	Identity
	scope   Scope
	source  string
	owner   uint64 // the visitor's id; 0 for the notes
	active  bool   // whether the owner was, when they left
	expires time.Time
}

const (
	tokenLifetime = 12 * time.Hour
	// maxTokens is many times the number of people in a room, so that those who hang up at once don't use up all.
	maxTokens = 1024
)

// issueToken returns a new token. owner is nil for the notes. Room.update calls its callers.
func (r *Room) issueToken(scope Scope, id Identity, source string, owner *Visitor) string {
	now := time.Now()
	for key, t := range r.tokens {
		if t.expires.Before(now) {
			delete(r.tokens, key)
		}
	}
	if len(r.tokens) >= maxTokens {
		r.dropToken()
	}
	t := &token{Identity: id, scope: scope, source: source, expires: now.Add(tokenLifetime)}
	t.OnJoin = nil // it would keep the connection in memory
	key := rand.Text()
	if owner != nil {
		t.Name, t.owner, owner.token = owner.name, owner.id, key
	}
	r.tokens[key] = t
	return key
}

// leaveToken ends the token of a visitor who left, unless they lost their connection. Room.update calls it.
func (r *Room) leaveToken(v *Visitor, lost bool) {
	if t := r.tokens[v.token]; t != nil && lost {
		t.active = v.wasActive.Load()
	} else {
		delete(r.tokens, v.token)
	}
}

// dropToken drops the token that is missed least among those whose owners are not in the room: of somebody who did
// nothing, then of the source with most tokens, then the oldest.
func (r *Room) dropToken() {
	sources := make(map[string]int)
	for _, t := range r.tokens {
		sources[t.source]++
	}
	least := ""
	for key, t := range r.tokens {
		if r.hasOwner(t) {
			continue
		}
		if l := r.tokens[least]; l != nil {
			switch {
			case t.active != l.active:
				if t.active {
					continue
				}
			case sources[t.source] != sources[l.source]:
				if sources[t.source] < sources[l.source] {
					continue
				}
			case !t.expires.Before(l.expires):
				continue
			}
		}
		least = key
	}
	delete(r.tokens, least)
}

// hasOwner reports whether the token's owner is in the room. Tokens for the notes end only by time and by use.
func (r *Room) hasOwner(t *token) bool { return t.owner == 0 || r.visitors[t.owner] != nil }

// dropUnowned drops the tokens of visitors who are not in the room.
func (r *Room) dropUnowned() {
	for key, t := range r.tokens {
		if !t.Teacher && !r.hasOwner(t) {
			delete(r.tokens, key)
		}
	}
}

// IssueToken returns a new token for the notes of an authenticated teacher. Visitors get theirs from RunSession.
func (c *Conn) IssueToken(id Identity) (key string) {
	c.room.update(func(r *Room) { key = r.issueToken(NotesToken, id, c.source, nil) })
	return key
}

// CheckToken invalidates a token, and returns its identity if it was valid.
func (c *Conn) CheckToken(scope Scope, key string) (Identity, bool) {
	r := c.room
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tokens[key]
	if t == nil || t.scope != scope || c.pending.teachersOnly && !t.Teacher {
		return Identity{}, false
	}
	delete(r.tokens, key)
	c.code = r.code
	return t.Identity, time.Now().Before(t.expires)
}
