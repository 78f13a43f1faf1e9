package shadow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// Rerun returns rec without its scheduler's actions: a session that plays it lets a local scheduler
// decide over the same cluster, without corrections. The recording's own bindings and preemptions
// are removed; pods, nodes and other objects are created, changed and deleted at the recorded
// times. Reactions of controllers to the recorded scheduler stay, for example the pod that replaced
// a victim. The name of the result includes release.
func Rerun(rec *sources.Recording, release string) (*sources.Recording, error) {
	if rec.Rerun {
		return rec, nil
	}
	if !slices.ContainsFunc(rec.Events, cluster.IsPod) {
		return nil, fmt.Errorf("%s holds no pods' objects, over which another scheduler could decide: they are in an API server's audit log", rec.Name)
	}
	again := rec.Without(cluster.IsSchedulerAction)
	again.Rerun = true
	if release != "" {
		again.Name += sources.Sanitize(" under " + release)
	}
	again.Notices = append(slices.Clip(rec.Notices), "This is a rerun: a local scheduler decides in place of the recorded one, whose moves, bindings and preemptions are left out.")
	return again, nil
}

// rerun lets a local scheduler decide over a recording's objects and applies its writes to them. It
// removes the recorded scheduler's actions from the recorded pod changes: see withoutScheduling.
type rerun struct {
	local
	version int64
	victims map[types.UID]bool // victims of the recording's preemptions
	evicted map[types.UID]bool // evicted by this scheduler, but still in the recording

	triggers     []*sources.Triggered // triggers that wait for a move
	triggerMoves []int                // number of matching moves so far, by trigger
	setOffFacts  []sources.Event      // triggered facts that are still due, by time
}

func newRerun(cfg *schedulerconfig.Config, emit func(sources.Event)) *rerun {
	return &rerun{local: newLocal(cfg, emit), victims: map[types.UID]bool{}, evicted: map[types.UID]bool{}}
}

// start starts, or restarts, with a scheduler that knows the current objects.
func (r *rerun) start(now time.Time) error {
	pods, err := r.load(now, r.emitMoves)
	if err != nil {
		return err
	}
	r.driver.Cluster = r
	for pod := range pods {
		r.driver.queue.Add(now, pod)
	}
	r.emitMoves(now, nil)
	return nil
}

// apply advances model time to ev and applies it. It fails if no scheduler can be set up.
func (r *rerun) apply(ev sources.Event) error {
	r.advance(ev.Time)
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		r.emit(ev)
		return r.start(ev.Time)
	case *sources.ObjectChange:
		if c := r.withoutScheduling(f); c != nil {
			r.changed(ev.Time, c)
		}
		return nil
	case *sources.Injected:
		r.inject(ev.Time, f)
		return nil
	case *sources.Triggered:
		r.triggers, r.triggerMoves = append(r.triggers, f), append(r.triggerMoves, 0)
		return nil
	}
	r.emit(ev)
	return nil
}

// setOff counts t for the triggers that wait for such a move, and schedules the facts of triggers
// that fire.
func (r *rerun) setOff(t queue.Transition) {
	for i, g := range r.triggers {
		if g.Pod.Name != t.Pod.Name || g.Pod.Namespace != t.Pod.Namespace || string(g.Into) != t.To.String() || t.From == t.To {
			continue
		}
		if r.triggerMoves[i]++; r.triggerMoves[i] != g.Nth {
			continue
		}
		for _, f := range g.Facts {
			r.setOffFacts = append(r.setOffFacts, sources.Event{Time: t.Time.Add(g.After), Fact: f})
		}
		slices.SortStableFunc(r.setOffFacts, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	}
}

// applyTriggered advances model time to the first triggered fact and applies it.
func (r *rerun) applyTriggered() {
	ev := r.setOffFacts[0]
	r.setOffFacts = r.setOffFacts[1:]
	r.driver.Advance(ev.Time)
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		if f.Verb == sources.Deleted {
			there := r.objects.Get(f.Object)
			if there == nil {
				return // already deleted
			}
			f = &sources.ObjectChange{Verb: f.Verb, Object: there} // the object with that name now
		}
		if c := r.withoutScheduling(f); c != nil {
			r.changed(ev.Time, c)
		}
	case *sources.Injected:
		r.inject(ev.Time, f)
	}
}

// Settling is how much of a quiet time a rerun plays at its beginning, so that the latest changes
// are delivered, and pods tried and bound.
const Settling = time.Hour

