package report

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// podNames assigns consecutive numbers to pods by name, from 0. A long recording has many pods, most of
// which left: a name takes its own bytes and about 16 more.
type podNames struct {
	seed  maphash.Seed
	slots []uint32 // hash table with linear probing of numbers plus 1; its size is a power of two, and it is half empty
	text  []byte   // all names, concatenated
	ends  []int    // the end of each name in text
	key   []byte   // buffer for the name looked up
}

// count returns the number of pods.
func (n *podNames) count() int { return len(n.ends) }

// number returns the pod's number, assigning one if it is new.
func (n *podNames) number(pod types.NamespacedName) uint32 {
	if 2*n.count() >= len(n.slots) {
		n.grow()
	}
	n.key = binary.AppendUvarint(n.key[:0], uint64(len(pod.Namespace)))
	n.key = append(append(n.key, pod.Namespace...), pod.Name...)
	slot := n.slotOf(n.key)
	if *slot == 0 {
		n.text = append(n.text, n.key...)
		n.ends = append(n.ends, len(n.text))
		*slot = uint32(n.count())
	}
	return *slot - 1
}

// slotOf returns the slot that contains the number of the pod with that key, or the free slot for it.
func (n *podNames) slotOf(key []byte) *uint32 {
	for i := maphash.Bytes(n.seed, key); ; i++ {
		slot := &n.slots[i&uint64(len(n.slots)-1)]
		if *slot == 0 || bytes.Equal(n.keyOf(*slot-1), key) {
			return slot
		}
	}
}

// grow doubles the number of slots.
func (n *podNames) grow() {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = make([]uint32, max(16, 2*len(n.slots)))
	for i := range n.ends {
		*n.slotOf(n.keyOf(uint32(i))) = uint32(i) + 1
	}
}

// keyOf returns the key of a pod: the length of its namespace's name, and both names.
func (n *podNames) keyOf(pod uint32) []byte {
	from := 0
	if pod > 0 {
		from = n.ends[pod-1]
	}
	return n.text[from:n.ends[pod]]
}

// name returns the name of a pod.
func (n *podNames) name(pod uint32) types.NamespacedName {
	key := n.keyOf(pod)
	size, from := binary.Uvarint(key)
	namespace, name := key[from:from+int(size)], key[from+int(size):]
	return types.NamespacedName{Namespace: string(namespace), Name: string(name)}
}

// podSet is a set of pod numbers, 64 to a word, since many pods may be rejected by one plugin.
type podSet struct {
	words map[uint32]uint64
	count int
}

// add adds a pod, which may already be in the set.
func (s *podSet) add(pod uint32) {
	if bit := uint64(1) << (pod % 64); s.words[pod/64]&bit == 0 {
		if s.words == nil {
			s.words = map[uint32]uint64{}
		}
		s.words[pod/64] |= bit
		s.count++
	}
}
