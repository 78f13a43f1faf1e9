package report

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// podNames numbers pods by their names, as they come, from 0 on. Of a long recording there are many, and most of them left: a name takes
// its own bytes, and some 16 beside them.
type podNames struct {
	seed  maphash.Seed
	slots []uint32 // the pods' numbers and 1 more, each where its hash has it or behind that; a power of two of them, and half are 0
	text  []byte   // all names, one behind the other
	ends  []int    // where each ends
	key   []byte   // the name that is asked for
}

// count is how many pods have a number.
func (n *podNames) count() int { return len(n.ends) }

// number returns the pod's number, which it may get now.
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

// slotOf returns the slot that has the number of the pod of that key, or that is to have it.
func (n *podNames) slotOf(key []byte) *uint32 {
	for i := maphash.Bytes(n.seed, key); ; i++ {
		slot := &n.slots[i&uint64(len(n.slots)-1)]
		if *slot == 0 || bytes.Equal(n.keyOf(*slot-1), key) {
			return slot
		}
	}
}

// grow makes twice as many slots.
func (n *podNames) grow() {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = make([]uint32, max(16, 2*len(n.slots)))
	for i := range n.ends {
		*n.slotOf(n.keyOf(uint32(i))) = uint32(i) + 1
	}
}

// keyOf returns the key of the pod of that number: how long its namespace's name is, and both names.
func (n *podNames) keyOf(pod uint32) []byte {
	from := 0
	if pod > 0 {
		from = n.ends[pod-1]
	}
	return n.text[from:n.ends[pod]]
}

// name returns the name of the pod of that number.
func (n *podNames) name(pod uint32) types.NamespacedName {
	key := n.keyOf(pod)
	size, from := binary.Uvarint(key)
	namespace, name := key[from:from+int(size)], key[from+int(size):]
	return types.NamespacedName{Namespace: string(namespace), Name: string(name)}
}

// podSet are pods, by their numbers: 64 to a word, since those that one plugin rejected are often many.
type podSet struct {
	words map[uint32]uint64
	count int
}

// add adds a pod, which may be among them.
func (s *podSet) add(pod uint32) {
	if bit := uint64(1) << (pod % 64); s.words[pod/64]&bit == 0 {
		if s.words == nil {
			s.words = map[uint32]uint64{}
		}
		s.words[pod/64] |= bit
		s.count++
	}
}
