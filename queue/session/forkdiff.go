package session

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// maxDifferences bounds how many pods a comparison lists.
const maxDifferences = 1000

// compareEvery is how often a comparison of many pods is made anew while playing, in real time.
const (
	compareEvery = 500 * time.Millisecond
	manyPods     = 10_000
)

// ForkComparison is how two timelines differ at one moment: the one that is shown, and another.
type ForkComparison struct {
	// Names are what the two are called, the one shown first; Sizes are how many pods each has in each tier,
	// Placed how many of those it has lately seen bound.
	Names  [2]sources.SafeText
	Sizes  [2][queue.InFlight + 1]int
	Placed [2]int
	At     time.Time
	// Differences are the pods that are not in the same tier, or not on the same node, by name; the first
	// 1,000 of Total.
	Differences []ForkDifference
	Total       int
}

// ForkDifference is a pod as it is in each of two timelines. Either may be nil: it is not known there.
type ForkDifference struct {
	Key  types.NamespacedName
	Pods [2]*board.Pod
}

// compare shows another timeline beside the one that is shown. Its own ID ends that.
func (o *owner) compare(id int) {
	other := o.forkOf(id)
	if id == TheRecording {
		other = o.recording
	}
	if old := o.compared; old != nil {
		o.compared, o.comparison = nil, nil
		if old != o.shownLine() {
			old.Suspend()
		}
	}
	o.changed = true
	switch {
	case other == nil:
		o.refuse("compare: there is no such what-if")
	case other == o.shownLine():
	default:
		o.compared = other
	}
}

// nameOf is what a timeline is called.
func (o *owner) nameOf(t *timeline.Timeline) sources.SafeText {
	if t.Branch == nil {
		return "the recording"
	}
	return t.Branch.Name
}

// compareNow returns how the two timelines differ at the moment shown, or nil if none is compared.
func (o *owner) compareNow() *ForkComparison {
	mine, other := o.shownLine(), o.compared
	if other == nil || other == mine {
		return nil
	}
	if c := o.comparison; c != nil && o.playing && mine.Shown.Pods.Len() > manyPods && time.Since(o.comparedAt) < compareEvery {
		return c
	}
	if o.now.After(other.Executed) {
		other.Resume()
	}
	other.GoTo(o.now)
	c := &ForkComparison{Names: [2]sources.SafeText{o.nameOf(mine), o.nameOf(other)}, At: o.now}
	for i, t := range []*timeline.Timeline{mine, other} {
		for _, tier := range board.Tiers {
			c.Sizes[i][tier] = t.Shown.Total(tier)
		}
	}
	c.walk(mine.Shown, other.Shown)
	o.comparison, o.comparedAt = c, time.Now()
	return c
}

// walk goes through the pods of two boards by name.
func (c *ForkComparison) walk(a, b *board.Board) {
	left, right := a.Pods.Iter(), b.Pods.Iter()
	defer left.Release()
	defer right.Release()
	more, moreRight := left.First(), right.First()
	for more || moreRight {
		d := ForkDifference{}
		switch order := compareKeys(more, moreRight, left.Item, right.Item); {
		case order < 0:
			d.Pods[0] = left.Item()
			more = left.Next()
		case order > 0:
			d.Pods[1] = right.Item()
			moreRight = right.Next()
		default:
			d.Pods = [2]*board.Pod{left.Item(), right.Item()}
			more, moreRight = left.Next(), right.Next()
		}
		c.add(d)
	}
}

// compareKeys says whose pod comes first, where either side may have none left.
func compareKeys(more, moreRight bool, left, right func() *board.Pod) int {
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
func (c *ForkComparison) add(d ForkDifference) {
	for i, p := range d.Pods {
		if p == nil {
			continue
		}
		d.Key = p.Key
		if p.Tier == queue.Scheduled {
			c.Placed[i]++
		}
	}
	if a, b := d.Pods[0], d.Pods[1]; a == b || a != nil && b != nil && a.Tier == b.Tier && a.Node == b.Node {
		return
	}
	c.Total++
	if len(c.Differences) < maxDifferences {
		c.Differences = append(c.Differences, d)
	}
}
