package board

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Change is what happened to one pod: it moved, or its details did.
type Change struct {
	At            time.Time
	Before, After *Pod
	Move          *Transition // nil if only details changed
}

// MoveCount is 1 if c is a move, and 0 if only details changed.
func (c Change) MoveCount() int {
	if c.Move != nil {
		return 1
	}
	return 0
}

// Tiers are the tiers that a board keeps in order.
var Tiers = [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight}

// Board is every pod in every tier, in order, at one moment. A Board handed out is never modified; the
// next one shares with it all that did not change, so that making one costs the same whether there are
// a hundred pods or a hundred thousand.
//
// With a filter, Len, At and Index speak of the pods that match, and Total of all.
type Board struct {
	Pods  *podTree
	Tiers [queue.InFlight + 1]*podTree
	// View is how the board is seen. Nil is without a filter, and in the queue's own order.
	View *View
	// Now is the moment for which the filter holds.
	Now time.Time
	// matched is Tiers again, with only the pods that match, and in the order that was asked for. It is nil
	// for a tier that is seen as it is.
	matched [queue.InFlight + 1]*podTree
	// members are the matching pods of pod groups, by group. They are nil until there is one.
	members [queue.InFlight + 1]*podTree
	// bound is how many of Pods are Scheduled, and how many were that are forgotten since.
	bound int
	// lanes and matchedLanes are the pods of all tiers, and those that left: see Lanes.
	lanes, matchedLanes *podTree
}

// New returns an empty board.
func New() *Board {
	b := &Board{Pods: newTree(byName), lanes: newTree(byLane)}
	for _, t := range Tiers {
		b.Tiers[t] = newTree(orders[t])
	}
	return b
}

// Orders are the pods of a board in each order that it has them in: all as lanes and by name, and those of each of Tiers.
type Orders [2 + len(Tiers)][]*Pod

// Of returns a board of pods, which must be in their orders, up to which so many were bound. Each order is loaded beside the others.
func Of(pods *Orders, bound int) *Board {
	b := New()
	var loading sync.WaitGroup
	for i, t := range b.trees() {
		loading.Go(func() { *t = loaded((*t).Less, pods[i]) })
	}
	loading.Wait()
	b.bound = bound
	return b
}

// loaded returns a tree of pods that are in that order, which is not asked about them: most of the time would go into comparing names.
func loaded(order func(a, b *Pod) bool, pods []*Pod) *podTree {
	var last *Pod // which comes after all that are in t; in the end nil
	t := newTree(func(a, b *Pod) bool {
		if last != nil {
			return a != last
		}
		return order(a, b)
	})
	for _, last = range pods {
		t.Load(last)
	}
	last = nil
	return t
}

// Orders returns the pods of b that keep is true of. The filter does not matter.
func (b *Board) Orders(keep func(*Pod) bool) *Orders {
	all := &Orders{}
	for i, t := range b.trees() {
		(*t).Scan(func(p *Pod) bool {
			if keep(p) {
				all[i] = append(all[i], p)
			}
			return true
		})
	}
	return all
}

// trees are what has the pods in their orders.
func (b *Board) trees() (all [len(Orders{})]**podTree) {
	all[0], all[1] = &b.lanes, &b.Pods
	for i, t := range Tiers {
		all[2+i] = &b.Tiers[t]
	}
	return all
}

// podTree holds pods in an order. Its copies share what does not change.
type podTree = btree.BTreeG[*Pod]

