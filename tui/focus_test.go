package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

// queueing has a pod that waits longest and is rejected last, and at the end three pods in flight.
const queueing = `
0.0 oldest active UnscheduledPodAdd
0.1 oldest inflight
0.2 oldest unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit,TaintToleration
1.0 middle active UnscheduledPodAdd
1.1 middle inflight
1.2 middle unschedulable ScheduleAttemptFailure NodeAffinity
1.3 oldest active AssignedPodDelete
1.4 oldest inflight
1.5 oldest unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit,TaintToleration
2.0 newest active UnscheduledPodAdd
3.0 newest deleted
4.0 checkout-7d9f8c6b5-x2k1p active UnscheduledPodAdd
4.0 checkout-7d9f8c6b5-zzzzz active UnscheduledPodAdd
4.0 third active UnscheduledPodAdd
4.1 checkout-7d9f8c6b5-x2k1p inflight
4.2 checkout-7d9f8c6b5-zzzzz inflight
4.3 third inflight
6.0 mark the end
`

// TestTheFirstFocus: a screen with space for one pane first shows the pane with the longest waiting
// pod, never an empty one while pods wait, until the user chooses a pane.
func TestTheFirstFocus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 60, 20, paused(t, queueing), Options{})
		p.goTo("+0.05s").seesTogether("┏━ 1 activeQ 1").goTo("+1.2s").seesTogether("┏━ 3 unschedulable 2")
		p.goTo("+1.2s").seesTogether("┏━ 3 unschedulable 2") // not the pane of the newest pod
		p.do(keymap.FocusActive).seesTogether("┏━ 1 activeQ 1").goTo("10:36:03.5").seesTogether("┏━ 1 activeQ 0")

		late := sit(t, 60, 20, session.New(tell(t, queueing), timeline.Options{Paused: true, StartOffset: 2500 * time.Millisecond}), Options{})
		late.seesTogether("┏━ 3 unschedulable 2")
		late.do(keymap.RowDown).sees("▸● oldest") // first, although it was rejected last
	})
}

// TestAllInFlightAreCounted: if the names of the pods in flight do not fit, the pane counts the
// rest.
func TestAllInFlightAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for width, sees := range map[int][]string{
			60:  {"─ 4 in-flight 3 ─", "● checkou", " and 2 more ─"},
			80:  {"─ 4 in-flight 3 ─", "● checkou", "● checkou", "● third "},
			200: {"─ 4 in-flight 3 ─", "● checkout-7d9f8c6b5-x2k1p attempt 1", "● checkout-7d9f8c6b5-zzzzz attempt 1", "● third attempt 1"},
		} {
			sit(t, width, 24, paused(t, queueing), Options{}).goTo("10:36:05").seesTogether(sees...)
		}
	})
}
