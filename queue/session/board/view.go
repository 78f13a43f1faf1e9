package board

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
)

// View is how a person sees a board: through a filter, and each tier in an order. It is never modified, so
// that two boards with the same view are seen alike.
type View struct {
	Filter filter.Filter
	sorts  [queue.InFlight + 1]Sort
	// unfolded are the pod groups that are not one row.
	unfolded map[types.NamespacedName]bool
}

// WithFilter returns v with another filter. v may be nil.
func (v *View) WithFilter(f filter.Filter) *View {
	w := View{}
	if v != nil {
		w = *v
	}
	w.Filter = f
	return &w
}

// WithSort returns v with another order of those tiers. v may be nil.
func (v *View) WithSort(s Sort, tiers []queue.Tier) *View {
	w := View{}
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
	if b.View == nil || tier > queue.InFlight {
		return Sort{}
	}
	return b.View.sorts[tier]
}

// Filter returns the filter that the board is seen through.
func (b *Board) Filter() filter.Filter {
	if b.View == nil {
		return filter.Filter{}
	}
	return b.View.Filter
}

// matches reports whether the filter selects p at the board's moment.
func (b *Board) matches(p *Pod) bool {
	return b.View == nil || b.View.Filter.Empty() || b.View.Filter.Match(p.Facts(b.Now))
}

// SetView makes the board be seen in another way, from now. Its cost grows with the number of pods.
func (b *Board) SetView(v *View, now time.Time) {
	b.View, b.Now = v, now
	b.matched, b.matchedLanes = [queue.InFlight + 1]*podTree{}, nil
	f := b.Filter()
	if !f.Empty() {
		b.filterLanes()
	}
	for _, t := range Tiers {
		if f.Empty() && b.Sort(t) == (Sort{}) && !b.grouped() {
			continue
		}
		b.matched[t] = newTree(b.Sort(t).Order(t))
		if b.grouped() {
			b.foldTier(t)
			continue
		}
		b.Tiers[t].Scan(func(p *Pod) bool {
			if b.matches(p) {
				b.matched[t].Load(p) // quick for what comes in order
			}
			return true
		})
	}
}

// Retime makes the board be seen from another moment. Only pods whose waiting passed a length that the filter
// names are looked at again.
func (b *Board) Retime(now time.Time) {
	was := b.Now
	b.Now = now
	if was.Equal(now) {
		return
	}
	early, late := was, now
	if now.Before(was) {
		early, late = now, was
	}
	for _, wait := range b.Filter().Waits() {
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

// Facts are what a filter looks at, at now.
func (p *Pod) Facts(now time.Time) *filter.Pod {
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
	case HasLeft(p):
		f.Waiting = p.Since.Sub(p.Arrived)
	default:
		f.Waiting = now.Sub(p.Arrived)
	}
	return f
}
