package queue

import "slices"

// heap is a binary heap of entry indices. It sifts exactly as container/heap does, on which upstream's
// heap is built, so that pods which compare equal leave in upstream's order.
type heap struct {
	items []int32
	less  func(a, b *entry) bool
}

func (h *heap) push(entries []entry, i int32) {
	h.items = append(h.items, i)
	h.up(entries, len(h.items)-1)
}

// pop removes and returns the head. The heap must not be empty.
func (h *heap) pop(entries []entry) int32 {
	n := len(h.items) - 1
	h.swap(entries, 0, n)
	h.down(entries, 0, n)
	i := h.items[n]
	h.items = h.items[:n]
	return i
}

func (h *heap) remove(entries []entry, pos int) {
	n := len(h.items) - 1
	if n != pos {
		h.swap(entries, pos, n)
		if !h.down(entries, pos, n) {
			h.up(entries, pos)
		}
	}
	h.items = h.items[:n]
}

// fix restores the order after the entry at pos changed.
func (h *heap) fix(entries []entry, pos int) {
	if !h.down(entries, pos, len(h.items)) {
		h.up(entries, pos)
	}
}

func (h *heap) swap(entries []entry, a, b int) {
	h.items[a], h.items[b] = h.items[b], h.items[a]
	entries[h.items[a]].pos = int32(a)
	entries[h.items[b]].pos = int32(b)
}

func (h *heap) up(entries []entry, j int) {
	entries[h.items[j]].pos = int32(j)
	for j > 0 {
		parent := (j - 1) / 2
		if !h.less(&entries[h.items[j]], &entries[h.items[parent]]) {
			return
		}
		h.swap(entries, parent, j)
		j = parent
	}
}

func (h *heap) down(entries []entry, start, n int) bool {
	i := start
	for {
		left := 2*i + 1
		if left >= n {
			break
		}
		child := left
		if right := left + 1; right < n && h.less(&entries[h.items[right]], &entries[h.items[left]]) {
			child = right
		}
		if !h.less(&entries[h.items[child]], &entries[h.items[i]]) {
			break
		}
		h.swap(entries, i, child)
		i = child
	}
	return i > start
}

func (h *heap) clone() heap { return heap{items: slices.Clone(h.items), less: h.less} }

// byPriority is the order of activeQ: PrioritySort, queuesort/priority_sort.go.
func byPriority(a, b *entry) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.timestamp < b.timestamp
}

// byExpiry models lessBackoffCompleted.
func byExpiry(a, b *entry) bool { return a.expiry() < b.expiry() }

// byExpiryThenPriority models lessBackoffCompletedWithPriority: expiries are whole seconds, and within
// one the order is activeQ's.
func byExpiryThenPriority(a, b *entry) bool {
	if ea, eb := a.expiry(), b.expiry(); ea != eb {
		return ea < eb
	}
	return byPriority(a, b)
}
