package board

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/world"
)

// TestFold compares a tier's rows with what they should be: all pods without a group or of an unfolded one, and
// the first of each folded group, as far as they match.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New()
		unfolded := map[string]bool{}
		names := []string{"aq7", "b", "c", "d", "e", "web-1", "web-2"}
		groups := map[string]string{"aq7": "g", "b": "g", "c": "g", "d": "h", "e": "h"}
		tiers := []queue.Tier{queue.Active, queue.Backoff, queue.Gated, queue.Incomplete, queue.Pending, queue.Deleted}
		filtered := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"move", "move", "move", "move", "go", "fold", "filter", "copy"}).Draw(t, "step") {
			case "move":
				name := rapid.SampledFrom(names).Draw(t, "pod")
				p := &Pod{Key: world.Key(name), Group: groups[name], Priority: rapid.Int32Range(0, 2).Draw(t, "priority"), PodInfo: queue.PodInfo{Pod: cluster.Placeholder(world.Key(name))}}
				p.Tier = rapid.SampledFrom(tiers).Draw(t, "tier")
				b.Replace(b.Get(p.Key), p)
			case "go":
				if p := b.Get(world.Key(rapid.SampledFrom(names).Draw(t, "pod"))); p != nil {
					b.Replace(p, nil)
				}
			case "fold":
				g := rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group")
				unfolded[g] = !unfolded[g]
				b.SetView(b.View.WithGroupToggled(types.NamespacedName{Namespace: "default", Name: g}), world.Noon)
			case "filter":
				if filtered = !filtered; filtered {
					b.SetView(b.View.WithFilter(world.Filter(t, "!aq7 !web-2")), world.Noon)
				} else {
					b.SetView(b.View.WithFilter(world.Filter(t, "")), world.Noon)
				}
			case "copy":
				b = b.Copy()
			}
			for _, tier := range Tiers {
				var got, want []string
				for i := range b.Len(tier) {
					p := b.At(tier, i)
					got = append(got, p.Key.Name)
					if b.Index(p) != i {
						t.Fatalf("%s is row %d, and Index says %d", p.Key.Name, i, b.Index(p))
					}
				}
				first := map[string]bool{}
				for _, name := range names { // in their order
					p := b.Get(world.Key(name))
					if p == nil || p.Listed() != tier || filtered && (name == "aq7" || name == "web-2") {
						continue
					}
					if g := groups[name]; g != "" && !unfolded[g] {
						if first[g] {
							continue
						}
						first[g] = true
					}
					want = append(want, name)
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("the rows of %s are %v, want %v", tier, got, want)
				}
			}
		}
	})
}
