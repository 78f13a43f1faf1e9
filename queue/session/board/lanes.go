package board

import (
	"time"

	"github.com/schedq/schedq/queue"
)

// Lanes are the matching pods that were in the queue after some moment: first those that left, by when
// they left, then those still queued, by arrival. Creating one costs the same for any number of pods.
type Lanes struct {
	board *Board
	first int // number of lanes that ended before the moment
}

// Lanes returns the lanes of pods that were in the queue at since or later.
func (b *Board) Lanes(since time.Time) Lanes {
	t := b.laneTree()
	lo, hi := 0, t.Len()
	for lo < hi {
		mid := (lo + hi) / 2
		if p, _ := t.GetAt(mid); HasLeft(p) && p.Since.Before(since) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return Lanes{b, lo}
}

// Len returns the number of lanes.
func (l Lanes) Len() int { return l.board.laneTree().Len() - l.first }

// At returns the pod of the i-th lane, or nil if there is none.
func (l Lanes) At(i int) *Pod {
	if i < 0 {
		return nil
	}
	p, _ := l.board.laneTree().GetAt(l.first + i)
	return p
}

// Index returns the index of p's lane, or where it would be.
func (l Lanes) Index(p *Pod) int {
	t := l.board.laneTree()
	lo, hi := l.first, t.Len()
	for lo < hi {
		mid := (lo + hi) / 2
		if q, _ := t.GetAt(mid); byLane(q, p) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - l.first
}

// Waiting returns the index of the first lane that has not ended.
func (l Lanes) Waiting() int { return max(0, ended(l.board.laneTree())-l.first) }

// OldestArrival returns when the longest-waiting pod arrived, ignoring the filter. It is zero if the
// queue is empty.
func (b *Board) OldestArrival() time.Time {
	if p, ok := b.lanes.GetAt(ended(b.lanes)); ok {
		return p.Arrived
	}
	return time.Time{}
}

// maxGatedSkipped limits how many gated pods LongestWaiting skips.
const maxGatedSkipped = 1000

// LongestWaiting returns the matching pod that has been queued longest, or nil. It prefers pods that are
// not gated, which wait for the scheduler, and not probably gone, unless it would have to skip very many.
func (b *Board) LongestWaiting() *Pod {
	t := b.laneTree()
	first, any := t.GetAt(ended(t))
	if !any {
		return nil
	}
	found, passed := first, 0
	t.Ascend(first, func(p *Pod) bool {
		if passed++; p.Listed() != queue.Gated && p.GoneSince.IsZero() {
			found = p
			return false
		}
		return passed < maxGatedSkipped
	})
	return found
}

// ended returns the number of lanes that have ended.
func ended(t *podTree) int {
	lo, hi := 0, t.Len()
	for lo < hi {
		mid := (lo + hi) / 2
		if p, _ := t.GetAt(mid); HasLeft(p) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (b *Board) laneTree() *podTree {
	if b.matchedLanes != nil {
		return b.matchedLanes
	}
	return b.lanes
}

// replaceLane replaces before by after. Either may be nil.
func (b *Board) replaceLane(before, after *Pod) {
	if before != nil {
		b.lanes.Delete(before)
		if b.matchedLanes != nil {
			b.matchedLanes.Delete(before)
		}
	}
	if after != nil {
		b.lanes.Set(after)
		if b.matchedLanes != nil && b.matches(after) {
			b.matchedLanes.Set(after)
		}
	}
}

// filterLanes rebuilds the matching lanes.
func (b *Board) filterLanes() {
	b.matchedLanes = newTree(byLane)
	b.lanes.Scan(func(p *Pod) bool {
		if b.matches(p) {
			b.matchedLanes.Load(p) // they are sorted
		}
		return true
	})
}

// HasLeft reports whether p is no longer in the queue: bound, deleted or in no tier.
func HasLeft(p *Pod) bool { return p.Listed() == queue.None || p.Listed() > queue.InFlight }

// byLane is the order of the lanes.
func byLane(a, b *Pod) bool {
	switch aLeft, bLeft := HasLeft(a), HasLeft(b); {
	case aLeft != bLeft:
		return aLeft
	case aLeft:
		return less(a.Since.Compare(b.Since), 0, a, b)
	default:
		return less(a.Arrived.Compare(b.Arrived), 0, a, b)
	}
}

// DropLeft removes the pods that left the queue before t, except those for which keep returns true. keep
// may be nil.
func (b *Board) DropLeft(t time.Time, keep func(*Pod) bool) {
	var gone []*Pod
	b.lanes.Scan(func(p *Pod) bool { // those that left sort first, by when they left
		if !HasLeft(p) || !p.Since.Before(t) {
			return false
		}
		if keep == nil || !keep(p) {
			gone = append(gone, p)
		}
		return true
	})
	bound := b.bound
	for _, p := range gone {
		b.Replace(p, nil)
	}
	b.bound = bound // still counts them
}
