package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

// workers has three pods of one owner, of which one is bound at once, one woken and bound, and one
// kept in backoffQ meanwhile, and a pod without an owner.
const workers = `
1.0  worker-1 active UnscheduledPodAdd
1.1  worker-1 inflight
1.2  worker-1 scheduled node-1
2.0  worker-3 active UnscheduledPodAdd
2.0  worker-4 active UnscheduledPodAdd
2.1  worker-3 inflight
2.2  worker-3 unschedulable ScheduleAttemptFailure NodeResourcesFit
2.8  worker-4 inflight
2.9  worker-4 unschedulable ScheduleAttemptFailure NodeResourcesFit
2.9  alone active UnscheduledPodAdd
3.5  worker-3 active NodeAdd
3.5  worker-4 backoff NodeAdd
3.6  worker-3 inflight
3.7  worker-3 scheduled node-2
4.5  worker-4 active BackoffComplete
4.6  worker-4 inflight
4.7  worker-4 unschedulable ScheduleAttemptFailure NodeResourcesFit
20.0 mark end
`

// TestSiblings: a pending pod is compared with each of its siblings in turn, and the comparison
// follows the time.
func TestSiblings(t *testing.T) {
	plugins := inTree(t)
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 200, 40, session.New(tell(t, workers), timeline.Options{Paused: true, Plugins: plugins}), Options{})
		p.do(keymap.Siblings).sees("can't: no pod is selected")
		p.goTo("10:36:03.8").do(keymap.GoToPod).enter("worker-4").do(keymap.Siblings)
		p.sees("Sibling 1 of 2 of pods worker-*, 2 bound.", "parted here",
			"Both failed attempt 1 at 10:36:02, rejected by NodeResourcesFit.",
			"worker-4 was moved to backoffQ by NodeAdd at 10:36:03 and is in backoffQ until 10:36:0",
			"worker-3 was woken by NodeAdd at 10:36:03", "and was bound to node-2 at 10:36:03.")
		golden(t, "siblings/parted", p.screen())
		p.do(keymap.SecondOn).sees("was in backoffQ until 10:36:04", "failed attempt 2 at 10:36:04")

		p.do(keymap.Open).sees("Sibling 2 of 2", "worker-1 was bound to node-1 at 10:36:01")
		p.do(keymap.Open).sees("Sibling 1 of 2", "worker-3 was woken")
		p.goTo("10:36:01.5").sees("This pod is not known at the time shown.")
		p.goTo("10:36:02.95").sees("They have not parted so far.").seesNot("parted here")
		p.do(keymap.Siblings).seesNot("Sibling 1 of")

		p.do(keymap.GoToPod).enter("alone").do(keymap.Siblings).sees("This pod has no owner")
		p.do(keymap.Open).sees("can't: there is no other sibling").do(keymap.Back).seesNot("no owner")
	})
}
