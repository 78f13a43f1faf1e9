package schedlog

import (
	"hash/maphash"
	"maps"
	"time"
)

// Exports that overlap and shippers that deliver at least once repeat lines, within a file and across files. A line that is
// the same to the microsecond is the same line.

var lineSeed = maphash.MakeSeed()

// The table of lines grows from the first size to the second: 8 MiB, which has about the last 500,000 lines about pods.
const (
	smallestTable = 1 << 10
	largestTable  = 1 << 20
)

// seenLines has the hashes of recently read lines. A new line replaces an older one.
type seenLines struct {
	table []uint64
	lines int
}

// repeats reports whether a line was seen before, and remembers it. No line's hash is 0.
func (s *seenLines) repeats(hash uint64) bool {
	switch n := len(s.table); {
	case n == 0:
		s.table = make([]uint64, smallestTable)
	case s.lines > n/2 && n < largestTable:
		before := s.table
		s.table = make([]uint64, 4*n)
		for _, hash := range before {
			s.table[hash/2%uint64(len(s.table))] = hash
		}
	}
	slot := &s.table[hash/2%uint64(len(s.table))]
	if *slot == hash {
		return true
	}
	*slot = hash
	s.lines++
	return false
}

func hashLine(line []byte) uint64 { return maphash.Bytes(lineSeed, line) | 1 }

// maxSampled limits how many lines a lineSample contains.
const maxSampled = 1 << 12

// lineSample has the times of lines about pods by hash. Of very many lines, it contains those whose hashes are multiples of
// a power of two: the same sample in all logs.
type lineSample struct {
	at    map[uint64]time.Time
	every uint64
}

func (s *lineSample) add(hash uint64, at time.Time) {
	if s.at == nil {
		s.at, s.every = map[uint64]time.Time{}, 1
	}
	if hash/2%s.every != 0 {
		return
	}
	s.at[hash] = at
	if len(s.at) > maxSampled {
		s.every *= 2
		maps.DeleteFunc(s.at, func(hash uint64, _ time.Time) bool { return hash/2%s.every != 0 })
	}
}

// Repeats reports whether both logs have the same lines in the time that both cover: then they are of one scheduler.
func (l *Log) Repeats(other *Log) bool {
	every := max(l.lines.every, other.lines.every)
	shared, alone := 0, 0
	for hash, at := range l.lines.at {
		if hash/2%every != 0 || at.Before(other.WorkedFrom) || at.After(other.WorkedTo) {
			continue
		}
		if _, has := other.lines.at[hash]; has {
			shared++
		} else {
			alone++
		}
	}
	return shared > alone
}
