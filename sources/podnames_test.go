package sources

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestPodNames: of any number of names it is known whether two sources have some in common, and about how many there are.
func TestPodNames(t *testing.T) {
	named := func(from, to int) *PodNames {
		p := &PodNames{}
		for i := from; i < to; i++ {
			p.Add(types.NamespacedName{Namespace: "default", Name: fmt.Sprint("p-", i)})
		}
		return p
	}
	for _, c := range []struct {
		from, to, otherFrom, otherTo int
		shares                       bool
	}{
		{0, 0, 0, 10, false},
		{0, 10, 9, 20, true},
		{0, 10, 10, 20, false},
		{0, 3 * maxPodNames, 2 * maxPodNames, 4 * maxPodNames, true},
		{0, 3 * maxPodNames, 3 * maxPodNames, 4 * maxPodNames, false},
	} {
		a, b := named(c.from, c.to), named(c.otherFrom, c.otherTo)
		if a.Shares(b) != c.shares || b.Shares(a) != c.shares {
			t.Errorf("%+v: %t, %t", c, a.Shares(b), b.Shares(a))
		}
		if n := c.to - c.from; a.Len() < n*9/10 || a.Len() > n*11/10 || len(a.names) > maxPodNames {
			t.Errorf("%+v: about %d names, of which %d are held", c, a.Len(), len(a.names))
		}
	}
}
