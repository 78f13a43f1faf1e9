package queue

import (
	"iter"
	"slices"
)

// pool stores entries, which are referred to by number. It allocates them in chunks, so that growing
// moves nothing, a pointer to an entry stays valid until its release, and a fork makes few large
// copies. A chunk without entries is freed, except for one that avoids allocating it again at once.
type pool struct {
	chunks []chunk
	open   []int32 // chunks that had free entries when they were appended
	freed  []int32 // chunks without memory
	empty  int     // chunks with memory and without entries
}

// chunk is a block of entries. Both slices are nil while it is freed.
type chunk struct {
	entries []entry
	free    []uint16 // indices of free entries; the last one is used next
}

const (
	chunkBits = 9
	chunkSize = 1 << chunkBits
)

// At returns the entry with number i.
func (p *pool) At(i int32) *entry { return &p.chunks[i>>chunkBits].entries[i&(chunkSize-1)] }

// Allocate returns the number of a zero entry.
func (p *pool) Allocate() int32 {
	n := p.openChunk()
	c := &p.chunks[n]
	if len(c.free) == chunkSize {
		p.empty--
	}
	last := len(c.free) - 1
	i := c.free[last]
	c.free = c.free[:last]
	return n<<chunkBits + int32(i)
}

// openChunk returns the number of a chunk with a free entry.
func (p *pool) openChunk() int32 {
	for len(p.open) > 0 {
		n := p.open[len(p.open)-1]
		if len(p.chunks[n].free) > 0 {
			return n
		}
		p.open = p.open[:len(p.open)-1]
	}
	var n int32
	if last := len(p.freed) - 1; last >= 0 {
		n, p.freed = p.freed[last], p.freed[:last]
	} else {
		n = int32(len(p.chunks))
		p.chunks = append(p.chunks, chunk{})
	}
	c := chunk{entries: make([]entry, chunkSize), free: make([]uint16, chunkSize)}
	for i := range c.free {
		c.free[i] = uint16(chunkSize - 1 - i)
	}
	p.chunks[n] = c
	p.open = append(p.open, n)
	p.empty++
	return n
}

// Release frees entry i and zeroes it.
func (p *pool) Release(i int32) {
	*p.At(i) = entry{}
	n := i >> chunkBits
	c := &p.chunks[n]
	if len(c.free) == 0 {
		p.open = append(p.open, n)
	}
	c.free = append(c.free, uint16(i&(chunkSize-1)))
	switch {
	case len(c.free) < chunkSize:
	case p.empty == 0:
		p.empty++
	default:
		*c = chunk{}
		p.freed = append(p.freed, n)
	}
}

// All yields the numbers and entries in use.
func (p *pool) All() iter.Seq2[int32, *entry] {
	return func(yield func(int32, *entry) bool) {
		for n := range p.chunks {
			entries := p.chunks[n].entries
			for i := range entries {
				if e := &entries[i]; e.inUse() && !yield(int32(n<<chunkBits+i), e) {
					return
				}
			}
		}
	}
}

// Clone returns an independent copy.
func (p *pool) Clone() pool {
	c := pool{chunks: make([]chunk, len(p.chunks)), open: slices.Clone(p.open), freed: slices.Clone(p.freed), empty: p.empty}
	for i, from := range p.chunks {
		c.chunks[i] = chunk{entries: slices.Clone(from.entries), free: slices.Clone(from.free)}
	}
	return c
}

// minShrink is the capacity up to which a container never shrinks, and shrinkFactor how many times
// its length the capacity of a larger one may be.
const (
	minShrink    = 1024
	shrinkFactor = 8
)

// shouldShrink reports whether a container of that capacity and length should shrink.
func shouldShrink(capacity, length int) bool {
	return capacity > minShrink && length*shrinkFactor < capacity
}

// shrink returns s, or a smaller copy if its capacity is far above its length: slices keep their
// memory after a peak.
func shrink[T any](s []T) []T {
	if !shouldShrink(cap(s), len(s)) {
		return s
	}
	return append(make([]T, 0, 2*len(s)), s...)
}
