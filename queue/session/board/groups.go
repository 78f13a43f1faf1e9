package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedq/schedq/queue"
)

// Grouping is a way to group pods.
type Grouping string

// The groupings.
const (
	// PerPlugin groups by the plugins that block a pod. A pod with several is in each group.
	PerPlugin    Grouping = "plugin"
	PerNamespace Grouping = "namespace"
	PerOwner     Grouping = "owner"
)

// Groupings returns all groupings.
func Groupings() []Grouping { return []Grouping{PerPlugin, PerNamespace, PerOwner} }

// Group is a group of pods in the queue.
type Group struct {
	By Grouping
	// Name is the plugin, the namespace, or the owner as KIND/NAME; Namespace is the owner's. Both are
	// empty for pods without one.
	Name, Namespace string
	// Pods counts the pods, and Tiers those in each tier.
	Pods  int
	Tiers [queue.InFlight + 1]int
}

// Groups counts the queued pods that match the filter, largest groups first. Its cost grows with the
// number of pods.
func (b *Board) Groups(by Grouping) []Group {
	type place struct{ name, namespace string }
	groups := map[place]*Group{}
	add := func(p *Pod, at place) {
		g := groups[at]
		if g == nil {
			g = &Group{By: by, Name: at.name, Namespace: at.namespace}
			groups[at] = g
		}
		g.Pods++
		g.Tiers[p.Listed()]++
	}
	for _, tier := range Tiers {
		b.tree(tier).Scan(func(p *Pod) bool {
			switch by {
			case PerNamespace:
				add(p, place{name: p.Key.Namespace})
			case PerOwner:
				at := place{}
				if kind, name := p.Owner(); name != "" {
					at = place{kind + "/" + name, p.Key.Namespace}
				}
				add(p, at)
			default:
				holders := p.blockingPlugins()
				for _, plugin := range holders {
					add(p, place{name: plugin})
				}
				if len(holders) == 0 {
					add(p, place{})
				}
			}
			return true
		})
	}
	var all []Group
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
	})
	return all
}
