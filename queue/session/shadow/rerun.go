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

// Rerun returns rec without what its scheduler did: a session that plays it lets a local scheduler decide
// over the same cluster, and nothing corrects that. The recording's own bindings and preemptions are left
// out; pods, nodes and all else come, change and go when they did. What its controllers did in answer to
// its scheduler stays: the pod that replaced a victim, say. release is named in the recording's name.
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

// rerun lets a local scheduler decide over a recording's objects. What that writes becomes so in them. Of the recording's
// changes of a pod it leaves out what the recorded scheduler did: see withoutScheduling.
type rerun struct {
	local
	version int64
	victims map[types.UID]bool // of the recording's preemptions
	evicted map[types.UID]bool // by this scheduler, while the recording still has them

	triggers     []*sources.Triggered // that wait for a move
	triggerMoves []int                // of each trigger, how many of the moves that it waits for there were
	setOffFacts  []sources.Event      // what was set off and is yet to happen, in the order of time
}

func newRerun(cfg *schedulerconfig.Config, emit func(sources.Event)) *rerun {
	return &rerun{local: newLocal(cfg, emit), victims: map[types.UID]bool{}, evicted: map[types.UID]bool{}}
}

// start begins, or begins anew, with a scheduler that knows the objects there are.
func (r *rerun) start(now time.Time) error {
	pods, err := r.load(now, r.handOnMoves)
	if err != nil {
		return err
	}
	r.driver.Cluster = r
	for pod := range pods {
		r.driver.queue.Add(now, pod)
	}
	r.handOnMoves(now, nil)
	return nil
}

// apply lets time pass up to ev, and takes it in. It fails if no scheduler can be set up.
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

// setOff counts t for the triggers that wait for such a move, and plans what they set off.
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

// carryOutNext lets time pass to the first of what was set off, and carries it out.
func (r *rerun) carryOutNext() {
	ev := r.setOffFacts[0]
	r.setOffFacts = r.setOffFacts[1:]
	r.driver.Advance(ev.Time)
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		if f.Verb == sources.Deleted {
			there := r.objects.Get(f.Object)
			if there == nil {
				return // others were before
			}
			f = &sources.ObjectChange{Verb: f.Verb, Object: there} // whoever has the name by then
		}
		if c := r.withoutScheduling(f); c != nil {
			r.changed(ev.Time, c)
		}
	case *sources.Injected:
		r.inject(ev.Time, f)
	}
}

// Settling is how much of a quiet time a rerun plays at its beginning: what came last is tried, bound and heard of.
const Settling = time.Hour

// advance lets the scheduler run and hear up to and at to.
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
			r.carryOutNext()
			continue
		}
		if len(r.deliveries) > 0 && !r.deliveries[0].At.After(due) {
			if r.deliveries[0].At.After(to) {
				break
			}
			h := r.deliveries[0]
			r.deliveries = r.deliveries[1:]
			r.driver.Advance(h.At)
			r.hearChange(h.At, h.Change)
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

// withoutScheduling returns c without what the recorded scheduler did to the pod, such as its node and its condition,
// or nil if nothing else is left.
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
			return nil // unless the model's scheduler preempts it too, it lives on
		}
		return c
	}
	return &sources.ObjectChange{Verb: c.Verb, Object: cluster.WithoutScheduling(pod, have, r.victims[pod.UID])}
}

// changed takes in a change of an object, by the recording or by the scheduler.
func (r *rerun) changed(now time.Time, c *sources.ObjectChange) {
	if c.Verb != sources.Deleted {
		// Versions of its own, since the scheduler writes between the recording's.
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
		r.handOnMoves(now, nil) // its binding finds no pod
	}
	r.deliveries.Add(now, watchDelay, c)
}

// hearChange lets the scheduler hear of c at now.
func (r *rerun) hearChange(now time.Time, c *sources.ObjectChange) {
	r.deliver(now, c)
	r.driver.delayLoop(now, time.Duration(len(r.unsettled.moves))*moveTime)
	r.handOnMoves(now, nil)
}

var errPodGone = errors.New("the pod was deleted")

// handOnMoves emits the moves that the queue told as events. a is the attempt whose end caused them, or nil.
func (r *rerun) handOnMoves(now time.Time, a *cycle.Attempt) {
	for _, t := range r.unsettled.moves {
		m := r.move(now, t, a)
		if a != nil && a.Pod.UID == t.Pod.UID && t.To == queue.Scheduled {
			m.Node = a.Node
		}
		r.emit(sources.Event{Time: t.Time, Fact: m})
		r.setOff(t)
	}
	r.unsettled.moves = r.unsettled.moves[:0]
}

// ApplyWrite implements writeTarget. As the API server, it refuses writes of a pod that is gone.
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

// inject has the queue do what a person had it do.
func (r *rerun) inject(now time.Time, f *sources.Injected) {
	if r.driver == nil {
		return
	}
	if f.What == "" {
		r.driver.queue.Activate(now, r.podQueued(f))
	} else if do := cluster.Injection(f.What); do != nil {
		do(r.driver.queue, now)
	}
	r.handOnMoves(now, nil)
}

// podQueued is the pod that f activates, as the queue has it.
func (r *rerun) podQueued(f *sources.Injected) *v1.Pod {
	if info, ok := r.driver.queue.Get(f.Pod.Namespace, f.Pod.Name); ok {
		return info.Pod
	}
	return cluster.Placeholder(f.Pod)
}
