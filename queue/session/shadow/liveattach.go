package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/sources"
)

// maxJudged limits how many nodes are evaluated to estimate where pods are: about a second of work.
const maxJudged = 500_000

// attach starts the model of a scheduler that has been running since began, over the current
// objects, and puts each pod in its most likely tier. A zero began means that the start is unknown.
// It fails if no scheduler can be set up.
func (s *shadow) attach(now, began time.Time) error {
	pods, err := s.load(now)
	if err != nil {
		return err
	}
	if !began.IsZero() {
		s.driver.ticks = flush.NewTicks(s.driver.queue.Options(), began)
	}
	s.emit(sources.Event{Time: now, Fact: &Attached{&sources.Attached{Began: began}}})
	budget := maxJudged / (1 + s.objects.Count("Node"))
	s.oracle.channels.Attach(now, s.limited)
	before, last := s.priorAttempts.ByPod()
	g := Estimator{Opts: s.driver.queue.Options(), Release: s.cfg.Release, Tried: before, Last: last, Judge: func(pod *v1.Pod) (cycle.Verdict, bool) {
		if budget--; budget < 0 {
			return cycle.Verdict{}, false
		}
		v, err := s.driver.Scheduler.Judge(pod)
		s.reasons.Learn(v.Reasons)
		return v, err == nil
	}}
	for uid, t := range before {
		if t.Version != "" {
			s.oracle.channels.SetRecorded(uid, t.Recorded)
		}
	}
	for pod := range pods {
		made, ok := g.Estimate(now, pod)
		if !ok || len(pod.Spec.SchedulingGates) > 0 {
			s.driver.queue.Add(now, pod)
			s.emitMoves(now, nil)
			continue
		}
		s.backOffUntilSeen(now, &made)
		if s.driver.takesFrom(made.Tier) && !made.InCrowd && s.oracle.untried(now, pod) {
			made.Tier = queue.Unschedulable // otherwise the loop would have taken it at once
		}
		s.driver.queue.Restore(now, made.PodInfo)
		s.unsettled.moves = s.unsettled.moves[:0]
		s.oracle.tried.Note(pod.UID, lastAttempt{At: made.Timestamp, Seen: true})
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		s.shown[key] = pod.UID
		s.emit(sources.Event{Time: now, Fact: &Move{Estimate: &made, Move: &sources.Move{
			Pod: key, To: sources.Tier(made.Tier.String()), Message: made.Message,
		}}})
	}
	s.priorAttempts = earlierAttempts{}
	return nil
}

// backOffUntilSeen moves the end of an estimated backoff to the pod's next observed attempt, if
// possible: the last known attempt may be outdated, since not every attempt makes an Event. If a
// log contains all attempts and none is near, the backoff ends as late as possible. An idle loop
// takes a pod out of its backoff early, so then the attempt does not show when the backoff ends.
func (s *shadow) backOffUntilSeen(now time.Time, made *Estimate) {
	opts := s.driver.queue.Options()
	seen := s.oracle.future.Attempt(made.Pod.UID, now, opts.PodMaxBackoff)
	nextWake := func() time.Time { return s.oracle.future.NextWake(now, opts.PodMaxBackoff) }
	switch {
	case opts.PopFromBackoffQ && !s.limited:
		made.BackOffLikely(now, nextWake(), opts)
	case seen != nil && opts.PopFromBackoffQ:
		made.TriedInCrowd(now, seen.EndedBy, nextWake(), s.driver.ticks, opts)
	case seen != nil:
		made.BackOffUntil(now, seen.EndedBy.Add(-channels.AttemptSlack), opts)
	case s.logged:
		made.BackOffUntil(now, now.Add(opts.PodMaxBackoff), opts)
	default:
		made.BackOffLikely(now, nextWake(), opts)
	}
}
