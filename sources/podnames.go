package sources

import (
	"hash/maphash"
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// maxPodNames is how many names a PodNames holds: a few megabytes.
const maxPodNames = 1 << 16

var podNamesSeed = maphash.MakeSeed()

// PodNames are the pods that a source names, for telling whether another source is of the same cluster. Of very many names it holds a
// sample, which is the same one in all sources: the names whose hashes are multiples of a power of two. The zero value holds none.
type PodNames struct {
	// First is the name that was added first.
	First types.NamespacedName

	names map[types.NamespacedName]struct{}
	every uint64
}

// Add adds a name.
func (p *PodNames) Add(pod types.NamespacedName) {
	if p.names == nil {
		p.First, p.names, p.every = pod, map[types.NamespacedName]struct{}{}, 1
	}
	if p.every > 1 && !p.samples(pod) {
		return
	}
	p.names[pod] = struct{}{}
	if len(p.names) > maxPodNames {
		p.every *= 2
		maps.DeleteFunc(p.names, func(pod types.NamespacedName, _ struct{}) bool { return !p.samples(pod) })
	}
}

func (p *PodNames) samples(pod types.NamespacedName) bool {
	return maphash.Comparable(podNamesSeed, pod)%p.every == 0
}

// Has reports whether the pod is among the names.
func (p *PodNames) Has(pod types.NamespacedName) bool {
	_, has := p.names[pod]
	return has
}

// Len returns how many names there are, about if there are very many.
func (p *PodNames) Len() int { return len(p.names) * int(max(p.every, 1)) }

// Shares reports whether a name is in both.
func (p *PodNames) Shares(other *PodNames) bool {
	for pod := range p.names {
		if other.Has(pod) {
			return true
		}
	}
	return false
}
