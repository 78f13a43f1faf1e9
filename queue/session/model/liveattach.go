package model

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// What is made of the pods that were there before a source came to a scheduler at work: an estimate, until
// an attempt replaces it.

// Estimate is where a pod is thought to be, as queue.Restore takes it.
type Estimate struct {
	queue.PodInfo
	Message sources.SafeText
}

// Estimator works out where a pod is likely to be from what the cluster shows of it: its condition, which keeps the
// time of the first failure and the last message that differed from the one before, and the scheduler's Events about
// it, which count attempts in part.
type Estimator struct {
	Opts  queue.Options
	Tried map[types.UID]*sources.Tried
	// judge says what an attempt of the pod would come to now. Nil if nobody can tell.
	judge func(*v1.Pod) (cycle.Verdict, bool)
}

// Estimate returns where pod is likely to be at now, and false if nothing shows that it was ever tried: then it is
// new.
func (g *Estimator) Estimate(now time.Time, pod *v1.Pod) (Estimate, bool) {
	c, t := cluster.Unscheduled(pod), g.Tried[pod.UID]
	if c == nil && t == nil {
		return Estimate{}, false
	}
	made := Estimate{PodInfo: queue.PodInfo{Pod: pod, Attempts: 1, InitialAttemptTimestamp: pod.CreationTimestamp.Time}}
	if c != nil {
		made.Timestamp, made.Message = c.LastTransitionTime.Time, sources.Sanitize(c.Message)
	}
	if t != nil {
		made.Attempts = max(1, t.Attempts)
		if t.Failed.After(made.Timestamp) {
			made.Timestamp, made.Message = t.Failed, t.Message
		}
	}
	if made.Timestamp.After(now) || made.Timestamp.IsZero() {
		made.Timestamp = now
	}
	fits, all := false, false
	made.UnschedulablePlugins, all = verdict.PluginsOf(string(made.Message))
	if v, ok := g.verdict(pod); ok {
		fits = v.Node != ""
		if !all && len(v.Plugins) > 0 {
			made.UnschedulablePlugins = v.Plugins
		}
	}
	if len(made.UnschedulablePlugins) == 0 {
		made.ConsecutiveErrorsCount = made.Attempts
	} else {
		made.UnschedulableCount = made.Attempts
	}
	made.Tier = queue.Unschedulable
	if fits || made.ConsecutiveErrorsCount > 0 { // something woke it, or will have
		made.Tier = queue.Active
		if now.Before(made.Timestamp.Add(g.Opts.Backoff(made.Attempts))) {
			made.Tier = queue.Backoff
		}
	}
	return made, true
}

func (g *Estimator) verdict(pod *v1.Pod) (cycle.Verdict, bool) {
	if g.judge == nil {
		return cycle.Verdict{}, false
	}
	return g.judge(pod)
}

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
		s.driver.ticks = NewTicks(s.cfg.Queue, began)
	}
	if s.limited {
		s.oracle.channels.limiter.ReserveN(now, s.oracle.channels.limiter.Burst())
		s.oracle.channels.limited = now
	}
	budget := maxJudged / (1 + s.objects.Count("Node"))
	g := Estimator{Opts: s.cfg.Queue, Tried: s.triedBefore, judge: func(pod *v1.Pod) (cycle.Verdict, bool) {
		if budget--; budget < 0 {
			return cycle.Verdict{}, false
		}
		v, err := s.driver.Scheduler.Judge(pod)
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
		s.driver.queue.Restore(now, made.PodInfo)
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
func (s *shadow) backOffUntilSeen(now time.Time, made *Estimate) {
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
