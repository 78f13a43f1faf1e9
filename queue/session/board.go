package session

import (
	"cmp"
	"strings"

	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// shown are the tiers that a board keeps in order.
var shown = [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight}

// Board is every pod in every tier, in order, at one moment. A Board handed out is never modified; the
// next one shares with it all that did not change, so that making one costs the same whether there are
// a hundred pods or a hundred thousand.
//
// With a filter, Len, At and Index speak of the pods that match, and Total of all.
type Board struct {
	pods   *btree.BTreeG[*Pod]
	tiers  [queue.InFlight + 1]*btree.BTreeG[*Pod]
	filter Filter
	// matched is tiers again, with only the pods that match. It is nil without a filter.
	matched []*btree.BTreeG[*Pod]
}

func newBoard() *Board {
	b := &Board{pods: newTree(byName)}
	for _, t := range shown {
		b.tiers[t] = newTree(orders[t])
	}
	return b
}

func newTree(less func(a, b *Pod) bool) *btree.BTreeG[*Pod] {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// Len returns how many pods in tier match the filter.
func (b *Board) Len(tier queue.Tier) int { return b.tree(tier).Len() }

// Total returns how many pods are in tier.
func (b *Board) Total(tier queue.Tier) int { return b.tiers[tier].Len() }

// counts returns the numbers that the scheduler itself exposes.
func (b *Board) counts() *sources.Counts {
	return &sources.Counts{
		Active: b.Total(queue.Active), Backoff: b.Total(queue.Backoff),
		Unschedulable: b.Total(queue.Unschedulable), Gated: b.Total(queue.Gated),
	}
}

// At returns the i-th pod in tier that matches the filter, in the order in which the queue would take
// them: activeQ by priority and time, backoffQ by expiry, unschedulable and gated pods by the time of
// their last failure, pods in flight by the time of their popping. It returns nil out of range.
func (b *Board) At(tier queue.Tier, i int) *Pod {
	p, _ := b.tree(tier).GetAt(i)
	return p
}

// Unfiltered returns the board as it is without its filter.
func (b *Board) Unfiltered() *Board {
	all := *b
	all.filter, all.matched = Filter{}, nil
	return &all
}

// Get returns the named pod, in the queue or lately gone from it, or nil.
func (b *Board) Get(key types.NamespacedName) *Pod {
	p, _ := b.pods.Get(&Pod{Key: key})
	return p
}

// Index returns how many pods that match the filter stand before p in its tier. If p itself matches,
// At(p.Tier, Index(p)) is p.
func (b *Board) Index(p *Pod) int {
	if p.Tier == queue.None || p.Tier > queue.InFlight {
		return 0
	}
	// A binary search over ranks: the tree itself offers the rank of no item.
	t := b.tree(p.Tier)
	lo, hi := 0, t.Len()
	for lo < hi {
		mid := (lo + hi) / 2
		if q, _ := t.GetAt(mid); orders[p.Tier](q, p) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (b *Board) tree(tier queue.Tier) *btree.BTreeG[*Pod] {
	if b.matched != nil {
		return b.matched[tier]
	}
	return b.tiers[tier]
}

// copy returns a board that can be changed without this one changing.
func (b *Board) copy() *Board {
	c := &Board{pods: b.pods.Copy(), filter: b.filter}
	for _, t := range shown {
		c.tiers[t] = b.tiers[t].Copy()
	}
	if b.matched != nil {
		c.matched = make([]*btree.BTreeG[*Pod], len(b.tiers))
		for _, t := range shown {
			c.matched[t] = b.matched[t].Copy()
		}
	}
	return c
}

// replace puts after where before was. Either may be nil.
func (b *Board) replace(before, after *Pod) {
	if before != nil && before.Tier != queue.None && before.Tier <= queue.InFlight {
		b.tiers[before.Tier].Delete(before)
		if b.matched != nil {
			b.matched[before.Tier].Delete(before)
		}
	}
	if after == nil {
		b.pods.Delete(before)
		return
	}
	b.pods.Set(after)
	if after.Tier != queue.None && after.Tier <= queue.InFlight {
		b.tiers[after.Tier].Set(after)
		if b.matched != nil && b.filter.Match(after) {
			b.matched[after.Tier].Set(after)
		}
	}
}

// setFilter makes the board show only the pods that f matches. Its cost grows with the number of pods.
func (b *Board) setFilter(f Filter) {
	b.filter, b.matched = f, nil
	if f.Empty() {
		return
	}
	b.matched = make([]*btree.BTreeG[*Pod], len(b.tiers))
	for _, t := range shown {
		b.matched[t] = newTree(orders[t])
		b.tiers[t].Scan(func(p *Pod) bool {
			if f.Match(p) {
				b.matched[t].Set(p)
			}
			return true
		})
	}
}

// orders are the orders of the tiers, made total by the pods' names.
var orders = [...]func(a, b *Pod) bool{
	queue.Active: func(a, b *Pod) bool {
		return less(cmp.Compare(b.Priority, a.Priority), a.Timestamp.Compare(b.Timestamp), a, b)
	},
	queue.Backoff: func(a, b *Pod) bool {
		return less(a.BackoffExpiry.Compare(b.BackoffExpiry), cmp.Compare(b.Priority, a.Priority), a, b)
	},
	queue.Unschedulable: byTimestamp,
	queue.Gated:         byTimestamp,
	queue.InFlight:      func(a, b *Pod) bool { return less(a.Since.Compare(b.Since), 0, a, b) },
}

func byTimestamp(a, b *Pod) bool { return less(a.Timestamp.Compare(b.Timestamp), 0, a, b) }

func less(first, second int, a, b *Pod) bool {
	return cmp.Or(first, second, strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Key.Name, b.Key.Name)) < 0
}

func byName(a, b *Pod) bool { return less(0, 0, a, b) }