func newTree(less func(a, b *Pod) bool) *podTree {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// Len returns how many pods in tier match the filter.
func (b *Board) Len(tier queue.Tier) int { return b.tree(tier).Len() }

// Total returns how many pods are in tier.
func (b *Board) Total(tier queue.Tier) int { return b.Tiers[tier].Len() }

// Bound returns how many pods were bound up to now, of those that have a name of their own.
func (b *Board) Bound() int { return b.bound }

// Counts returns the numbers that the scheduler itself exposes.
func (b *Board) Counts() *sources.Counts {
	return &sources.Counts{
		Active: b.Total(queue.Active), Backoff: b.Total(queue.Backoff),
		Unschedulable: b.Total(queue.Unschedulable), Gated: b.Total(queue.Gated),
	}
}

// At returns the i-th pod in tier that matches the filter, in the order in which the queue would take
// them: activeQ by priority and time, backoffQ by expiry, pods in flight by the time of their popping. Unschedulable and
// gated pods, of which upstream keeps no order, are by the time at which they came to the queue. It returns nil out of
// range.
func (b *Board) At(tier queue.Tier, i int) *Pod {
	p, _ := b.tree(tier).GetAt(i)
	return p
}

// Unfiltered returns the board as it is without its filter.
func (b *Board) Unfiltered() *Board {
	all := *b
	all.View, all.matched, all.matchedLanes = nil, [queue.InFlight + 1]*podTree{}, nil
	all.members = all.matched
	return &all
}

// Get returns the named pod, in the queue or lately gone from it, or nil.
func (b *Board) Get(key types.NamespacedName) *Pod {
	p, _ := b.Pods.Get(&Pod{Key: key})
	return p
}

// Index returns how many pods that match the filter stand before p in its tier. If p itself matches,
// At(p.Tier, Index(p)) is p.
func (b *Board) Index(p *Pod) int {
	if HasLeft(p) {
		return 0
	}
	// A binary search over ranks: the tree itself offers the rank of no item.
	t := b.tree(p.Listed())
	lo, hi := 0, t.Len()
	for lo < hi {
		mid := (lo + hi) / 2
		if q, _ := t.GetAt(mid); t.Less(q, p) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (b *Board) tree(tier queue.Tier) *podTree {
	if t := b.matched[tier]; t != nil {
		return t
	}
	return b.Tiers[tier]
}

// Copy returns a board that can be changed without this one changing.
func (b *Board) Copy() *Board {
	c := &Board{bound: b.bound, Pods: b.Pods.Copy(), lanes: b.lanes.Copy(), View: b.View, Now: b.Now}
	for _, t := range Tiers {
		c.Tiers[t] = b.Tiers[t].Copy()
		if b.matched[t] != nil {
			c.matched[t] = b.matched[t].Copy()
		}
		if b.members[t] != nil {
			c.members[t] = b.members[t].Copy()
		}
	}
	if b.matchedLanes != nil {
		c.matchedLanes = b.matchedLanes.Copy()
	}
	return c
}

// Replace puts after where before was. A nil before is a pod that was not on the board, a nil after one that is
// forgotten.
func (b *Board) Replace(before, after *Pod) {
	b.replaceLane(before, after)
	if before != nil && !HasLeft(before) {
		b.Tiers[before.Listed()].Delete(before)
		b.hide(before)
	}
	if after == nil {
		b.Pods.Delete(before)
		return
	}
	if before != nil && before.Tier == queue.Scheduled {
		b.bound--
	}
	if after.Tier == queue.Scheduled {
		b.bound++
	}
	b.Pods.Set(after)
	if !HasLeft(after) {
		b.Tiers[after.Listed()].Set(after)
		b.show(after)
	}
}

// Listed is the tier that p is listed in. A pod without its PodGroup is kept out of activeQ, as a gated one is;
// one whose group is being scheduled waits for that attempt to end.
func (p *Pod) Listed() queue.Tier {
	switch p.Tier {
	case queue.Incomplete:
		return queue.Gated
	case queue.Pending:
		return queue.InFlight
	}
	return p.Tier
}

// orders are the orders of the tiers, made total by the pods' names.
var orders = [...]func(a, b *Pod) bool{
	queue.Active: func(a, b *Pod) bool {
		return less(cmp.Compare(b.Priority, a.Priority), a.Timestamp.Compare(b.Timestamp), a, b)
	},
	queue.Backoff: func(a, b *Pod) bool {
		return less(a.BackoffExpiry.Compare(b.BackoffExpiry), cmp.Compare(b.Priority, a.Priority), a, b)
	},
	queue.Unschedulable: byArrival,
	queue.Gated:         byArrival,
	queue.InFlight:      func(a, b *Pod) bool { return less(a.Since.Compare(b.Since), 0, a, b) },
}

func byArrival(a, b *Pod) bool { return less(a.Arrived.Compare(b.Arrived), 0, a, b) }

// less compares by first, then second, then the pods' names, so that every order is total.
func less(first, second int, a, b *Pod) bool {
	if order := cmp.Or(first, second); order != 0 {
		return order < 0
	}
	return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(a.Key.Name, b.Key.Name)) < 0
}

func byName(a, b *Pod) bool { return less(0, 0, a, b) }
