package queue

import (
	"hash/maphash"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/ebb"
)

// index finds entries by their pod's namespace and name, or by its UID: an open-addressing hash table of entry
// indices, which a fork copies as one slice. It takes a fraction of a map's memory, and so of the time that it takes to reach that.
type index struct {
	seed  maphash.Seed
	slots []slot
	used  int
	by    finder
}

// finder is what an index finds an entry by.
type finder uint8

const (
	byName finder = iota
	byUID         // of pods in flight
)

// slot holds an entry's index, or none, and the hash of what finds it, so that most entries need not be
// looked at.
type slot struct {
	hash  uint32
	entry int32
}

const minSlots = 16

func newIndex(by finder) index {
	return index{seed: maphash.MakeSeed(), slots: slices.Repeat([]slot{{entry: none}}, minSlots), by: by}
}

// keyOf returns what finds pod: a UID is a name without a namespace.
func (x *index) keyOf(pod *v1.Pod) (namespace, name string) {
	if x.by == byUID {
		return "", string(pod.UID)
	}
	return pod.Namespace, pod.Name
}

func (x *index) hash(namespace, name string) uint32 {
	return uint32(maphash.String(x.seed, namespace)*0x9e3779b97f4a7c15 ^ maphash.String(x.seed, name))
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
			if ns, n := x.keyOf(entries.At(s.entry).pod); n == name && ns == namespace {
				return at
			}
		}
	}
}

func (x *index) get(entries *pool, namespace, name string) int32 {
	return x.slots[x.find(entries, x.hash(namespace, name), namespace, name)].entry
}

// put has the entry i be found, and returns the one that was before, or none.
func (x *index) put(entries *pool, i int32) (before int32) {
	s := x.seat(entries, i)
	before, s.entry = s.entry, i
	return before
}

// add has the entry i be found unless another one is, which it returns, or none.
func (x *index) add(entries *pool, i int32) (other int32) {
	s := x.seat(entries, i)
	if other = s.entry; other == none {
		s.entry = i
	}
	return other
}

// seat returns the slot in which the entry i is to lie: another that is found by the same lies there, or none, and then i must.
func (x *index) seat(entries *pool, i int32) *slot {
	if (x.used+1)*2 > len(x.slots) {
		x.resize(len(x.slots) * 2)
	}
	e := entries.At(i)
	namespace, name := x.keyOf(e.pod)
	e.hashes[x.by] = x.hash(namespace, name)
	s := &x.slots[x.find(entries, e.hashes[x.by], namespace, name)]
	if s.hash = e.hashes[x.by]; s.entry == none {
		x.used++
	}
	return s
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
	hole := int(entries.At(i).hashes[x.by]) & mask
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
	return index{seed: x.seed, slots: slices.Clone(x.slots), used: x.used, by: x.by}
}
