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
		s.driver.ticks = flush.NewTicks(s.driver.queue.Options(), began)
	}
	s.emit(sources.Event{Time: now, Fact: &Attached{&sources.Attached{Began: began}}})
	budget := maxJudged / (1 + s.objects.Count("Node"))
	s.oracle.channels.Attach(now, s.limited)
	before, last := s.triedBefore.ByPod()
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
			s.handOnMoves(now, nil)
			continue
		}
		s.backOffUntilSeen(now, &made)
		if s.driver.takesFrom(made.Tier) && !made.InCrowd && s.oracle.untried(now, pod) {
			made.Tier = queue.Unschedulable // the loop would have taken it at once
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
	s.triedBefore = earlierAttempts{}
	return nil
}

// backOffUntilSeen has the backoff of an estimate end no sooner than the next attempt of its pod that is seen, if it can:
// what is known of the last one may be old, since not each makes an Event. Where a log tells of all and none is near, it
// ends as late as it can. A loop that has nothing else to do takes a pod out of its backoff, and tells nothing of its end.
func (s *shadow) backOffUntilSeen(now time.Time, made *Estimate) {
	opts := s.driver.queue.Options()
	seen := s.oracle.future.Attempt(made.Pod.UID, now, opts.PodMaxBackoff)
	stir := func() time.Time { return s.oracle.future.NextWake(now, opts.PodMaxBackoff) }
	switch {
	case opts.PopFromBackoffQ && !s.limited:
		made.BackOffLikely(now, stir(), opts)
	case seen != nil && opts.PopFromBackoffQ:
		made.TriedInCrowd(now, seen.EndedBy, stir(), s.driver.ticks, opts)
	case seen != nil:
		made.BackOffUntil(now, seen.EndedBy.Add(-channels.AttemptSlack), opts)
	case s.logged:
		made.BackOffUntil(now, now.Add(opts.PodMaxBackoff), opts)
	default:
		made.BackOffLikely(now, stir(), opts)
	}
}
