package lines

import (
	"errors"
	"hash/maphash"
)

// Seen contains the hashes of recent lines, at least the last maxSeen. Overlapping exports, shippers that deliver at
// least once, and copies repeat lines: two equal lines with times to the microsecond are the same line. The zero value
// is empty.
type Seen struct {
	table, before []uint64 // with open addressing. 0 is none
	count         int
}

// The table grows from smallestTable to largestTable, and is half full at most: it contains up to 524,288 lines, and
// the previous table as many more.
const (
	smallestTable = 1 << 8
	largestTable  = 1 << 20
	maxSeen       = largestTable / 2
)

// Hash returns the hash of a line for Seen.Add.
func Hash(line []byte) uint64 { return maphash.Bytes(lineSeed, line) | 1 }

var lineSeed = maphash.MakeSeed()

// Add adds a line and reports whether it was there.
func (s *Seen) Add(hash uint64) bool {
	if s.count >= len(s.table)/2 {
		s.grow()
	}
	if slot := find(s.table, hash); *slot == hash {
		return true
	} else if len(s.before) > 0 && *find(s.before, hash) == hash {
		return true
	} else {
		*slot = hash
	}
	s.count++
	return false
}

// grow enlarges the table, or starts a new one.
func (s *Seen) grow() {
	old := s.table
	s.table = make([]uint64, min(max(smallestTable, 4*len(old)), largestTable))
	if len(old) == largestTable {
		s.before, s.count = old, 0
		return
	}
	for _, hash := range old {
		if hash != 0 {
			*find(s.table, hash) = hash
		}
	}
}

// find returns the slot with a hash, or a free one for it.
func find(table []uint64, hash uint64) *uint64 {
	mask := uint64(len(table) - 1)
	for i := hash / 2 & mask; ; i = (i + 1) & mask {
		if table[i] == hash || table[i] == 0 {
			return &table[i]
		}
	}
}

// Share makes the Reader use seen, together with other Readers that are not used concurrently.
func (r *Reader) Share(seen *Seen) { r.seen = seen }

// Repeats reports whether the line equals one that was passed before.
func (r *Reader) Repeats(line []byte) bool { return r.seen.Add(Hash(line)) }

// errRepeated is the error about a repeated line.
var errRepeated = errors.New("the line repeats an earlier one")

// Repeated records that the last line that Next returned is repeated and skipped. A strict Reader returns an error.
func (r *Reader) Repeated() error {
	if r.strict {
		return r.Errorf("%w", errRepeated)
	}
	r.losses.repeated.addCause(r.line, errRepeated)
	return nil
}
