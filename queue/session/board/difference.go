package board

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// maxDifferences bounds how many pods a comparison lists.
const maxDifferences = 1000

// Comparison is how two boards differ at one moment: the one that is shown, and another.
type Comparison struct {
	// Names are what the two are called, the one shown first; Sizes are how many pods each has in each tier,
	// Placed how many of those it has lately seen bound.
	Names  [2]sources.SafeText
	Sizes  [2][queue.InFlight + 1]int
	Placed [2]int
	At     time.Time
	// Differences are the pods that are not in the same tier or not on the same node, or were tried another number of
	// times, by name; the first 1,000 of Total.
	Differences []Difference
	Total       int
}

// Difference is a pod as it is on each of two boards. Either may be nil: it is not known there.
type Difference struct {
	Key  types.NamespacedName
	Pods [2]*Pod
}

// Compare returns how two boards differ, which Names and At are yet to be said of.
func Compare(a, b *Board) *Comparison {
	c := &Comparison{}
	for i, b := range []*Board{a, b} {
		for _, tier := range Tiers {
			c.Sizes[i][tier] = b.Total(tier)
		}
	}
	c.walk(a, b)
	return c
}

// walk goes through the pods of two boards by name.
func (c *Comparison) walk(a, b *Board) {
	left, right := a.Pods.Iter(), b.Pods.Iter()
	defer left.Release()
	defer right.Release()
	more, moreRight := left.First(), right.First()
	for more || moreRight {
		d := Difference{}
		switch order := compareKeys(more, moreRight, left.Item, right.Item); {
		case order < 0:
			d.Pods[0] = left.Item()
			more = left.Next()
		case order > 0:
			d.Pods[1] = right.Item()
			moreRight = right.Next()
		default:
			d.Pods = [2]*Pod{left.Item(), right.Item()}
			more, moreRight = left.Next(), right.Next()
		}
		c.add(d)
	}
}

// compareKeys says whose pod comes first, where either side may have none left.
func compareKeys(more, moreRight bool, left, right func() *Pod) int {
	switch {
	case !moreRight:
		return -1
	case !more:
		return 1
	}
	a, b := left().Key, right().Key
	if n := strings.Compare(a.Namespace, b.Namespace); n != 0 {
		return n
	}
	return strings.Compare(a.Name, b.Name)
}

// add counts d, and lists it if its pods differ.
func (c *Comparison) add(d Difference) {
	for i, p := range d.Pods {
		if p == nil {
			continue
		}
		d.Key = p.Key
		if p.Tier == queue.Scheduled {
			c.Placed[i]++
		}
	}
	if a, b := d.Pods[0], d.Pods[1]; a == b || a != nil && b != nil && a.Tier == b.Tier && a.Node == b.Node && a.Attempts == b.Attempts {
		return
	}
	c.Total++
	if len(c.Differences) < maxDifferences {
		c.Differences = append(c.Differences, d)
	}
}
