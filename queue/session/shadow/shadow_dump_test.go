package shadow_test

import (
	"testing"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestDumpAlone: of a log without objects, a dump tells where the pods were.
func TestDumpAlone(t *testing.T) {
	var c world.Cluster
	for at, in := range []sources.Tier{sources.TierBackoff, sources.TierBackoff, sources.TierActive} {
		c.Add(float64(1+at), &sources.Dumped{Pod: world.Key("a"), UID: "a", In: in})
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(4), "a"), []string{"1 >backoff observed", "3 backoff>active observed"})
}
