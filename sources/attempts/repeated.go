package attempts

import (
	"hash/maphash"
	"maps"
	"time"

	"github.com/schedq/schedq/sources"
)

// Repeats detects repeated Events of failed attempts. kube-scheduler writes the series of an Event again, unchanged, every
// 30 minutes and when nothing was added to it for some minutes (k8s.io/client-go v0.37, tools/events/event_broadcaster.go).
// The zero value is ready to use.
type Repeats struct {
	seed  maphash.Seed
	read  map[attempt]int64 // when they were read, in Unix seconds
	swept time.Time
}

// attempt is the hash of a pod's UID and the time of its attempt in Unix nanoseconds. A busy cluster has some hundred
// thousand in an hour, and a UID would keep the text in memory from which it was read.
type attempt struct {
	pod uint64
	at  int64
}

// rewritten limits how long after an Event it is repeated.
const rewritten = time.Hour

// First reports whether a failed attempt that was read at that time is not a repeated one.
func (a *Repeats) First(ev sources.Event, at time.Time) bool {
	if a.read == nil {
		a.read, a.seed = map[attempt]int64{}, maphash.MakeSeed()
	}
	if at.Sub(a.swept) > rewritten {
		since := at.Add(-rewritten).Unix()
		maps.DeleteFunc(a.read, func(_ attempt, read int64) bool { return read < since })
		a.swept = at
	}
	key := attempt{maphash.String(a.seed, string(ev.Fact.(*sources.FailedAttempt).UID)), ev.Time.UnixNano()}
	_, known := a.read[key]
	a.read[key] = at.Unix()
	return !known
}
