package report

import (
	"encoding/binary"
	"math"
	"slices"
)

// distribution is many values, each of which is kept as it is: quantiles of them are exact. Those of a long recording are millions, and
// lie close together. So they are in sorted runs, of which a value takes the bytes that its distance from the one before it needs.
type distribution struct {
	fresh []int64 // those that came last, in no order, and at most maxFresh
	runs  []sortedRun
}

// sortedRun is values in their order, each as the distance from the one before it, the first from the lowest that there is.
type sortedRun struct {
	count int
	last  int64
	bytes []byte
}

// newRun returns a run of no values, with room for so many bytes.
func newRun(size int) sortedRun { return sortedRun{last: math.MinInt64, bytes: make([]byte, 0, size)} }

// add adds a value that is no less than those before it.
func (r *sortedRun) add(value int64) {
	r.bytes = binary.AppendUvarint(r.bytes, uint64(value)-uint64(r.last))
	r.count, r.last = r.count+1, value
}

// cursor goes through a run.
type cursor struct {
	value int64
	ended bool // there is no value any more
	rest  []byte
}

// begin returns a cursor at the first value.
func (r *sortedRun) begin() cursor {
	c := cursor{value: math.MinInt64, rest: r.bytes}
	c.next()
	return c
}

// next goes to the next value.
func (c *cursor) next() {
	if c.ended = len(c.rest) == 0; c.ended {
		return
	}
	distance, n := binary.Uvarint(c.rest)
	c.value, c.rest = int64(uint64(c.value)+distance), c.rest[n:]
}

// maxFresh is how many values are sorted at once: 32 KB of them.
const maxFresh = 4096

// add takes in a value.
func (d *distribution) add(value int64) {
	if d.fresh = append(d.fresh, value); len(d.fresh) == maxFresh {
		d.sort()
	}
}

// sort makes a run of the fresh values, and one of those that are not much longer: of n values there are about log n runs, and each value
// is merged as often.
func (d *distribution) sort() {
	slices.Sort(d.fresh)
	sorted := newRun(0)
	for _, value := range d.fresh {
		sorted.add(value)
	}
	d.fresh, d.runs = d.fresh[:0], append(d.runs, sorted)
	for n := len(d.runs); n > 1 && d.runs[n-2].count < 2*d.runs[n-1].count; n = len(d.runs) {
		d.mergeLast()
	}
}

// mergeLast makes one run of the last two.
func (d *distribution) mergeLast() {
	n := len(d.runs)
	one, other := &d.runs[n-2], &d.runs[n-1]
	both := newRun(len(one.bytes) + len(other.bytes))
	for a, b := one.begin(), other.begin(); !a.ended || !b.ended; {
		least := &a
		if a.ended || !b.ended && b.value < a.value {
			least = &b
		}
		both.add(least.value)
		least.next()
	}
	both.bytes = slices.Clone(both.bytes) // which may be fewer
	d.runs = append(d.runs[:n-2], both)
}

// spread is what is said of a distribution: how many values there are, what they add up to, and the values below which half and nine
// tenths of them lie, and all: the nearest ranks, and 0 of no values.
type spread struct {
	count                   int
	total, median, p90, max int64
}

// spread returns what is said of all values up to now.
func (d *distribution) spread() (s spread) {
	d.sort()
	for len(d.runs) > 1 {
		d.mergeLast()
	}
	all := &d.runs[0]
	if s.count = all.count; s.count == 0 {
		return s
	}
	s.max = all.last
	i := 0
	for c := all.begin(); !c.ended; c.next() {
		if i == rank(s.count, 50) {
			s.median = c.value
		}
		if i == rank(s.count, 90) {
			s.p90 = c.value
		}
		s.total += c.value
		i++
	}
	return s
}

// rank is the index of the value below which percent of so many in their order lie.
func rank(count, percent int) int { return max(0, (count*percent+99)/100-1) }
