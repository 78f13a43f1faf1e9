package turns

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// Line is the calls of pods for which the loop does not wait (backend/api_dispatcher, v1.34 and v1.35): a pod has one of them, and what is
// called while that waits becomes that one. While it is under way, it waits for the end of it, and is behind all others then. When calls are sent is known
// from those that show.
type Line struct {
	// underWay is how long before it is sent a call is under way, and takes nothing in any more.
	underWay time.Duration
	places   map[types.UID]place
	shown    []call // in the order in which they were made, and sent
}

// place is where the call of a pod is in the line.
type place struct {
	made  time.Time // as if then
	again bool      // another call waits for the end of this one
}

// call is when a call was made, and when it is sent.
type call struct{ made, sent time.Time }

// remembered is for how long after it was sent a call is remembered that showed. Chosen: longer than any was seen to wait.
const remembered = 20 * time.Second

// NewLine returns the line of a scheduler of that configuration that has made no calls.
func NewLine(cfg *schedulerconfig.Config) *Line {
	l := &Line{underWay: math.MaxInt64, places: map[types.UID]place{}}
	if n := cfg.MaxAPICalls(); n > 0 {
		l.underWay = time.Duration(n) * cfg.ClientInterval()
	}
	return l
}

// call takes in that a call of that pod is made, and, if it is the pod's first, when it is seen to be sent. Zero if it is not seen to be.
func (l *Line) call(now time.Time, uid types.UID, sent time.Time) {
	if p := l.places[uid]; l.lastSentAt(uid).After(now) { // else what waited was sent, or came to nothing
		p.again = l.sentAt(p.made).Sub(now) < l.underWay
		l.places[uid] = p
		return
	}
	l.places[uid] = place{made: now}
	if sent.IsZero() {
		return
	}
	for len(l.shown) > 0 && l.shown[len(l.shown)-1].sent.After(sent) {
		l.shown = l.shown[:len(l.shown)-1] // that was of another call
	}
	l.shown = append(l.shown, call{now, sent})
	for len(l.shown) > 1 && now.Sub(l.shown[0].sent) > remembered {
		l.shown = l.shown[1:]
	}
}

// see takes in that a call of that pod was sent.
func (l *Line) see(now time.Time, uid types.UID) {
	if p, waits := l.places[uid]; waits && p.again {
		l.places[uid] = place{made: now}
	} else {
		delete(l.places, uid)
	}
}

// Forget takes in that the pod with that UID is gone: no more is called for it.
func (l *Line) Forget(uid types.UID) { delete(l.places, uid) }

// sentAt returns when a call is sent that was made then: between those that were made before and after it, and as long after it was made as the
// last one if none was after it.
func (l *Line) sentAt(made time.Time) time.Time {
	for i := len(l.shown) - 1; i >= 0; i-- {
		before := l.shown[i]
		if before.made.After(made) {
			continue
		}
		behind := made.Sub(before.made)
		if i+1 < len(l.shown) {
			after := l.shown[i+1]
			behind = time.Duration(float64(behind) * after.sent.Sub(before.sent).Seconds() / after.made.Sub(before.made).Seconds())
		}
		return before.sent.Add(behind)
	}
	return made
}

// lastSentAt returns when the last call of that pod is sent that was made. Zero if none waits.
func (l *Line) lastSentAt(uid types.UID) (sent time.Time) {
	p, waits := l.places[uid]
	if !waits {
		return sent
	}
	if sent = l.sentAt(p.made); p.again {
		sent = l.sentAt(sent)
	}
	return sent
}
