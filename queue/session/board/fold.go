package board

import (
	"cmp"
	"maps"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// The pods of a pod group share one row of their tier until the user unfolds the group. For that the
// board also keeps the matching pods sorted by group; the first of each group represents it.

// PodGroup returns the pod group that p is queued with, if any.
func (p *Pod) PodGroup() (types.NamespacedName, bool) {
	return types.NamespacedName{Namespace: p.Key.Namespace, Name: p.Group}, p.Group != ""
}

// byGroup sorts the pods of groups.
func byGroup(a, b *Pod) bool {
	return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Group, b.Group),
		strings.Compare(a.Key.Name, b.Key.Name)) < 0
}

// WithGroupToggled returns v with that group unfolded, or folded if it was unfolded. v may be nil.
func (v *View) WithGroupToggled(group types.NamespacedName) *View {
	w := View{}
	if v != nil {
		w = *v
	}
	w.unfolded = maps.Clone(w.unfolded)
	if w.unfolded[group] {
		delete(w.unfolded, group)
	} else {
		if w.unfolded == nil {
			w.unfolded = map[types.NamespacedName]bool{}
		}
		w.unfolded[group] = true
	}
	return &w
}

// Folded reports whether p's group has one row.
func (b *Board) Folded(p *Pod) bool {
	group, ok := p.PodGroup()
	return ok && (b.View == nil || !b.View.unfolded[group])
}

// CountMates returns how many matching pods of p's group, including p, are listed in p's tier. It stops
// counting at limit.
func (b *Board) CountMates(p *Pod, limit int) int {
	members, n := b.members[p.Listed()], 0
	if members == nil || p.Group == "" {
		return 0
	}
	members.Ascend(groupStart(p), func(mate *Pod) bool {
		if mate.Group != p.Group || mate.Key.Namespace != p.Key.Namespace {
			return false
		}
		n++
		return n < limit
	})
	return n
}

// StandsForGroup reports whether p's row represents its group in the tier that lists p.
func (b *Board) StandsForGroup(p *Pod) bool {
	first := b.groupLeader(p)
	return first != nil && first.Key == p.Key
}

// RowOf returns the pod whose row shows p: p itself, or the pod that represents its folded group.
func (b *Board) RowOf(p *Pod) *Pod {
	if b.grouped() && b.Folded(p) {
		if first := b.groupLeader(p); first != nil && b.matches(p) {
			return first
		}
	}
	return p
}

// groupStart returns a key that sorts before all pods of p's group in byGroup.
func groupStart(p *Pod) *Pod {
	first := &Pod{Group: p.Group}
	first.Key.Namespace = p.Key.Namespace
	return first
}

// groupLeader returns the pod that represents p's group in the tier that lists p, or nil.
func (b *Board) groupLeader(p *Pod) *Pod {
	members := b.members[p.Listed()]
	if members == nil {
		return nil
	}
	var first *Pod
	members.Ascend(groupStart(p), func(mate *Pod) bool {
		if mate.Group == p.Group && mate.Key.Namespace == p.Key.Namespace {
			first = mate
		}
		return false
	})
	return first
}

// grouped reports whether any pod of a group was ever listed.
func (b *Board) grouped() bool { return b.members[queue.Active] != nil }

// removeRow removes p from the rows of its tier. Another pod of its group may replace it.
func (b *Board) removeRow(p *Pod) {
	rows := b.matched[p.Listed()]
	if rows == nil {
		return
	}
	rows.Delete(p)
	if p.Group == "" || !b.grouped() {
		return
	}
	b.members[p.Listed()].Delete(p)
	if next := b.groupLeader(p); next != nil && b.Folded(p) {
		rows.Set(next)
	}
}

// addRow adds p to the rows of its tier if it matches and no other pod represents its group there.
func (b *Board) addRow(p *Pod) {
	if p.Group != "" && !b.grouped() {
		for _, t := range Tiers {
			b.members[t] = newTree(byGroup)
		}
		b.SetView(b.View, b.Now) // p is already among the pods
		return
	}
	rows := b.matched[p.Listed()]
	if rows == nil || !b.matches(p) {
		return
	}
	if p.Group == "" {
		rows.Set(p)
		return
	}
	was := b.groupLeader(p)
	b.members[p.Listed()].Set(p)
	switch {
	case !b.Folded(p):
		rows.Set(p)
	case b.StandsForGroup(p):
		if was != nil {
			rows.Delete(was)
		}
		rows.Set(p)
	}
}

// foldTier rebuilds the rows of a tier.
func (b *Board) foldTier(t queue.Tier) {
	b.members[t] = newTree(byGroup)
	b.Tiers[t].Scan(func(p *Pod) bool {
		switch {
		case !b.matches(p):
		case p.Group == "" || !b.Folded(p):
			b.matched[t].Set(p)
		}
		if p.Group != "" && b.matches(p) {
			b.members[t].Set(p)
		}
		return true
	})
	var last *Pod
	b.members[t].Scan(func(p *Pod) bool {
		if b.Folded(p) && (last == nil || last.Group != p.Group || last.Key.Namespace != p.Key.Namespace) {
			b.matched[t].Set(p)
		}
		last = p
		return true
	})
}

// GroupSize returns how many pods of p's group, including p, are in p's tier, ignoring the filter. Its
// cost grows with the tier if there is a filter, otherwise with the group.
func (b *Board) GroupSize(p *Pod) int {
	if b.Filter().Empty() {
		return b.CountMates(p, math.MaxInt)
	}
	n := 0
	b.Tiers[p.Listed()].Scan(func(other *Pod) bool {
		if other.Group == p.Group && other.Key.Namespace == p.Key.Namespace && other.Tier == p.Tier {
			n++
		}
		return true
	})
	return n
}
