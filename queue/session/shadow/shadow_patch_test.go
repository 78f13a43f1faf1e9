package shadow_test

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// attempts returns how many times that pod is tried.
func attempts(t *testing.T, rec *sources.Recording, pod string) (n int) {
	t.Helper()
	for _, m := range replayed.Moves(t, rec, pod) {
		if strings.Contains(m, ">inflight") {
			n++
		}
	}
	return n
}

// TestPatchBesideLog: where the scheduler's log tells how each attempt ends, no patch shows another one.
func TestPatchBesideLog(t *testing.T) {
	for name, of := range map[string]struct{ verbosity, tried int }{"of 2": {2, 1}, "of 0": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			c.Add(0, &sources.Logged{Verbosity: of.verbosity})
			world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			c.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: world.TooSmall, Log: of.verbosity > 0})
			web = c.Patched(2.01, web, world.TooSmall, "")
			c.Patched(5, web, world.TooSmall, "")
			if got := attempts(t, c.Recording(6), "web"); got != of.tried {
				t.Errorf("it is tried %d times, want %d", got, of.tried)
			}
		})
	}
}
