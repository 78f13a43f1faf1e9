package queue

import (
	"iter"
	"slices"
)

// Pool holds values which everything else refers to by their numbers. They lie in chunks, so that a pool grows without moving what it
// holds, a copy is one of a few large pieces, and a pointer to a value stays good until that is released. A chunk that
// holds nothing is given back, but for one.
type chunkedPool[T any] struct {
	chunks []chunk[T]
	rooms  []int32 // chunks that had room when they were noted, the last first
	gone   []int32 // chunks that were given back
	spare  int32   // how many chunks hold nothing and were not given back
}

// chunk is some of the values. It has none if it was given back.
type chunk[T any] struct {
	values []T
	below  []uint16 // of a released value, the one that was released before it, by its number and one, or 0; nil until one is
	last   uint16   // the value that was released last, in the same way
	free   int      // how many are released
	fresh  int      // values[fresh:] were never allocated
}

const (
	chunkBits = 9
	chunkSize = 1 << chunkBits
)

// holds returns how many values of c are allocated.
func (c *chunk[T]) holds() int { return c.fresh - c.free }

// At returns the value of number i.
func (p *chunkedPool[T]) At(i int32) *T { return &p.chunks[i>>chunkBits].values[i&(chunkSize-1)] }

// Allocate returns the number of a free value, which is zero.
func (p *chunkedPool[T]) Allocate() int32 {
	n := p.roomy()
	c := &p.chunks[n]
	if c.holds() == 0 {
		p.spare--
	}
	if c.free > 0 {
		i := c.last - 1
		c.last = c.below[i]
		c.free--
		return n<<chunkBits + int32(i)
	}
	c.fresh++
	return n<<chunkBits + int32(c.fresh-1)
}

// roomy returns the number of a chunk that has room.
func (p *chunkedPool[T]) roomy() int32 {
	for len(p.rooms) > 0 {
		n := p.rooms[len(p.rooms)-1]
		if c := &p.chunks[n]; c.values != nil && c.holds() < chunkSize {
			return n
		}
		p.rooms = p.rooms[:len(p.rooms)-1]
	}
	var n int32
	if last := len(p.gone) - 1; last >= 0 {
		n, p.gone = p.gone[last], p.gone[:last]
	} else {
		n = int32(len(p.chunks))
		p.chunks = append(p.chunks, chunk[T]{})
	}
	p.chunks[n] = chunk[T]{values: make([]T, chunkSize)}
	p.rooms = append(p.rooms, n)
	p.spare++
	return n
}

// Release gives value i back, and makes it zero.
func (p *chunkedPool[T]) Release(i int32) {
	var zero T
	*p.At(i) = zero
	n := i >> chunkBits
	c := &p.chunks[n]
	if c.holds() == chunkSize {
		p.rooms = append(p.rooms, n)
	}
	if c.below == nil {
		c.below = make([]uint16, chunkSize)
	}
	at := uint16(i & (chunkSize - 1))
	c.below[at], c.last = c.last, at+1
	c.free++
	if c.holds() > 0 {
		return
	}
	if p.spare == 0 {
		p.spare++
		return
	}
	*c = chunk[T]{}
	p.gone = append(p.gone, n)
}

// All yields the numbers and values of all that were ever allocated and not given back: released ones are zero.
func (p *chunkedPool[T]) All() iter.Seq2[int32, *T] {
	return func(yield func(int32, *T) bool) {
		for n := range p.chunks {
			for i := range p.chunks[n].fresh {
				if !yield(int32(n<<chunkBits+i), &p.chunks[n].values[i]) {
					return
				}
			}
		}
	}
}

// Clone returns a copy that shares nothing.
func (p *chunkedPool[T]) Clone() chunkedPool[T] {
	c := chunkedPool[T]{chunks: make([]chunk[T], len(p.chunks)), rooms: slices.Clone(p.rooms), gone: slices.Clone(p.gone), spare: p.spare}
	for i, from := range p.chunks {
		from.values, from.below = slices.Clone(from.values), slices.Clone(from.below)
		c.chunks[i] = from
	}
	return c
}
