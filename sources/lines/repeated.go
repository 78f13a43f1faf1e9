package lines

import (
	"errors"
	"hash/maphash"
)

// Exports that overlap, shippers that deliver at least once, and copies repeat lines. A line with a time to the microsecond
// that is the same to the byte is the same line.

// Seen has the hashes of recent lines: of at least the last maxSeen. The zero value is empty.
type Seen struct {
	table, before []uint64 // with open addressing. 0 is none
	count         int
}

// The table grows from the first size to the second. Half of it is used: it has the last 524,288 lines, and the one before
// it as many more.
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

// grow makes room.
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

// Share makes the Reader share the lines seen with others, which are not used at the same time.
func (r *Reader) Share(seen *Seen) { r.seen = seen }

// Repeats reports whether the line, which Next returned, is the same as one that was passed before.
func (r *Reader) Repeats(line []byte) bool { return r.seen.Add(Hash(line)) }

// errRepeated is about a repeated line.
var errRepeated = errors.New("the line repeats an earlier one")

// Repeated records that the line that Next returned last is repeated and is left out. For a strict Reader it is an error.
func (r *Reader) Repeated() error {
	if r.strict {
		return r.Errorf("%w", errRepeated)
	}
	r.losses.repeated.because(r.line, errRepeated)
	return nil
}
