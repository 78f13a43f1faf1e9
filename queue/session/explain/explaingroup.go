package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
)

// Explanations of pods that are queued with their pod group.

// explainMember says where p is with its group, and false if the group makes no difference.
func (m *Moment) explainMember(p *board.Pod) ([]string, bool) {
	switch p.Tier {
	case queue.Incomplete:
		return []string{fmt.Sprintf("Waiting for the PodGroup %s, which has not been observed: its pods are not queued without it.", p.Group)}, true
	case queue.Pending:
		return []string{fmt.Sprintf("Its pod group %s is being scheduled: the pod is queued with it again when that attempt ends.", p.Group)}, true
	case queue.Backoff:
		mates := m.Board.GroupSize(p)
		tick, exact := m.backoffTick(p)
		longest := fmt.Sprintf("%s × √%d = %s", words.Short(m.Options.PodMaxBackoff), mates,
			words.Short(time.Duration(float64(m.Options.PodMaxBackoff)*math.Sqrt(float64(mates))).Round(time.Millisecond)))
		return []string{
			fmt.Sprintf("In backoff with its pod group %s until %s. The backoff doubles with each failure of the group, up to %s.", p.Group, m.Zone.Clock(p.BackoffExpiry), longest),
			fmt.Sprintf("Moves to activeQ %s the %s flush, not earlier, because groups back off as after an error.%s", atOrBy(exact), m.Zone.Clock(tick), m.overdue(tick)),
		}, true
	}
	return nil, false
}

// whyMember says why the pod of a group moved, if the group caused the move.
func whyMember(t *board.Transition) []string {
	group := t.Pod.Group
	switch {
	case group == "":
		return nil
	case t.To == queue.Incomplete:
		return []string{fmt.Sprintf("PodGroup %s does not exist: the pod waits until it is observed.", group)}
	case t.From == queue.Incomplete:
		return []string{fmt.Sprintf("PodGroup %s was observed: its pods are queued as one.", group)}
	case t.From == queue.Pending && t.Event == queue.ScheduleAttemptFailure:
		return []string{fmt.Sprintf("The attempt of its pod group %s ended: the remaining pods wait together.", group)}
	case t.To == queue.Pending && t.From == queue.None:
		return []string{fmt.Sprintf("It arrived while its pod group %s was being scheduled, and waits for that attempt to end.", group)}
	}
	return nil
}
