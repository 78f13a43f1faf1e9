package evidence

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

const takes = time.Millisecond // an attempt, and the way of an answer

// fails is that an attempt of a pod failed then with these words.
func fails(ms int, name, words string) sources.Event {
	return sources.Event{Time: at(ms), Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Name: name}, UID: types.UID(name), Message: sources.SafeText(words)}}
}

// heard is what a watch tells of a patch that gave the pod these words.
func heard(ms int, name, words string) []sources.Event {
	p := pod(name, "")
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: words}}
	return []sources.Event{changed(ms, sources.Updated, p), patched(0, ms, name)}
}

// watched is a future of what a source tells that hears of patches by its watch, in the order in which it does.
func watched(events ...sources.Event) *Future {
	f := NewUntold(nil, reach, requesting, rate.NewLimiter(rate.Inf, 0), 0, 0)
	for _, ev := range events {
		f.Add(ev)
	}
	return f
}

// TestCausesFirst: of a patch of a's that is heard of at 20 ms, what was seen to fail meanwhile tells by when it was answered.
func TestCausesFirst(t *testing.T) {
	late := heard(20, "a", "no room")
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   int // ms
	}{
		{"nothing fails meanwhile", append([]sources.Event{fails(10, "a", "no room")}, late...), 20},
		{"another fails", append([]sources.Event{fails(10, "a", "no room"), fails(15, "b", "")}, late...), 14},
		{"the Events come after it", slices.Concat(late, []sources.Event{fails(15, "b", ""), fails(10, "a", "no room")}), 14},
		{"two others fail", append([]sources.Event{fails(10, "a", "no room"), fails(13, "b", ""), fails(17, "c", "")}, late...), 12},
		{"another failed before its attempt", append([]sources.Event{fails(9, "b", ""), fails(10, "a", "no room")}, late...), 20},
		{"another fails after it is heard of", append([]sources.Event{fails(10, "a", "no room"), fails(21, "b", "")}, late...), 20},
		{"another fails so soon that an attempt takes all the time there is", append([]sources.Event{fails(10, "a", "no room"), fails(10, "b", "")}, late...), 10},
		{"its attempt is not seen", append([]sources.Event{fails(15, "b", "")}, late...), 20},
		{"the attempt that is seen failed in other words", append([]sources.Event{fails(10, "a", "a taint"), fails(15, "b", "")}, late...), 20},
		{"it was tried too long ago", append([]sources.Event{fails(-990, "a", "no room"), fails(15, "b", "")}, late...), 20},
		{"the pod changed in between", slices.Concat([]sources.Event{fails(10, "a", "no room"), fails(15, "b", ""), changed(18, sources.Updated, pod("a", ""))}, late), 18},
		{"the pod changed before", slices.Concat([]sources.Event{changed(11, sources.Updated, pod("a", "")), fails(10, "a", "no room"), fails(15, "b", "")}, late), 14},
		{"another pod changed in between", slices.Concat([]sources.Event{fails(10, "a", "no room"), fails(15, "b", ""), changed(18, sources.Updated, pod("c", ""))}, late), 14},
		{"it was patched before", slices.Concat([]sources.Event{fails(10, "a", "no room")}, heard(12, "a", "no room"), []sources.Event{fails(15, "b", "")}, late), 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := watched(c.events...)
			f.CausesFirst(takes)
			f.CausesFirst(takes) // there is nothing left to do
			var patch, change *Sighting
			for previous := start.Add(-time.Hour); f.First() != nil; f.RemoveFirst() {
				s := f.First()
				if s.Time.Before(previous) {
					t.Errorf("at %s, it is behind what is later", s.Time)
				}
				if previous = s.Time; s.UID == "a" && s.Kind == Changed {
					change = s
				}
				if s.Kind == Patched {
					patch = s
				}
			}
			if !patch.Time.Equal(at(c.want)) || !change.Time.Equal(patch.Time) {
				t.Errorf("it was answered by %s, and the pod changed at %s, want %s", patch.Time, change.Time, at(c.want))
			}
			if moved := c.want < 20; moved && (!patch.FailedAt.Equal(at(10)) || patch.By.Before(at(10))) {
				t.Errorf("it was sent by %s, after a failure at %s", patch.By, patch.FailedAt)
			}
		})
	}
}

// TestUsedStays: of a patch that the model waits for it knows already when that is answered.
func TestUsedStays(t *testing.T) {
	f := watched(append(heard(20, "a", "no room"), fails(10, "a", "no room"))...)
	f.Patch("a", at(10), time.Second, false).Used = true
	f.Add(fails(15, "b", ""))
	if f.CausesFirst(takes); !f.patches[0].Time.Equal(at(20)) {
		t.Errorf("it is answered at %s now", f.patches[0].Time)
	}
}
