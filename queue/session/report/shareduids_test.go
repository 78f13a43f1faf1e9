package report

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSharedUIDs: of pods that have one UID at a time, a person is told; a pod may have the UID of one that is gone.
func TestSharedUIDs(t *testing.T) {
	pod := func(c *world.Cluster, seconds float64, verb sources.Verb, name, uid string) {
		p := world.Wants(name, "1")
		p.UID = types.UID(uid)
		world.Happens(c, seconds, verb, p, nil)
	}
	var c world.Cluster
	pod(&c, 1, sources.Added, "a", "one")
	pod(&c, 2, sources.Updated, "a", "one")
	pod(&c, 3, sources.Deleted, "a", "one")
	pod(&c, 4, sources.Added, "b", "one")
	pod(&c, 5, sources.Added, "", "")
	pod(&c, 5, sources.Added, "c", "")
	if said := sharedUIDs(c.Events); said != "" {
		t.Errorf("it says %q of pods one after the other", said)
	}
	pod(&c, 6, sources.Added, "c", "one")
	pod(&c, 7, sources.Updated, "c", "one")
	want := "Pods default/b and default/c have the same UID one: a local scheduler leaves the second out."
	if got := Notices(c.Recording(10)); !slices.Contains(got, want) {
		t.Errorf("the notices are %q", got)
	}
	pod(&c, 8, sources.Added, "d", "one")
	world.Says(t, sharedUIDs(c.Events), "Pods default/b and default/c have the same UID one: a local scheduler leaves the second out, and 1 such pod more.")
}
