package queue

import (
	"iter"
	"slices"
)

// heap is a binary heap of entries. It sifts exactly as container/heap does, which upstream's heap uses, so
// that pods that compare equal leave in upstream's order.
type heap struct {
	items []item
	less  func(a, b *item) bool
}

// item is an entry in a heap with a copy of its sort keys, so that sifting reads adjacent memory and no
// entries.
type item struct {
	expiry, timestamp int64
	priority          int32
	entry             int32
}

func itemOf(entries *pool, i int32) item {
	e := entries.At(i)
	return item{e.backoffExpiry, e.timestamp, e.priority, i}
}

func (h *heap) push(entries *pool, i int32) {
	h.items = append(h.items, itemOf(entries, i))
	h.up(entries, len(h.items)-1)
}

func (h *heap) remove(entries *pool, pos int) {
	n := len(h.items) - 1
	last := h.items[n]
	h.items = shrink(h.items[:n])
	if n == pos {
		return
	}
	h.items[pos] = last
	if !h.down(entries, pos) {
		h.up(entries, pos)
	}
}

// fix restores the order after the entry at pos changed.
func (h *heap) fix(entries *pool, pos int) {
	h.items[pos] = itemOf(entries, h.items[pos].entry)
	if !h.down(entries, pos) {
		h.up(entries, pos)
	}
}

// restore restores the order after any number of entries changed.
func (h *heap) restore(entries *pool) {
	for pos := range h.items {
		h.items[pos] = itemOf(entries, h.items[pos].entry)
	}
	for pos := len(h.items)/2 - 1; pos >= 0; pos-- {
		h.down(entries, pos)
	}
}

// put stores x at pos and, unless entries is nil, records the position in its entry.
func (h *heap) put(entries *pool, pos int, x item) {
	h.items[pos] = x
	if entries != nil {
		entries.At(x.entry).pos = int32(pos)
	}
}

func (h *heap) up(entries *pool, pos int) {
	x := h.items[pos]
	for pos > 0 {
		parent := (pos - 1) / 2
		if !h.less(&x, &h.items[parent]) {
			break
		}
		h.put(entries, pos, h.items[parent])
		pos = parent
	}
	h.put(entries, pos, x)
}

func (h *heap) down(entries *pool, start int) bool {
	pos, n := start, len(h.items)
	x := h.items[pos]
	for {
		child := 2*pos + 1
		if child >= n {
			break
		}
		if right := child + 1; right < n && h.less(&h.items[right], &h.items[child]) {
			child = right
		}
		if !h.less(&h.items[child], &x) {
			break
		}
		h.put(entries, pos, h.items[child])
		pos = child
	}
	h.put(entries, pos, x)
	return pos > start
}

// ordered yields the items in order. The first k cost O(k log k).
func (h *heap) ordered() iter.Seq[item] {
	return func(yield func(item) bool) {
		next := heap{less: h.less} // candidates for the next item; entry is the position in h
		at := func(pos int) item {
			x := h.items[pos]
			x.entry = int32(pos)
			return x
		}
		if len(h.items) > 0 {
			next.items = append(next.items, at(0))
		}
		for len(next.items) > 0 {
			pos := int(next.items[0].entry)
			if !yield(h.items[pos]) {
				return
			}
			if left := 2*pos + 1; left < len(h.items) {
				next.items[0] = at(left)
				next.down(nil, 0)
			} else {
				next.remove(nil, 0)
			}
			if right := 2*pos + 2; right < len(h.items) {
				next.items = append(next.items, at(right))
				next.up(nil, len(next.items)-1)
			}
		}
	}
}

func (h *heap) clone() heap { return heap{items: slices.Clone(h.items), less: h.less} }

// byPriority is the order of activeQ. It models PrioritySort in queuesort/priority_sort.go.
func byPriority(a, b *item) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.timestamp < b.timestamp
}

// byExpiry models lessBackoffCompleted.
func byExpiry(a, b *item) bool { return a.expiry < b.expiry }

// byExpiryThenPriority models lessBackoffCompletedWithPriority. Expiries are whole seconds; within a second
// the order is activeQ's.
func byExpiryThenPriority(a, b *item) bool {
	if a.expiry != b.expiry {
		return a.expiry < b.expiry
	}
	return byPriority(a, b)
}
