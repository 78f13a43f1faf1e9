package queue

import "slices"

// pool holds the queue's entries, which everything else refers to by index. They lie in chunks, so that a
// queue grows without moving what it holds, a fork copies a few large pieces and not one object a pod, and
// a pointer to an entry stays good until the entry is released.
type pool struct {
	chunks [][]entry
	used   int32 // indices given out so far
	free   []int32
}

const (
	chunkBits = 9
	chunkSize = 1 << chunkBits
)

func (p *pool) at(i int32) *entry { return &p.chunks[i>>chunkBits][i&(chunkSize-1)] }

// allocate returns the index of a free entry, whose content is that of a released one.
func (p *pool) allocate() int32 {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		return i
	}
	if p.used&(chunkSize-1) == 0 {
		p.chunks = append(p.chunks, make([]entry, chunkSize))
	}
	p.used++
	return p.used - 1
}

// release gives entry i back. It must be in no tier.
func (p *pool) release(i int32) {
	*p.at(i) = entry{}
	p.free = append(p.free, i)
}

func (p *pool) clone() pool {
	c := pool{chunks: make([][]entry, len(p.chunks)), used: p.used, free: slices.Clone(p.free)}
	for i, chunk := range p.chunks {
		c.chunks[i] = slices.Clone(chunk)
	}
	return c
}
