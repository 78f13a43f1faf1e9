package ebb

import (
	"hash/maphash"
	"slices"
)

// Index finds the values of a pool, by their numbers there, by what names them: two texts, such as a pod's namespace and name. It
// is an open-addressing hash table, which a fork copies as one slice. It takes a fraction of a map's memory, and so of the
// time that it takes to reach that.
type Index[T any] struct {
	seed  maphash.Seed
	slots []slot
	used  int
	name  func(*T) (space, name string)
	hash  func(*T) *uint32
}

// slot holds a value's number, or none, and the hash of what names it, so that most values need not be looked at.
type slot struct {
	hash  uint32
	value int32
}

// none is no value's number.
const none int32 = -1

const minSlots = 16

// NewIndex returns an index by what name tells of a value. hash is where the index may note the hash of that, in the value.
func NewIndex[T any](name func(*T) (space, name string), hash func(*T) *uint32) Index[T] {
	return Index[T]{seed: maphash.MakeSeed(), slots: slices.Repeat([]slot{{value: none}}, minSlots), name: name, hash: hash}
}

// Len is how many values are found.
func (x *Index[T]) Len() int { return x.used }

func (x *Index[T]) hashOf(space, name string) uint32 {
	return uint32(maphash.String(x.seed, space)*0x9e3779b97f4a7c15 ^ maphash.String(x.seed, name))
}

// find returns the place that holds the value of that name, or the free one where it would go.
func (x *Index[T]) find(values *Pool[T], hash uint32, space, name string) int {
	mask := len(x.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s.value == none {
			return at
		}
		if s.hash == hash {
			if sp, n := x.name(values.At(s.value)); n == name && sp == space {
				return at
			}
		}
	}
}

// Get returns the value of that name, or -1.
func (x *Index[T]) Get(values *Pool[T], space, name string) int32 {
	return x.slots[x.find(values, x.hashOf(space, name), space, name)].value
}

// Put has the value i be found by its name, and returns the one that was before, or -1.
func (x *Index[T]) Put(values *Pool[T], i int32) (before int32) {
	s := x.seat(values, i)
	before, s.value = s.value, i
	return before
}

// Add has the value i be found by its name unless another one is, which it returns, or -1.
func (x *Index[T]) Add(values *Pool[T], i int32) (other int32) {
	s := x.seat(values, i)
	if other = s.value; other == none {
		s.value = i
	}
	return other
}

// seat returns the slot in which the value i is to lie: another of its name lies there, or none, and then i must.
func (x *Index[T]) seat(values *Pool[T], i int32) *slot {
	if (x.used+1)*2 > len(x.slots) {
		x.resize(len(x.slots) * 2)
	}
	v := values.At(i)
	space, name := x.name(v)
	hash := x.hashOf(space, name)
	*x.hash(v) = hash
	s := &x.slots[x.find(values, hash, space, name)]
	if s.hash = hash; s.value == none {
		x.used++
	}
	return s
}

func (x *Index[T]) resize(size int) {
	old := x.slots
	x.slots = slices.Repeat([]slot{{value: none}}, size)
	for _, s := range old {
		if s.value == none {
			continue
		}
		at := int(s.hash) & (size - 1)
		for x.slots[at].value != none {
			at = (at + 1) & (size - 1)
		}
		x.slots[at] = s
	}
}

// Remove takes the value i out, if it is in, and closes the gap behind it. No name is looked at: that would be far away.
func (x *Index[T]) Remove(values *Pool[T], i int32) bool {
	mask := len(x.slots) - 1
	hole := int(*x.hash(values.At(i))) & mask
	for x.slots[hole].value != i {
		if x.slots[hole].value == none {
			return false
		}
		hole = (hole + 1) & mask
	}
	x.used--
	for at := hole; ; {
		x.slots[hole].value = none
		for {
			at = (at + 1) & mask
			s := x.slots[at]
			if s.value == none {
				if Wants(len(x.slots), x.used) {
					x.resize(len(x.slots) / 4)
				}
				return true
			}
			// A value may fill the hole if that is not before the place it hashes to.
			if home := int(s.hash) & mask; (at-home)&mask >= (at-hole)&mask {
				x.slots[hole] = s
				hole = at
				break
			}
		}
	}
}

// Clone returns a copy, which shares nothing with x.
func (x *Index[T]) Clone() Index[T] {
	c := *x
	c.slots = slices.Clone(x.slots)
	return c
}
