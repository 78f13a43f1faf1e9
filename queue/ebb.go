package queue

// Package ebb has what holds things and gives memory back after a peak: slices and maps only grow by themselves. A pool holds
// values, an index finds them by their names, and a fork copies either in a few pieces.

import "maps"

// Nothing shrinks that has room for fewer than least; what does, does so when less than one part in parts of it is used.
const (
	shrinkLeast = 1024
	shrinkParts = 8
)

// Wants reports whether what has room for so many, and holds so many, is to shrink.
func wantsShrink(room, holds int) bool { return room > shrinkLeast && holds*shrinkParts < room }

// Slice returns s, or a copy with little room to spare if s wants to shrink.
func shrink[T any](s []T) []T {
	if !wantsShrink(cap(s), len(s)) {
		return s
	}
	return append(make([]T, 0, 2*len(s)), s...)
}

// Map is a map that shrinks. The zero Map is empty.
type shrinkingMap[K comparable, V any] struct {
	m    map[K]V
	peak int // the most that it held since it was made
}

// Get returns the value of k, and whether there is one.
func (m *shrinkingMap[K, V]) Get(k K) (V, bool) {
	v, ok := m.m[k]
	return v, ok
}

// Set sets the value of k.
func (m *shrinkingMap[K, V]) Set(k K, v V) {
	if m.m == nil {
		m.m = map[K]V{}
	}
	m.m[k] = v
	m.peak = max(m.peak, len(m.m))
}

// Delete forgets k.
func (m *shrinkingMap[K, V]) Delete(k K) {
	delete(m.m, k)
	if wantsShrink(m.peak, len(m.m)) {
		*m = m.copy()
	}
}

// Len returns how many keys there are.
func (m *shrinkingMap[K, V]) Len() int { return len(m.m) }

// Clone returns a copy that shares nothing which changes.
func (m *shrinkingMap[K, V]) Clone() shrinkingMap[K, V] { return m.copy() }

func (m *shrinkingMap[K, V]) copy() shrinkingMap[K, V] {
	c := make(map[K]V, len(m.m))
	maps.Copy(c, m.m)
	return shrinkingMap[K, V]{m: c, peak: len(c)}
}
