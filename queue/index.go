package queue

import (
	"hash/maphash"
	"slices"

	"github.com/schedq/schedq/queue/ebb"
)

// index finds entries by their pod's namespace and name: an open-addressing hash table of entry
// indices, which a fork copies as one slice.
type index struct {
	seed  maphash.Seed
	slots []slot
	used  int
}

// slot holds an entry's index, or none, and the hash of its pod's name, so that most entries need not be
// looked at.
type slot struct {
	hash  uint32
	entry int32
}

const minSlots = 16

func newIndex() index {
	return index{seed: maphash.MakeSeed(), slots: slices.Repeat([]slot{{entry: none}}, minSlots)}
}

func (x *index) hash(namespace, name string) uint32 {
	h := maphash.String(x.seed, namespace)*0x9e3779b97f4a7c15 ^ maphash.String(x.seed, name)
	return uint32(h)
}

// find returns the place that holds the named pod, or the free one where it would go.
func (x *index) find(entries *pool, hash uint32, namespace, name string) int {
	mask := len(x.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s.entry == none {
			return at
		}
		if s.hash == hash {
			if p := entries.At(s.entry).pod; p.Name == name && p.Namespace == namespace {
				return at
			}
		}
	}
}

func (x *index) get(entries *pool, namespace, name string) int32 {
	return x.slots[x.find(entries, x.hash(namespace, name), namespace, name)].entry
}

func (x *index) put(entries *pool, i int32) {
	if (x.used+1)*2 > len(x.slots) {
		x.resize(len(x.slots) * 2)
	}
	e := entries.At(i)
	e.nameHash = x.hash(e.pod.Namespace, e.pod.Name)
	at := x.find(entries, e.nameHash, e.pod.Namespace, e.pod.Name)
	if x.slots[at].entry == none {
		x.used++
	}
	x.slots[at] = slot{e.nameHash, i}
}

func (x *index) resize(size int) {
	old := x.slots
	x.slots = slices.Repeat([]slot{{entry: none}}, size)
	for _, s := range old {
		if s.entry == none {
			continue
		}
		at := int(s.hash) & (size - 1)
		for x.slots[at].entry != none {
			at = (at + 1) & (size - 1)
		}
		x.slots[at] = s
	}
}

// remove takes the entry i out, if it is in, and closes the gap behind it. No name is looked at: that would be far away.
func (x *index) remove(entries *pool, i int32) bool {
	mask := len(x.slots) - 1
	hole := int(entries.At(i).nameHash) & mask
	for x.slots[hole].entry != i {
		if x.slots[hole].entry == none {
			return false
		}
		hole = (hole + 1) & mask
	}
	x.used--
	for at := hole; ; {
		x.slots[hole].entry = none
		for {
			at = (at + 1) & mask
			s := x.slots[at]
			if s.entry == none {
				if ebb.Wants(len(x.slots), x.used) {
					x.resize(len(x.slots) / 4)
				}
				return true
			}
			// An entry may fill the hole if that is not before the place it hashes to.
			if home := int(s.hash) & mask; (at-home)&mask >= (at-hole)&mask {
				x.slots[hole] = s
				hole = at
				break
			}
		}
	}
}

func (x *index) clone() index {
	return index{seed: x.seed, slots: slices.Clone(x.slots), used: x.used}
}
