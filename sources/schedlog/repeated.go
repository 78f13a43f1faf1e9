package schedlog

import (
	"maps"
	"time"

	"github.com/schedq/schedq/sources/lines"
)

// Logs that overlap and copies of logs have the same lines. A sample of them shows it.

// identity says whether the line being read was read before.
type identity struct {
	hash  uint64 // 0 until that was asked
	again bool
}

// again reports whether the line being read, which has a fact, was read before, and counts it if so. A log that is followed
// has no such line.
func (p *parser) again(h *header) (again bool, err error) {
	if p.follows {
		return false, nil
	}
	if p.identity.hash == 0 {
		p.identity.hash = lines.Hash(h.whole)
		p.identity.again = p.seen.Add(p.identity.hash)
	}
	if p.identity.again {
		return true, p.lines.Repeated()
	}
	return false, nil
}

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
