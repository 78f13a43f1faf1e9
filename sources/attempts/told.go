package attempts

import (
	"hash/maphash"
	"maps"
	"time"

	"github.com/schedq/schedq/sources"
)

// Told are the failed attempts that were told. kube-scheduler writes an Event's series again, as it is, every half an
// hour and when nothing was added to it for some minutes (k8s.io/client-go v0.37, tools/events/event_broadcaster.go).
type Told struct {
	seed  maphash.Seed
	told  map[attempt]int64 // when they were read, in Unix seconds
	swept time.Time
}

// attempt is a pod's UID by its hash, and when its attempt was made in Unix nanoseconds: an hour of a busy cluster has some hundred
// thousand, and a UID keeps the text in memory that it was read from.
type attempt struct {
	pod uint64
	at  int64
}

// rewritten is how long after an Event it may be written again as it is.
const rewritten = time.Hour

// First reports whether a failed attempt is told for the first time. read is when.
func (a *Told) First(ev sources.Event, read time.Time) bool {
	if a.told == nil {
		a.told, a.seed = map[attempt]int64{}, maphash.MakeSeed()
	}
	if read.Sub(a.swept) > rewritten {
		since := read.Add(-rewritten).Unix()
		maps.DeleteFunc(a.told, func(_ attempt, at int64) bool { return at < since })
		a.swept = read
	}
	key := attempt{maphash.String(a.seed, string(ev.Fact.(*sources.FailedAttempt).UID)), ev.Time.UnixNano()}
	_, known := a.told[key]
	a.told[key] = read.Unix()
	return !known
}
