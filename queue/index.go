package queue

import (
	"hash/maphash"
	"slices"
)

// Index finds the values of a pool, by their numbers there, by what names them: two texts, such as a pod's namespace and name. It
// is an open-addressing hash table, which a fork copies as one slice. It takes a fraction of a map's memory, and so of the
// time that it takes to reach that.
type nameIndex[T any] struct {
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
const noValue int32 = -1

const minSlots = 16

// NewIndex returns an index by what name tells of a value. hash is where the index may note the hash of that, in the value.
func newNameIndex[T any](name func(*T) (space, name string), hash func(*T) *uint32) nameIndex[T] {
	return nameIndex[T]{seed: maphash.MakeSeed(), slots: slices.Repeat([]slot{{value: noValue}}, minSlots), name: name, hash: hash}
}

// Len is how many values are found.
func (x *nameIndex[T]) Len() int { return x.used }

func (x *nameIndex[T]) hashOf(space, name string) uint32 {
	return uint32(maphash.String(x.seed, space)*0x9e3779b97f4a7c15 ^ maphash.String(x.seed, name))
}

// find returns the place that holds the value of that name, or the free one where it would go.
func (x *nameIndex[T]) find(values *chunkedPool[T], hash uint32, space, name string) int {
	mask := len(x.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s.value == noValue {
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
func (x *nameIndex[T]) Get(values *chunkedPool[T], space, name string) int32 {
	return x.slots[x.find(values, x.hashOf(space, name), space, name)].value
}

// Put has the value i be found by its name, and returns the one that was before, or -1.
func (x *nameIndex[T]) Put(values *chunkedPool[T], i int32) (before int32) {
	s := x.seat(values, i)
	before, s.value = s.value, i
	return before
}

// Add has the value i be found by its name unless another one is, which it returns, or -1.
func (x *nameIndex[T]) Add(values *chunkedPool[T], i int32) (other int32) {
	s := x.seat(values, i)
	if other = s.value; other == noValue {
		s.value = i
	}
	return other
}

// seat returns the slot in which the value i is to lie: another of its name lies there, or none, and then i must.
func (x *nameIndex[T]) seat(values *chunkedPool[T], i int32) *slot {
	if (x.used+1)*2 > len(x.slots) {
		x.resize(len(x.slots) * 2)
	}
	v := values.At(i)
	space, name := x.name(v)
	hash := x.hashOf(space, name)
	*x.hash(v) = hash
	s := &x.slots[x.find(values, hash, space, name)]
	if s.hash = hash; s.value == noValue {
		x.used++
	}
	return s
}

func (x *nameIndex[T]) resize(size int) {
	old := x.slots
	x.slots = slices.Repeat([]slot{{value: noValue}}, size)
	for _, s := range old {
		if s.value == noValue {
			continue
		}
		at := int(s.hash) & (size - 1)
		for x.slots[at].value != noValue {
			at = (at + 1) & (size - 1)
		}
		x.slots[at] = s
	}
}

// Remove takes the value i out, if it is in, and closes the gap behind it. No name is looked at: that would be far away.
func (x *nameIndex[T]) Remove(values *chunkedPool[T], i int32) bool {
	mask := len(x.slots) - 1
	hole := int(*x.hash(values.At(i))) & mask
	for x.slots[hole].value != i {
		if x.slots[hole].value == noValue {
			return false
		}
		hole = (hole + 1) & mask
	}
	x.used--
	for at := hole; ; {
		x.slots[hole].value = noValue
		for {
			at = (at + 1) & mask
			s := x.slots[at]
			if s.value == noValue {
				if wantsShrink(len(x.slots), x.used) {
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
func (x *nameIndex[T]) Clone() nameIndex[T] {
	c := *x
	c.slots = slices.Clone(x.slots)
	return c
}
