package report

import (
	"encoding/binary"
	"iter"

	"github.com/schedq/schedq/queue"
)

// passedMoves are moves of a pod that the filter does not select. Its last move may select it, or one of another pod of its name when it has
// left, so they are kept to the end, in the order in which they came: each in the 8 bytes or so that tell it from the one before it.
type passedMoves struct {
	bytes []byte
	last  moment // when the last of them was
}

// Flags of a move that passed.
const (
	passedObserved byte = 1 << iota
	passedRestated
)

// add adds a move.
func (p *passedMoves) add(m countedMove) {
	var flags byte
	if m.observed {
		flags |= passedObserved
	}
	if m.restated {
		flags |= passedRestated
	}
	b := append(p.bytes, flags, byte(m.from), byte(m.to))
	b = binary.AppendVarint(b, int64(m.at-p.last))
	for _, number := range []uint64{uint64(m.attempts), uint64(m.event), uint64(m.rejection)} {
		b = binary.AppendUvarint(b, number)
	}
	p.bytes, p.last = b, m.at
}

// all yields the moves.
func (p *passedMoves) all() iter.Seq[countedMove] {
	return func(yield func(countedMove) bool) {
		var at moment
		for rest := p.bytes; len(rest) > 0; {
			m := countedMove{
				from: queue.Tier(rest[1]), to: queue.Tier(rest[2]),
				observed: rest[0]&passedObserved != 0, restated: rest[0]&passedRestated != 0,
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
