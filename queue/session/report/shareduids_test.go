package report

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSharedUIDs: pods that share a UID at the same time cause a notice; reusing a deleted pod's UID does not.
func TestSharedUIDs(t *testing.T) {
	pod := func(c *world.Cluster, seconds float64, verb sources.Verb, name, uid string) {
		p := world.PendingPod(name, "1")
		p.UID = types.UID(uid)
		world.Change(c, seconds, verb, p, nil)
	}
	var c world.Cluster
	pod(&c, 1, sources.Added, "a", "one")
	pod(&c, 2, sources.Updated, "a", "one")
	pod(&c, 3, sources.Deleted, "a", "one")
	pod(&c, 4, sources.Added, "b", "one")
	pod(&c, 5, sources.Added, "", "")
	pod(&c, 5, sources.Added, "c", "")
	if said := sharedUIDs(c.Events); said != "" {
		t.Errorf("pods one after the other: %q", said)
	}
	pod(&c, 6, sources.Added, "c", "one")
	pod(&c, 7, sources.Updated, "c", "one")
	want := "Pods default/b and default/c have the same UID one: a local scheduler ignores the second."
	if got := Notices(c.Recording(10)); !slices.Contains(got, want) {
		t.Errorf("the notices are %q", got)
	}
	pod(&c, 8, sources.Added, "d", "one")
	world.ExpectText(t, sharedUIDs(c.Events), "Pods default/b and default/c have the same UID one: a local scheduler ignores the second, and 1 more such pod.")
}
