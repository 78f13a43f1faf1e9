package board

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// maxDifferences limits how many pods a comparison lists.
const maxDifferences = 1000

// Comparison compares two boards at one moment: the one shown, and another.
type Comparison struct {
	// Names are the names of the two, the one shown first; Sizes their tier sizes, and Bound how many of
	// their recent pods were bound.
	Names [2]sources.SafeText
	Sizes [2][queue.InFlight + 1]int
	Bound [2]int
	// At is the time of each: they differ if one of them settled later.
	At [2]time.Time
	// Differences are the pods that differ in tier, node or number of attempts, by name: the first 1,000
	// of Total.
	Differences []Difference
	Total       int
}

// Difference is a pod on each of two boards. Either may be nil if that board does not have it.
type Difference struct {
	Key  types.NamespacedName
	Pods [2]*Pod
}

// Compare compares two boards. The caller sets Names and At.
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

// walk compares the pods of two boards in the order of their names.
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

// compareKeys compares the next pods of the two sides. A side that has none left sorts last.
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
			c.Bound[i]++
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
