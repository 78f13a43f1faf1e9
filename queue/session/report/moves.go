package report

import (
	"math"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
)

// numbers assigns consecutive numbers to values, from 0.
type numbers[T comparable] struct {
	known  map[T]uint32
	values []T
}

// number returns v's number. If v is new, it stores own(v), which must equal v.
func (n *numbers[T]) number(v T, own func(T) T) uint32 {
	i, known := n.known[v]
	if !known {
		if n.known == nil {
			n.known = map[T]uint32{}
		}
		i, v = uint32(len(n.values)), own(v)
		n.known[v], n.values = i, append(n.values, v)
	}
	return i
}

// moveKind is the key by which moves are counted.
type moveKind struct {
	to    queue.Tier
	event string
}

func ownKind(k moveKind) moveKind { return moveKind{k.to, strings.Clone(k.event)} }

// moment is a time in nanoseconds since 1970, which fits all times in recordings (sources.CheckTime), or
// never.
type moment int64

// never is the zero time.
const never moment = math.MinInt64

func momentOf(t time.Time) moment {
	if t.IsZero() {
		return never
	}
	return moment(t.UnixNano())
}

// time returns the time in UTC.
func (m moment) time() time.Time {
	if m == never {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}
