package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
)

// What there is to say of pods that are queued with their pod group.

// explainMember says where p is with its group, if that is not what it would be alone.
func (m *Moment) explainMember(p *board.Pod) ([]string, bool) {
	switch p.Tier {
	case queue.Incomplete:
		return []string{fmt.Sprintf("Waits for the PodGroup %s, which was not observed: without it no pod of the group is queued.", p.Group)}, true
	case queue.Pending:
		return []string{fmt.Sprintf("Its pod group %s is being scheduled: it is queued with it again when that attempt is over.", p.Group)}, true
	case queue.Backoff:
		mates := m.Board.GroupSize(p)
		longest := fmt.Sprintf("%s × √%d = %s", words.Short(m.Options.PodMaxBackoff), mates,
			words.Short(time.Duration(float64(m.Options.PodMaxBackoff)*math.Sqrt(float64(mates))).Round(time.Millisecond)))
		return []string{
			fmt.Sprintf("Backs off with its pod group %s, doubled with each of the group's failures, at most %s. Expiry %s.", p.Group, longest, m.Zone.Clock(p.BackoffExpiry)),
			fmt.Sprintf("Leaves for activeQ at the %s flush; never earlier, because groups back off as after an error.%s", m.Zone.Clock(m.backoffTick(p)), m.overdue(m.backoffTick(p))),
		}, true
	}
	return nil, false
}

// whyMember says why the pod of a group moved, if it was the group's doing.
func whyMember(t *board.Transition) []string {
	group := t.Pod.Group
	switch {
	case group == "":
		return nil
	case t.To == queue.Incomplete:
		return []string{fmt.Sprintf("There is no PodGroup %s: the pod waits until it is observed.", group)}
	case t.From == queue.Incomplete:
		return []string{fmt.Sprintf("The PodGroup %s was observed, and its pods are queued as one.", group)}
	case t.From == queue.Pending && t.Event == queue.ScheduleAttemptFailure:
		return []string{fmt.Sprintf("The attempt of its pod group %s ended, and the pods that are left wait together.", group)}
	case t.To == queue.Pending && t.From == queue.None:
		return []string{fmt.Sprintf("It came while its pod group %s was being scheduled, and waits for the end of that attempt.", group)}
	}
	return nil
}
