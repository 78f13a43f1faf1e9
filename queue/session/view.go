package session

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
)

// view is how a person sees a board: through a filter, and each tier in an order. It is never modified, so
// that two boards with the same view are seen alike.
type view struct {
	filter filter.Filter
	sorts  [queue.InFlight + 1]Sort
	// unfolded are the pod groups that are not one row.
	unfolded map[types.NamespacedName]bool
}

// seen returns the view that v is with another filter.
func (v *view) seen(f filter.Filter) *view {
	w := view{}
	if v != nil {
		w = *v
	}
	w.filter = f
	return &w
}

// sorted returns the view that v is with another order of some tiers.
func (v *view) sorted(s Sort, tiers []queue.Tier) *view {
	w := view{}
	if v != nil {
		w = *v
	}
	for _, t := range tiers {
		if t <= queue.InFlight {
			w.sorts[t] = s
		}
	}
	return &w
}

// Sort returns the order of the pods in tier.
func (b *Board) Sort(tier queue.Tier) Sort {
	if b.view == nil || tier > queue.InFlight {
		return Sort{}
	}
	return b.view.sorts[tier]
}

// filter returns the filter that the board is seen through.
func (b *Board) filter() filter.Filter {
	if b.view == nil {
		return filter.Filter{}
	}
	return b.view.filter
}

// matches reports whether the filter selects p at the board's moment.
func (b *Board) matches(p *Pod) bool {
	return b.view == nil || b.view.filter.Empty() || b.view.filter.Match(p.facts(b.now))
}

// setView makes the board be seen in another way, from now. Its cost grows with the number of pods.
func (b *Board) setView(v *view, now time.Time) {
	b.view, b.now = v, now
	b.matched, b.matchedLanes = [queue.InFlight + 1]*podTree{}, nil
	f := b.filter()
	if !f.Empty() {
		b.filterLanes()
	}
	for _, t := range shown {
		if f.Empty() && b.Sort(t) == (Sort{}) && !b.grouped() {
			continue
		}
		b.matched[t] = newTree(b.Sort(t).order(t))
		if b.grouped() {
			b.foldTier(t)
			continue
		}
		b.tiers[t].Scan(func(p *Pod) bool {
			if b.matches(p) {
				b.matched[t].Load(p) // quick for what comes in order
			}
			return true
		})
	}
}

// retime makes the board be seen from another moment. Only pods whose waiting passed a length that the filter
// names are looked at again.
func (b *Board) retime(now time.Time) {
	was := b.now
	b.now = now
	if was.Equal(now) {
		return
	}
	early, late := was, now
	if now.Before(was) {
		early, late = now, was
	}
	for _, wait := range b.filter().Waits() {
		first := &Pod{Arrived: early.Add(-wait)}
		first.Tier = queue.Active // among those that are there
		b.lanes.Ascend(first, func(p *Pod) bool {
			if p.Arrived.After(late.Add(-wait)) {
				return false
			}
			b.match(p)
			return true
		})
	}
}

// match looks again whether the filter selects p, which is in the queue.
func (b *Board) match(p *Pod) {
	if b.matches(p) {
		b.show(p)
		b.matchedLanes.Set(p)
	} else {
		b.hide(p)
		b.matchedLanes.Delete(p)
	}
}

// facts are what a filter looks at, at now.
func (p *Pod) facts(now time.Time) *filter.Pod {
	f := &filter.Pod{
		Namespace: p.Key.Namespace, Name: p.Key.Name, Tier: p.Listed(),
		Unschedulable: p.UnschedulablePlugins, Pending: p.PendingPlugins, Gating: p.GatingPlugin,
		Labels: p.Labels(), Node: p.Node, Attempts: p.Attempts, Priority: p.Priority,
	}
	f.OwnerKind, f.OwnerName = p.Owner()
	if f.Node == "" {
		f.Node = p.NominatedNode
	}
	switch {
	case p.Arrived.IsZero():
	case left(p):
		f.Waiting = p.Since.Sub(p.Arrived)
	default:
		f.Waiting = now.Sub(p.Arrived)
	}
	return f
}
