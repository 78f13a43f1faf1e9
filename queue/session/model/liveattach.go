package model

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/follow"
	"github.com/schedq/schedq/queue/session/estimate"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/sources"
)

// maxJudged is how many nodes are looked at to guess where pods are: about a second's work.
const maxJudged = 500_000

// attach begins with a scheduler that has been at work since began, over the objects there are, and puts each pod
// where it is likely to be. A zero began is not known. It fails if no scheduler can be set up.
func (s *shadow) attach(now, began time.Time) error {
	pods, err := s.load(now)
	if err != nil {
		return err
	}
	if !began.IsZero() {
		s.driver.ticks = flush.NewTicks(s.cfg.Queue, began)
	}
	s.oracle.channels.attached = now
	if s.limited {
		s.oracle.channels.limiter.ReserveN(now, s.oracle.channels.limiter.Burst())
		s.oracle.channels.limited = now
	}
	budget := maxJudged / (1 + s.objects.Count("Node"))
	g := estimate.Estimator{Opts: s.cfg.Queue, Tried: s.triedBefore, Judge: func(pod *v1.Pod) (cycle.Verdict, bool) {
		if budget--; budget < 0 {
			return cycle.Verdict{}, false
		}
		v, err := s.driver.Scheduler.Judge(pod)
		s.reasons.Note(v.Reasons)
		return v, err == nil
	}}
	for uid, t := range s.triedBefore {
		if t.Version != "" {
			s.oracle.channels.recorded(uid, t.Recorded)
		}
	}
	for pod := range pods {
		made, ok := g.Estimate(now, pod)
		if !ok || len(pod.Spec.SchedulingGates) > 0 {
			s.driver.queue.Add(now, pod)
			s.handOnMoves(now, nil)
			continue
		}
		s.backOffUntilSeen(now, &made)
		if s.driver.takesFrom(made.Tier) && s.oracle.untried(now, pod) {
			made.Tier = queue.Unschedulable // the loop would have taken it at once
		}
		follow.Restore(s.driver.queue, now, made.PodInfo)
		s.unsettled.moves = s.unsettled.moves[:0]
		s.oracle.lastAttempts[pod.UID] = lastAttempt{at: made.Timestamp, seen: true}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		s.shownUIDs[key] = pod.UID
		s.emit(sources.Event{Time: now, Fact: &Move{Estimate: &made, Move: &sources.Move{
			Pod: key, To: sources.Tier(made.Tier.String()), Message: made.Message,
		}}})
	}
	s.triedBefore = nil
	return nil
}

// backOffUntilSeen has the backoff of an estimate end no sooner than the next attempt of its pod that is seen, if it can:
// what is known of the last one may be old, since not each makes an Event. Where a log tells of all and none is near, it
// ends as late as it can. A loop that has nothing else to do takes a pod out of its backoff, and tells nothing of its end.
func (s *shadow) backOffUntilSeen(now time.Time, made *estimate.Estimate) {
	if s.cfg.Queue.PopFromBackoffQ && !s.limited {
		return
	}
	ends, attempts := now.Add(s.cfg.Queue.PodMaxBackoff), made.Attempts
	if seen := s.oracle.future.Attempt(made.Pod.UID, now, s.cfg.Queue.PodMaxBackoff); seen != nil {
		ends = seen.By.Add(-attemptSlack)
	} else if !s.logged {
		return
	}
	backoff := s.cfg.Queue.Backoff(attempts)
	for ; ends.Sub(now) > backoff && backoff < s.cfg.Queue.PodMaxBackoff; backoff = s.cfg.Queue.Backoff(attempts) {
		attempts++
	}
	failed := ends.Add(-backoff)
	if !failed.After(made.Timestamp) || failed.After(now) || !ends.After(now) {
		return
	}
	made.Timestamp, made.Attempts = failed, attempts
	if made.UnschedulableCount > 0 {
		made.UnschedulableCount = attempts
	} else {
		made.ConsecutiveErrorsCount = attempts
	}
	if made.Tier == queue.Active {
		made.Tier = queue.Backoff
	}
}
