package room

import (
	"fmt"
	"testing"
)

// TestTokensForThoseWhoReturn: visitors who hang up at once do not use up the tokens of active
// people, whose tokens are kept longest, and every visitor gets a token.
func TestTokensForThoseWhoReturn(t *testing.T) {
	_, _, r := serveRoom(t, nil)
	conn := &Conn{room: r, pending: newPendingSet(1, false)}
	visit := func(name, source string, active bool) (token string) {
		v, err := r.join(login{user: name, source: source}, Identity{OnJoin: func(string, string) {}})
		if err != nil {
			t.Fatal(err)
		}
		if active {
			v.noteActivity()
		}
		r.remove(v, true)
		return v.token
	}
	ada := visit("ada", "192.0.2.1", true)
	bob := visit("bob", "192.0.2.2", false)
	for n := range 2 * maxTokens {
		if token := visit(fmt.Sprint("eve", n), "192.0.2.1", false); token == "" {
			t.Fatalf("visitor %d gets no token", n)
		}
	}
	last := visit("cleo", "192.0.2.1", false)
	for name, token := range map[string]string{"ada": ada, "bob": bob, "cleo": last} {
		if id, ok := conn.CheckToken(RoomToken, token); !ok || id.Name != name {
			t.Errorf("%s can't return: %q, %t", name, id.Name, ok)
		}
	}
	if n := len(r.tokens); n > maxTokens {
		t.Errorf("%d tokens are kept", n)
	}
}
