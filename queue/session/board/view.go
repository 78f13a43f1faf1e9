package board

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
)

// View is a filter and a sort order for each tier of a board. It is never modified, so boards with the
// same View are shown alike.
type View struct {
	Filter filter.Filter
	sorts  [queue.InFlight + 1]Sort
	// unfolded are the pod groups whose pods have a row each.
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

// WithSort returns v with another sort order for those tiers. v may be nil.
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

// Sort returns the sort order of the pods in tier.
func (b *Board) Sort(tier queue.Tier) Sort {
	if b.View == nil || tier > queue.InFlight {
		return Sort{}
	}
	return b.View.sorts[tier]
}

// Filter returns the board's filter.
func (b *Board) Filter() filter.Filter {
	if b.View == nil {
		return filter.Filter{}
	}
	return b.View.Filter
}

// matches reports whether the filter selects p at b.Now.
func (b *Board) matches(p *Pod) bool {
	return b.View == nil || b.View.Filter.Empty() || b.View.Filter.Match(p.Facts(b.Now))
}

// SetView sets the board's view and time. Its cost grows with the number of pods.
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
				b.matched[t].Load(p) // fast for sorted pods
			}
			return true
		})
	}
}

// Retime sets the board's time. It only matches pods again whose wait passed a duration that the filter
// names.
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
		first.Tier = queue.Active // sorts among the queued pods
		b.lanes.Ascend(first, func(p *Pod) bool {
			if p.Arrived.After(late.Add(-wait)) {
				return false
			}
			b.rematch(p)
			return true
		})
	}
}

// rematch evaluates the filter again for p, which is queued.
func (b *Board) rematch(p *Pod) {
	if b.matches(p) {
		b.addRow(p)
		b.matchedLanes.Set(p)
	} else {
		b.removeRow(p)
		b.matchedLanes.Delete(p)
	}
}

// Facts returns the properties of p that a filter evaluates, at now.
func (p *Pod) Facts(now time.Time) *filter.Pod {
	f := &filter.Pod{
		Namespace: p.Key.Namespace, Name: p.Key.Name, Tier: p.Listed(),
		Unschedulable: p.UnschedulablePlugins, Pending: p.PendingPlugins, Gating: p.GatingPlugin,
		Labels: p.Labels(), Node: p.Node, Attempts: p.Attempts, Priority: p.Priority,
	}
	f.OwnerKind, f.OwnerName = p.Owner()
	if p.Opinion != nil {
		f.Verdict = string(p.Opinion.Code)
	}
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
