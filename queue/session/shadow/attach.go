package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/verdict"
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
		s.driver.ticks = queue.NewTicks(s.driver.queue.Options(), began)
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
		if s.driver.takesFrom(made.Tier) && !made.InCrowd && s.oracle.leftAlone(now, pod) {
			made.Tier = queue.Unschedulable // otherwise the loop would have taken it at once
		}
		s.driver.queue.Restore(now, made.PodInfo)
		s.pending.moves = s.pending.moves[:0]
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
		made.BackOffUntil(now, seen.EndedBy.Add(-evidence.AttemptSlack), opts)
	case s.logged:
		made.BackOffUntil(now, now.Add(opts.PodMaxBackoff), opts)
	default:
		made.BackOffLikely(now, nextWake(), opts)
	}
}

// earlierAttempts collects what is known of attempts made before a source attached to the
// scheduler. The zero value is empty.
type earlierAttempts struct {
	tried  []*sources.Tried
	failed []sources.Event
}

// Tried adds the source's summary of a pod's earlier attempts.
func (a *earlierAttempts) Tried(t *sources.Tried) { a.tried = append(a.tried, t) }

// Failed adds an earlier attempt that is reported late: the scheduler sends Events through a
// separate client, whose rate limit delays them by seconds when many attempts fail.
func (a *earlierAttempts) Failed(ev sources.Event) { a.failed = append(a.failed, ev) }

// ByPod returns the earlier attempts by pod. last contains the pods whose last attempt with an
// Event is known. Events are written in the order in which the attempts failed (k8s.io/client-go
// v0.37, tools/events/event_broadcaster.go), so all Events behind a late one are late, too.
func (a *earlierAttempts) ByPod() (tried map[types.UID]*sources.Tried, last map[types.UID]bool) {
	tried, last = map[types.UID]*sources.Tried{}, map[types.UID]bool{}
	for _, t := range a.tried {
		tried[t.UID] = t
	}
	for _, ev := range a.failed {
		f := ev.Fact.(*sources.FailedAttempt)
		sum := sources.Tried{Pod: f.Pod, UID: f.UID, First: ev.Time}
		if t := tried[f.UID]; t != nil {
			if sum = *t; !ev.Time.After(t.Failed) {
				continue
			}
		}
		sum.Attempts, sum.Failed, sum.Message = sum.Attempts+1, ev.Time, f.Message
		if f.Version != "" {
			sum.Recorded = f.Recorded
		}
		tried[f.UID], last[f.UID] = &sum, f.Version != ""
	}
	return tried, last
}

// Estimate is the probable queue state of a pod, in the form that Queue.Restore accepts.
type Estimate struct {
	queue.PodInfo
	Message sources.SafeText
	// InCrowd is true if the pod was waiting for its next attempt among more pods than the loop has
	// time for.
	InCrowd bool
	// failedLast is true if no attempt followed the last known one, failedFirst if none preceded
	// the first known one.
	failedLast, failedFirst bool
}

// Estimator estimates the queue state of pods from the cluster: from a pod's condition, which
// contains the time of the first failure and the last message that differed from the one before,
// and from the scheduler's Events about the pod, which count some of the attempts.
type Estimator struct {
	Opts queue.Options
	// Release is the scheduler's release, such as "v1.31". Empty means the newest.
	Release string
	Tried   map[types.UID]*sources.Tried
	// Last contains the pods whose last attempt with an Event is in Tried. See
	// earlierAttempts.ByPod.
	Last map[types.UID]bool
	// Judge predicts the outcome of an attempt of the pod now. Nil means that no prediction is
	// available.
	Judge func(*v1.Pod) (cycle.Verdict, bool)
}

// Estimate returns the probable state of pod at now. It returns false if nothing shows that the pod
// was ever tried: then it is new.
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
			// A pod's third attempt at the same resourceVersion makes no Event, and neither do
			// later ones.
			made.failedLast = g.Last[pod.UID] && (t.Count < 2 || t.Version != pod.ResourceVersion)
			// The condition keeps the time of the first failure, in whole seconds.
			made.failedFirst = c != nil && !t.First.Truncate(time.Second).After(c.LastTransitionTime.Time)
		}
	}
	if made.Timestamp.After(now) || made.Timestamp.IsZero() {
		made.Timestamp = now
	}
	fits := false
	made.UnschedulablePlugins = verdict.PluginsOf(string(made.Message), g.Release)
	if v, ok := g.verdict(pod); ok {
		fits = v.Node != ""
		if (len(made.UnschedulablePlugins) == 0 || verdict.Incomplete(made.UnschedulablePlugins)) && len(v.Plugins) > 0 {
			made.UnschedulablePlugins = v.Plugins
		}
	}
	if len(made.UnschedulablePlugins) == 0 {
		made.ConsecutiveErrorsCount = made.Attempts
	} else {
		made.UnschedulableCount = made.Attempts
	}
	made.Tier = queue.Unschedulable
	if fits || made.ConsecutiveErrorsCount > 0 { // an event has woken it or is about to
		made.Tier = queue.Active
		if now.Before(made.Timestamp.Add(g.Opts.Backoff(made.Attempts))) {
			made.Tier = queue.Backoff
		}
	}
	return made, true
}