// advance runs the scheduler and delivers changes to it, up to and including to.
func (r *rerun) advance(to time.Time) {
	if r.driver != nil {
		if quiet := to.Sub(r.driver.now) - LongestGap; quiet > 0 {
			r.advance(r.driver.now.Add(min(quiet, Settling)))
		}
	}
	for r.driver != nil && !r.driver.isStopped() {
		due := r.driver.Due()
		if len(r.setOffFacts) > 0 && !r.setOffFacts[0].Time.After(due) && !r.setOffFacts[0].Time.After(to) &&
			(len(r.deliveries) == 0 || !r.deliveries[0].At.Before(r.setOffFacts[0].Time)) {
			r.applyTriggered()
			continue
		}
		if len(r.deliveries) > 0 && !r.deliveries[0].At.After(due) {
			if r.deliveries[0].At.After(to) {
				break
			}
			h := r.deliveries[0]
			r.deliveries = r.deliveries[1:]
			r.driver.Advance(h.At)
			r.deliverChange(h.At, h.Change)
			continue
		}
		if due.After(to) || to.Sub(due) > LongestGap {
			break
		}
		r.driver.Advance(due)
	}
	if r.driver != nil {
		r.driver.Advance(to)
	}
}

// withoutScheduling returns c without what the recorded scheduler did to the pod, such as setting
// its node and its condition. It returns nil if nothing else is left.
func (r *rerun) withoutScheduling(c *sources.ObjectChange) *sources.ObjectChange {
	pod, ok := c.Object.(*v1.Pod)
	if ok && r.evicted[pod.UID] {
		if c.Verb == sources.Deleted {
			delete(r.evicted, pod.UID)
		}
		return nil
	}
	if !ok || r.driver == nil || !r.driver.Scheduler.Responsible(pod) {
		return c
	}
	have, _ := r.objects.Get(pod).(*v1.Pod)
	if have == nil || have.UID != pod.UID {
		return c
	}
	if cluster.Preempted(pod) {
		r.victims[pod.UID] = true
	}
	if c.Verb == sources.Deleted {
		if r.victims[pod.UID] {
			return nil // it survives unless the model's scheduler preempts it, too
		}
		return c
	}
	return &sources.ObjectChange{Verb: c.Verb, Object: cluster.WithoutScheduling(pod, have, r.victims[pod.UID])}
}

// changed applies the change of an object by the recording or by the scheduler.
func (r *rerun) changed(now time.Time, c *sources.ObjectChange) {
	if c.Verb != sources.Deleted {
		// Assign new versions, since the scheduler's writes fall between the recording's.
		r.version++
		obj := c.Object.DeepCopyObject()
		obj.(metav1.Object).SetResourceVersion(strconv.FormatInt(r.version, 10))
		c = &sources.ObjectChange{Verb: c.Verb, Object: obj}
	}
	r.objects.Apply(c)
	r.emit(sources.Event{Time: now, Fact: c})
	if r.driver == nil {
		return
	}
	if pod, ok := c.Object.(*v1.Pod); ok && c.Verb == sources.Deleted && r.driver.Unbind(now, pod.UID, errPodGone) {
		r.emitMoves(now, nil) // its binding fails because the pod is gone
	}
	r.deliveries.Add(now, watchDelay, c)
}

// deliverChange delivers c to the scheduler at now.
func (r *rerun) deliverChange(now time.Time, c *sources.ObjectChange) {
	r.deliver(now, c)
	r.driver.delayLoop(now, time.Duration(len(r.pending.moves))*moveTime)
	r.emitMoves(now, nil)
}

var errPodGone = errors.New("the pod was deleted")

// emitMoves emits the queue's pending moves as events. a is the attempt whose end caused them,
// or nil.
func (r *rerun) emitMoves(now time.Time, a *cycle.Attempt) {
	for _, t := range r.pending.moves {
		m := r.move(now, t, a)
		if a != nil && a.Pod.UID == t.Pod.UID && t.To == queue.Scheduled {
			m.Node = a.Node
		}
		r.emit(sources.Event{Time: t.Time, Fact: m})
		r.setOff(t)
	}
	r.pending.moves = r.pending.moves[:0]
}

// ApplyWrite implements writeTarget. Like the API server, it refuses writes to pods that no longer
// exist.
func (r *rerun) ApplyWrite(now time.Time, obj runtime.Object) {
	if !r.objects.LacksPod(obj) {
		r.changed(now, &sources.ObjectChange{Verb: sources.Updated, Object: obj})
	}
}

// RemoveVictim implements writeTarget.
func (r *rerun) RemoveVictim(now time.Time, victim *v1.Pod) {
	if !r.objects.LacksPod(victim) {
		r.evicted[victim.UID] = true
		r.changed(now, &sources.ObjectChange{Verb: sources.Deleted, Object: victim})
	}
}

// inject performs a manual action on the queue.
func (r *rerun) inject(now time.Time, f *sources.Injected) {
	if r.driver == nil {
		return
	}
	if f.What == "" {
		r.driver.queue.Activate(now, r.podQueued(f))
	} else if do := cluster.Injection(f.What); do != nil {
		do(r.driver.queue, now)
	}
	r.emitMoves(now, nil)
}

// podQueued returns the queue's version of the pod that f activates, or a placeholder.
func (r *rerun) podQueued(f *sources.Injected) *v1.Pod {
	if info, ok := r.driver.queue.Get(f.Pod.Namespace, f.Pod.Name); ok {
		return info.Pod
	}
	return cluster.Placeholder(f.Pod)
}
