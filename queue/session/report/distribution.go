package report

import (
	"encoding/binary"
	"math"
	"slices"
)

// distribution is a multiset of values with exact quantiles. A long recording has millions of values that
// are close together, so they are stored in sorted runs as variable-length differences.
type distribution struct {
	fresh []int64 // the latest values, unsorted, at most maxFresh
	runs  []sortedRun
}

// sortedRun is a sorted list of values, each stored as the difference to the one before, and the first as
// the difference to the lowest int64.
type sortedRun struct {
	count int
	last  int64
	bytes []byte
}

// newRun returns an empty run with a capacity of size bytes.
func newRun(size int) sortedRun { return sortedRun{last: math.MinInt64, bytes: make([]byte, 0, size)} }

// add adds a value that is not less than those before it.
func (r *sortedRun) add(value int64) {
	r.bytes = binary.AppendUvarint(r.bytes, uint64(value)-uint64(r.last))
	r.count, r.last = r.count+1, value
}

// cursor iterates over a run.
type cursor struct {
	value int64
	ended bool // past the last value
	rest  []byte
}

// begin returns a cursor at the first value.
func (r *sortedRun) begin() cursor {
	c := cursor{value: math.MinInt64, rest: r.bytes}
	c.next()
	return c
}

// next advances to the next value.
func (c *cursor) next() {
	if c.ended = len(c.rest) == 0; c.ended {
		return
	}
	distance, n := binary.Uvarint(c.rest)
	c.value, c.rest = int64(uint64(c.value)+distance), c.rest[n:]
}

// maxFresh is how many values are sorted at once: 32 KB of them.
const maxFresh = 4096

// add adds a value.
func (d *distribution) add(value int64) {
	if d.fresh = append(d.fresh, value); len(d.fresh) == maxFresh {
		d.sort()
	}
}

// sort turns the fresh values into a run, and merges runs of similar length: n values form about log n
// runs, and each value is merged that often.
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

// mergeLast merges the last two runs.
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
	both.bytes = slices.Clone(both.bytes) // trims the capacity
	d.runs = append(d.runs[:n-2], both)
}

// spread summarizes a distribution: the number of values, their sum, median, 90th percentile and maximum,
// by nearest rank. All are 0 if there are no values.
type spread struct {
	count                   int
	total, median, p90, max int64
}

// spread summarizes all values so far.
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

// rank returns the index of the percentile in count sorted values.
func rank(count, percent int) int { return max(0, (count*percent+99)/100-1) }
