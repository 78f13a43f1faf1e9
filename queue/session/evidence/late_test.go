package evidence

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

const attemptTime = time.Millisecond

// failedWith returns the Event of a failed attempt with that message.
func failedWith(ms int, name, message string) sources.Event {
	return sources.Event{Time: at(ms), Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Name: name}, UID: types.UID(name), Message: sources.SafeText(message)}}
}

// delivered returns the events of a watch that delivers a patch of the pod's condition.
func delivered(ms int, name, message string) []sources.Event {
	p := pod(name, "")
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message}}
	return []sources.Event{changed(ms, sources.Updated, p), patched(0, ms, name)}
}

// watched returns a Future to which events were added in that order.
func watched(events ...sources.Event) *Future {
	f := newVisible(lookahead, requestTime, unlimited(), 0, 0)
	for _, ev := range events {
		f.Add(ev)
	}
	return f
}

// TestMoveLatePatches: a patch of pod a is delivered at 20 ms. Failures before that bound the time of its
// answer.
func TestMoveLatePatches(t *testing.T) {
	late := delivered(20, "a", "no room")
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   int // ms
	}{
		{"no other failure", append([]sources.Event{failedWith(10, "a", "no room")}, late...), 20},
		{"another pod fails", append([]sources.Event{failedWith(10, "a", "no room"), failedWith(15, "b", "")}, late...), 14},
		{"the Events arrive after the patch", slices.Concat(late, []sources.Event{failedWith(15, "b", ""), failedWith(10, "a", "no room")}), 14},
		{"two other pods fail", append([]sources.Event{failedWith(10, "a", "no room"), failedWith(13, "b", ""), failedWith(17, "c", "")}, late...), 12},
		{"another pod failed before the attempt", append([]sources.Event{failedWith(9, "b", ""), failedWith(10, "a", "no room")}, late...), 20},
		{"another pod fails after the delivery", append([]sources.Event{failedWith(10, "a", "no room"), failedWith(21, "b", "")}, late...), 20},
		{"another pod fails within the time of an attempt", append([]sources.Event{failedWith(10, "a", "no room"), failedWith(10, "b", "")}, late...), 10},
		{"the attempt has no Event", append([]sources.Event{failedWith(15, "b", "")}, late...), 20},
		{"the attempt has another message", append([]sources.Event{failedWith(10, "a", "a taint"), failedWith(15, "b", "")}, late...), 20},
		{"the attempt was too long ago", append([]sources.Event{failedWith(-990, "a", "no room"), failedWith(15, "b", "")}, late...), 20},
		{"the pod changed in between", slices.Concat([]sources.Event{failedWith(10, "a", "no room"), failedWith(15, "b", ""), changed(18, sources.Updated, pod("a", ""))}, late), 18},
		{"the pod changed before", slices.Concat([]sources.Event{changed(11, sources.Updated, pod("a", "")), failedWith(10, "a", "no room"), failedWith(15, "b", "")}, late), 14},
		{"another pod changed in between", slices.Concat([]sources.Event{failedWith(10, "a", "no room"), failedWith(15, "b", ""), changed(18, sources.Updated, pod("c", ""))}, late), 14},
		{"the pod was patched before", slices.Concat([]sources.Event{failedWith(10, "a", "no room")}, delivered(12, "a", "no room"), []sources.Event{failedWith(15, "b", "")}, late), 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := watched(c.events...)
			f.MoveLatePatches(attemptTime)
			f.MoveLatePatches(attemptTime) // has no effect
			var patch, change *Observation
			for previous := start.Add(-time.Hour); f.First() != nil; f.RemoveFirst() {
				s := f.First()
				if s.Time.Before(previous) {
					t.Errorf("the observation at %s follows a later one", s.Time)
				}
				if previous = s.Time; s.UID == "a" && s.Kind == Changed {
					change = s
				}
				if s.Kind == Patched {
					patch = s
				}
			}
			if !patch.Time.Equal(at(c.want)) || !change.Time.Equal(patch.Time) {
				t.Errorf("the patch is at %s, and the change at %s, want %s", patch.Time, change.Time, at(c.want))
			}
			if moved := c.want < 20; moved && (!patch.FailedAt.Equal(at(10)) || patch.EndedBy.Before(at(10))) {
				t.Errorf("the patch was sent by %s, after a failure at %s", patch.EndedBy, patch.FailedAt)
			}
		})
	}
}

// TestUsedPatchIsNotMoved: the model already waits for the answer to the patch at its old time.
func TestUsedPatchIsNotMoved(t *testing.T) {
	f := watched(append(delivered(20, "a", "no room"), failedWith(10, "a", "no room"))...)
	f.Patch("a", at(10), time.Second, false).Used = true
	f.Add(failedWith(15, "b", ""))
	if f.MoveLatePatches(attemptTime); !f.patches[0].Time.Equal(at(20)) {
		t.Errorf("the patch was moved to %s", f.patches[0].Time)
	}
}
