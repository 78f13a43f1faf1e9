package report

import (
	"encoding/binary"
	"iter"

	"github.com/schedq/schedq/queue"
)

// skippedMoves stores the moves of a pod that the filter has not selected. A later move, even of another
// pod with its name, may select it, so they are kept to the end, as differences of about 8 bytes each.
type skippedMoves struct {
	bytes []byte
	last  moment // the time of the last move
}

// Flags of a skipped move.
const (
	skippedObserved byte = 1 << iota
	skippedRestated
	skippedAtLeast
)

// add adds a move.
func (p *skippedMoves) add(m countedMove) {
	var flags byte
	if m.observed {
		flags |= skippedObserved
	}
	if m.restated {
		flags |= skippedRestated
	}
	if m.atLeast {
		flags |= skippedAtLeast
	}
	b := append(p.bytes, flags, byte(m.from), byte(m.to))
	b = binary.AppendVarint(b, int64(m.at-p.last))
	for _, number := range []uint64{uint64(m.attempts), uint64(m.event), uint64(m.rejection)} {
		b = binary.AppendUvarint(b, number)
	}
	p.bytes, p.last = b, m.at
}

// all yields the moves.
func (p *skippedMoves) all() iter.Seq[countedMove] {
	return func(yield func(countedMove) bool) {
		var at moment
		for rest := p.bytes; len(rest) > 0; {
			m := countedMove{
				from: queue.Tier(rest[1]), to: queue.Tier(rest[2]),
				observed: rest[0]&skippedObserved != 0, restated: rest[0]&skippedRestated != 0,
				atLeast: rest[0]&skippedAtLeast != 0,
			}
			later, n := binary.Varint(rest[3:])
			at += moment(later)
			m.at, rest = at, rest[3+n:]
			var numbers [3]uint64
			for i := range numbers {
				numbers[i], n = binary.Uvarint(rest)
				rest = rest[n:]
			}
			m.attempts, m.event, m.rejection = int(numbers[0]), uint32(numbers[1]), uint32(numbers[2])
			if !yield(m) {
				return
			}
		}
	}
}
