package schedlog

import "hash/maphash"

// Exports that overlap and shippers that deliver at least once repeat lines. A line that is the same to the microsecond is
// the same line.

// The table of lines grows from the first size to the second: 8 MiB, which has about the last 500,000 lines about pods.
const (
	smallestTable = 1 << 10
	largestTable  = 1 << 20
)

// seenLines knows the lines that were read lately, by their hashes: a new line takes the place of an older one.
type seenLines struct {
	seed  maphash.Seed
	table []uint64
	lines int
}

// repeats reports whether a line was seen before, and remembers it.
func (s *seenLines) repeats(line []byte) bool {
	switch n := len(s.table); {
	case n == 0:
		s.seed, s.table = maphash.MakeSeed(), make([]uint64, smallestTable)
	case s.lines > n/2 && n < largestTable:
		before := s.table
		s.table = make([]uint64, 4*n)
		for _, hash := range before {
			s.table[hash/2%uint64(len(s.table))] = hash
		}
	}
	hash := maphash.Bytes(s.seed, line) | 1 // 0 is no line
	slot := &s.table[hash/2%uint64(len(s.table))]
	if *slot == hash {
		return true
	}
	*slot = hash
	s.lines++
	return false
}
