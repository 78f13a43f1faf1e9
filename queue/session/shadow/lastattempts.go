package shadow

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/verdict"
)

// lastAttempt describes a completed attempt.
type lastAttempt struct {
	At time.Time // when it ended
	// Seen is true if the source showed the attempt.
	Seen bool
	// Message is the reason for the failure, until a patch reports it. It is empty if the attempt
	// did not fail or the reason is unknown.
	Message string
	// FromEvent is true if Message comes from the attempt's own Event. An Event series keeps the
	// message of its first attempt.
	FromEvent bool
}

// lastAttempts records the last attempt of each pod, by UID.
type lastAttempts struct {
	last map[types.UID]lastAttempt
	// Ended is when the last attempt with an observed end ended. The loop does not wait for a patch
	// of an earlier attempt: a patch is answered before the loop takes another pod
	// (schedule_one.go, v1.33, handleSchedulingFailure).
	Ended time.Time
}

// Note records a as the last attempt of the pod with that UID.
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

// IsNew reports whether the last attempt of the pod with that UID ended less than within before
// now, and no later attempt was observed to end.
func (p *lastAttempts) IsNew(now time.Time, uid types.UID, within time.Duration) bool {
	a, ok := p.last[uid]
	return ok && now.Sub(a.At) < within && !p.Ended.After(a.At)
}

// IsUnseen reports whether the last attempt of the pod with that UID ended less than within before
// now and was not observed yet. If so, a trace observed now belongs to that attempt.
func (p *lastAttempts) IsUnseen(now time.Time, uid types.UID, within time.Duration) bool {
	a, ok := p.last[uid]
	return ok && !a.Seen && now.Sub(a.At) < within
}

// See marks the last attempt of the pod with that UID as observed, given an observed end at at. It
// returns false if the observation is of an unknown attempt: one that ended later than the last
// attempt by more than slack.
func (p *lastAttempts) See(at time.Time, uid types.UID, slack time.Duration) bool {
	a, ok := p.last[uid]
	if !ok || a.At.Before(at.Add(-slack)) {
		return false
	}
	a.Seen = true
	p.last[uid] = a
	return true
}

// SeePatch clears the message of the last attempt of the pod with that UID, because its patch was
// observed: no other patch reports that message.
func (p *lastAttempts) SeePatch(uid types.UID) {
	if a, ok := p.last[uid]; ok {
		a.Message = ""
		p.last[uid] = a
	}
}

// Writer returns a predicate: is the last attempt of the pod with that UID new (see IsNew), and can
// it have sent a patch with the message wrote? The node counts of both messages must agree if both
// have one. A count equal to nodes, the current number of nodes, is also accepted, since the
// scheduler may know of a node change before the model does.
func (p *lastAttempts) Writer(now time.Time, within time.Duration, nodes int) func(uid types.UID, wrote string) bool {
	return func(uid types.UID, wrote string) bool {
		had, _, _ := verdict.ReadMessage(p.last[uid].Message)
		counts, _, _ := verdict.ReadMessage(wrote)
		return p.IsNew(now, uid, within) && (had == 0 || counts == 0 || counts == had || counts == nodes)
	}
}