func (g *Estimator) verdict(pod *v1.Pod) (cycle.Verdict, bool) {
	if g.Judge == nil {
		return cycle.Verdict{}, false
	}
	return g.Judge(pod)
}

// BackOffUntil sets the end of the pod's backoff to ends, with as few attempts as possible. It does
// nothing if ends is not in the future, or if e contains a later failure than the one that would
// precede that backoff.
func (e *Estimate) BackOffUntil(now, ends time.Time, opts queue.Options) {
	if ends.After(now) && e.endBackoff(now, ends, opts) && e.Tier == queue.Active {
		e.Tier = queue.Backoff
	}
}

// BackOffLikely sets the end of the pod's backoff to its most likely time, half a backoff from now,
// unless the last known attempt puts it later. That attempt may be outdated, since not every
// attempt leaves a trace, and a pod that events keep waking is tried as often as its backoff
// allows. The next event that may wake pods is at nextWake; the previous one was probably as long
// before now.
func (e *Estimate) BackOffLikely(now, nextWake time.Time, opts queue.Options) {
	if e.failedLast || e.Attempts < 2 || now.Sub(e.InitialAttemptTimestamp)/time.Duration(e.Attempts) > opts.PodMaxBackoff {
		return // the last attempt is known, or the pod is not tried that often
	}
	if likely := now.Add(opts.Backoff(e.Attempts) / 2); likely.After(e.Timestamp.Add(opts.Backoff(e.Attempts))) {
		e.BackoffExpiry = likely
	}
	// The loop does not take pods from backoffQ early.
	isWoken := !opts.PopFromBackoffQ && now.Sub(e.Timestamp) > nextWake.Sub(now)
	if e.Tier == queue.Active || e.Tier == queue.Unschedulable && isWoken {
		e.Tier = queue.Backoff
	}
}

// endBackoff is like BackOffUntil, but accepts any time and does not change the tier. It reports
// whether it changed e.
func (e *Estimate) endBackoff(now, ends time.Time, opts queue.Options) bool {
	if e.failedLast {
		return !e.failedFirst && e.makeAttempts(e.mostAttempts(ends, opts))
	}
	attempts, backoff := e.Attempts, opts.Backoff(e.Attempts)
	for ; ends.Sub(now) > backoff && backoff < opts.PodMaxBackoff; backoff = opts.Backoff(attempts) {
		attempts++
	}
	failed := ends.Add(-backoff)
	if !failed.After(e.Timestamp) || failed.After(now) {
		return false
	}
	e.Timestamp = failed
	e.makeAttempts(attempts)
	return true
}

// mostAttempts returns the largest number of attempts, ending with the last known one, after which
// the backoff is over by ends.
func (e *Estimate) mostAttempts(ends time.Time, opts queue.Options) int {
	attempts := e.Attempts
	for opts.Backoff(attempts) < opts.PodMaxBackoff && !e.Timestamp.Add(opts.Backoff(attempts+1)).After(ends) {
		attempts++
	}
	return attempts
}

// makeAttempts sets the number of failed attempts and reports whether it changed.
func (e *Estimate) makeAttempts(attempts int) bool {
	had := e.Attempts
	if e.Attempts = attempts; e.UnschedulableCount > 0 {
		e.UnschedulableCount = attempts
	} else {
		e.ConsecutiveErrorsCount = attempts
	}
	return attempts != had
}

// TriedInCrowd adjusts e for a pod whose next attempt is at tried and that is one of more pods than
// the loop has time for. Such a loop finds only those pods in activeQ that a flush has put there:
// the last flush before the attempt, if the loop finishes each batch before the next flush. So the
// backoff ended in the second before that flush. It ended as long before the flush as the attempt
// was before the next one, since pods are taken in the order in which they failed.
//
// The next event that may wake pods is at nextWake. The previous one was probably as long before
// now, so a pod that failed before that has been woken.
func (e *Estimate) TriedInCrowd(now, tried, nextWake time.Time, ticks queue.Ticks, opts queue.Options) {
	e.InCrowd = true
	e.endBackoff(now, tried.Add(-queue.BackoffFlushInterval), opts)
	if e.Tier == queue.Unschedulable && now.Sub(e.Timestamp) <= nextWake.Sub(now) {
		return
	}
	e.Tier = queue.Active
	if ends := e.Timestamp.Add(opts.Backoff(e.Attempts)); queue.TickAfter(ticks.Backoff, queue.BackoffFlushInterval, ends).After(now) {
		e.Tier = queue.Backoff
	}
}
