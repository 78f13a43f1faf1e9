package serve

import (
	"net"
	"os"
	"testing"
)

// The command that visitors are told connects to where the room listens.
func TestCalledFromOutside(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ ip, want string }{
		{"127.0.0.1", "127.0.0.1"}, {"192.0.2.7", "192.0.2.7"}, {"::1", "::1"}, {"0.0.0.0", name}, {"::", name},
	} {
		if got := calledFromOutside(&net.TCPAddr{IP: net.ParseIP(c.ip), Port: 2299}); got != c.want {
			t.Errorf("a room that listens at %s is called %s, want %s", c.ip, got, c.want)
		}
	}
}
