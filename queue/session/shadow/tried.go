package shadow

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/verdict"
)

// lastAttempt is an attempt that is over.
type lastAttempt struct {
	At time.Time // when it ended
	// Seen is true if the source showed it.
	Seen bool
	// Message is why it failed, until a patch has told that. Empty if it did not, or that is not known.
	Message string
	// Told is true if Message is what its own Event told: that of a series keeps what the first of it said.
	Told bool
}

// lastAttempts are the pods that were tried, by UID.
type lastAttempts struct {
	last map[types.UID]lastAttempt
	// Ended is when the last attempt ended that was seen to. The loop waits for no patch of an attempt before that one: a patch is
	// answered before the loop takes another pod (schedule_one.go, v1.33, handleSchedulingFailure).
	Ended time.Time
}

// Note takes in that a was the last attempt of the pod with that UID.
func (p *lastAttempts) Note(uid types.UID, a lastAttempt) {
	if p.last == nil {
		p.last = map[types.UID]lastAttempt{}
	}
	p.last[uid] = a
}

// Last returns the last attempt of the pod with that UID, and false if none is known.
func (p *lastAttempts) Last(uid types.UID) (lastAttempt, bool) {
	a, ok := p.last[uid]
	return a, ok
}

// Forget forgets the pod with that UID.
func (p *lastAttempts) Forget(uid types.UID) { delete(p.last, uid) }

// Clear forgets all pods.
func (p *lastAttempts) Clear() { clear(p.last) }

// IsNew reports whether the last attempt of the pod with that UID ended less than within before now, and none was seen to end since.
func (p *lastAttempts) IsNew(now time.Time, uid types.UID, within time.Duration) bool {
	a, ok := p.last[uid]
	return ok && now.Sub(a.At) < within && !p.Ended.After(a.At)
}

// IsUnseen reports whether the last attempt of the pod with that UID ended less than within before now, and was not seen yet: then what
// is seen now is that one.
func (p *lastAttempts) IsUnseen(now time.Time, uid types.UID, within time.Duration) bool {
	a, ok := p.last[uid]
	return ok && !a.Seen && now.Sub(a.At) < within
}

// See takes in that an attempt of the pod with that UID was seen to end at that moment. It returns false if that was none that is
// known: it ended later than the last one, by more than slack.
func (p *lastAttempts) See(at time.Time, uid types.UID, slack time.Duration) bool {
	a, ok := p.last[uid]
	if !ok || a.At.Before(at.Add(-slack)) {
		return false
	}
	a.Seen = true
	p.last[uid] = a
	return true
}

// SeePatch takes in that the patch of the pod with that UID was seen: no other has the message of its last attempt.
func (p *lastAttempts) SeePatch(uid types.UID) {
	if a, ok := p.last[uid]; ok {
		a.Message = ""
		p.last[uid] = a
	}
}

// Writer returns what reports whether the last attempt of the pod with that UID IsNew, and a patch that wrote that may be of it as far as both
// count nodes: nodes is how many there are now, of which the scheduler may have heard sooner than the model.
func (p *lastAttempts) Writer(now time.Time, within time.Duration, nodes int) func(uid types.UID, wrote string) bool {
	return func(uid types.UID, wrote string) bool {
		had, _, _ := verdict.ReadMessage(p.last[uid].Message)
		counts, _, _ := verdict.ReadMessage(wrote)
		return p.IsNew(now, uid, within) && (had == 0 || counts == 0 || counts == had || counts == nodes)
	}
}
