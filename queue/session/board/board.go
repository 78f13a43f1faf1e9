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

// Change is one change of a pod: a move, or a change of its details only.
type Change struct {
	At            time.Time
	Before, After *Pod
	Move          *Transition // nil if only details changed
}

// MoveCount returns 1 if c is a move, and 0 otherwise.
func (c Change) MoveCount() int {
	if c.Move != nil {
		return 1
	}
	return 0
}

// Tiers are the tiers that a board lists, in order.
var Tiers = [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight}

// Board holds every pod of every tier, in order, at one moment. A published Board is never modified; the
// next one shares with it all that did not change, so a copy costs the same for any number of pods.
//
// With a filter, Len, At and Index only consider matching pods, and Total considers all.
type Board struct {
	Pods  *podTree
	Tiers [queue.InFlight + 1]*podTree
	// View filters and sorts the board. Nil means no filter and the queue's own order.
	View *View
	// Now is the time at which the filter is evaluated.
	Now time.Time
	// matched is Tiers with only the matching pods, in the view's order. It is nil for a tier without
	// filter and sorting.
	matched [queue.InFlight + 1]*podTree
	// members are the matching pods of pod groups, sorted by group. They are nil until there is one.
	members [queue.InFlight + 1]*podTree
	// bound counts the Scheduled pods of Pods, and those dropped since.
	bound int
	// lanes and matchedLanes are the pods of all tiers, and those that left the queue: see Lanes.
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

// Orders are the pods of a board in each of its orders: as lanes, by name, and those of each of Tiers.
type Orders [2 + len(Tiers)][]*Pod

// FromOrders returns a board of pods, which must be sorted, with that many bound so far. It loads the
// orders in parallel.
func FromOrders(pods *Orders, bound int) *Board {
	b := New()
	var loading sync.WaitGroup
	for i, t := range b.trees() {
		loading.Go(func() { *t = loaded((*t).Less, pods[i]) })
	}
	loading.Wait()
	b.bound = bound
	return b
}

// loaded returns a tree of sorted pods. It skips comparing them, which would take most of the time.
func loaded(order func(a, b *Pod) bool, pods []*Pod) *podTree {
	var last *Pod // the last pod, which sorts after all pods in t; nil when done
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

// Orders returns the pods of b for which keep returns true, ignoring the filter.
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

// trees returns the trees of b in the order of Orders.
func (b *Board) trees() (all [len(Orders{})]**podTree) {
	all[0], all[1] = &b.lanes, &b.Pods
	for i, t := range Tiers {
		all[2+i] = &b.Tiers[t]
	}
	return all
}

// podTree is a sorted set of pods. Copies share what does not change.
type podTree = btree.BTreeG[*Pod]

func newTree(less func(a, b *Pod) bool) *podTree {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// Len returns how many pods in tier match the filter.
func (b *Board) Len(tier queue.Tier) int { return b.tree(tier).Len() }

// Total returns how many pods are in tier.
func (b *Board) Total(tier queue.Tier) int { return b.Tiers[tier].Len() }

// Bound returns how many pods were bound so far.
func (b *Board) Bound() int { return b.bound }

// Counts returns the counts that the scheduler itself exposes as metrics.
func (b *Board) Counts() *sources.Counts {
	return &sources.Counts{
		Active: b.Total(queue.Active), Backoff: b.Total(queue.Backoff),
		Unschedulable: b.Total(queue.Unschedulable), Gated: b.Total(queue.Gated),
	}
}

// At returns the i-th matching pod in tier, or nil if out of range, in the order in which the queue would
// take them: activeQ by priority and time, backoffQ by expiry, pods in flight by pop time. Unschedulable
// and gated pods, which upstream does not sort, are sorted by arrival.
func (b *Board) At(tier queue.Tier, i int) *Pod {
	p, _ := b.tree(tier).GetAt(i)
	return p
}

// Unfiltered returns the board without its filter.
func (b *Board) Unfiltered() *Board {
	all := *b
	all.View, all.matched, all.matchedLanes = nil, [queue.InFlight + 1]*podTree{}, nil
	all.members = all.matched
	return &all
}

// Get returns the named pod, which is queued or left recently, or nil.
func (b *Board) Get(key types.NamespacedName) *Pod {
	p, _ := b.Pods.Get(&Pod{Key: key})
	return p
}

// Index returns how many matching pods come before p in its tier. If p matches, At(p.Tier, Index(p)) is p.
func (b *Board) Index(p *Pod) int {
	if HasLeft(p) {
		return 0
	}
	// Binary search by rank, since the tree can't return an item's rank.
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

// Copy returns a board that can be changed without changing b.
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

// Replace replaces before by after. A nil before adds a pod, a nil after removes one.
func (b *Board) Replace(before, after *Pod) {
	b.replaceLane(before, after)
	if before != nil && !HasLeft(before) {
		b.Tiers[before.Listed()].Delete(before)
		b.removeRow(before)
	}
	if before != nil && before.Tier == queue.Scheduled {
		b.bound--
	}
	if after == nil {
		b.Pods.Delete(before)
		return
	}
	if after.Tier == queue.Scheduled {
		b.bound++
	}
	b.Pods.Set(after)
	if !HasLeft(after) {
		b.Tiers[after.Listed()].Set(after)
		b.addRow(after)
	}
}

// Listed returns the tier that lists p. A pod without its PodGroup is listed as gated, and one whose
// group is being scheduled as in flight.
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
