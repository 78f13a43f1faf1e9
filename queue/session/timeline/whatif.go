package timeline

import (
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// In a what-if, a local kube-scheduler can make the decisions instead of the user. It runs upstream's plugins in model time
// over the what-if's objects, and its writes change those objects.

// StartScheduler starts a local kube-scheduler at now: the spare one, or a new one.
func (e *Engine) StartScheduler(now time.Time, spare *Spare) error {
	cfg := e.Config
	sched, err := spare.takeScheduler(cfg, e.Objects)
	if err != nil {
		return err
	}
	sched.WatchAttempts(e.watch)
	e.Objects.Each("", func(obj runtime.Object) bool {
		if v, err := strconv.ParseInt(obj.(metav1.Object).GetResourceVersion(), 10, 64); err == nil {
			e.resourceVersion = max(e.resourceVersion, v)
		}
		return true
	})
	e.Queue = e.Queue.Clone(sched.Plugins(), e)
	if cfg.Queue.GenericWorkload {
		var groups []*schedulingv1beta1.PodGroup
		e.Objects.Each("PodGroup", func(obj runtime.Object) bool {
			groups = append(groups, obj.(*schedulingv1beta1.PodGroup))
			return true
		})
		e.Queue.Regroup(groups)
	}
	e.Driver = shadow.NewDriver(cfg, sched, e.Queue, e.Ticks, now, e.emitAttempt)
	e.Driver.Cluster = e
	var inFlight []*v1.Pod
	for info := range e.Queue.InFlight() {
		inFlight = append(inFlight, info.Pod)
	}
	for _, pod := range inFlight { // the outcome of these attempts is unknown, so the scheduler makes them again
		if e.Driver.AttemptOf(now, pod) != nil {
			e.Driver.Conclude(now)
		}
	}
	return nil
}

// StopScheduler stops the local scheduler, if one runs.
func (e *Engine) StopScheduler() {
	if e.Driver != nil {
		e.Driver.Scheduler.Close()
		e.Driver = nil
	}
}

// RecordAction records f as part of the action being performed, for a scenario of the what-if.
func (e *Engine) RecordAction(f sources.Fact) {
	if e.actions != nil {
		*e.actions = append(*e.actions, f)
	}
}

// PutObject adds obj to the cluster as the user's action, replacing the object with its name.
func (e *Engine) PutObject(now time.Time, obj runtime.Object) {
	e.RecordAction(&sources.ObjectChange{Verb: sources.Updated, Object: obj})
	e.putObject(now, obj)
}

// putObject adds obj to the cluster and to the local scheduler, if one runs.
func (e *Engine) putObject(now time.Time, obj runtime.Object) {
	e.resourceVersion++
	obj.(metav1.Object).SetResourceVersion(strconv.FormatInt(e.resourceVersion, 10))
	e.Objects.Put(obj)
	if e.Driver != nil {
		_ = e.Driver.Scheduler.Put(now, obj)
		e.Driver.CollectEvictions()
	}
	e.EmitMoves(now, nil)
	if pod, ok := obj.(*v1.Pod); ok {
		e.refreshPod(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod, nil)
	}
}

// RemoveObject removes obj from the cluster as the user's action.
func (e *Engine) RemoveObject(now time.Time, obj runtime.Object) {
	e.RecordAction(&sources.ObjectChange{Verb: sources.Deleted, Object: obj})
	e.removeObject(now, obj)
}

// removeObject removes obj from the cluster and from the local scheduler, if one runs.
func (e *Engine) removeObject(now time.Time, obj runtime.Object) {
	e.Objects.Remove(obj)
	if e.Driver != nil {
		_ = e.Driver.Scheduler.Remove(now, obj)
		if pod, ok := obj.(*v1.Pod); ok {
			e.Driver.Unbind(now, pod.UID, shadow.ErrNotSeen) // a binding in progress finds no pod
		}
		e.Driver.CollectEvictions()
	}
	e.EmitMoves(now, nil)
}

// ApplyWrite applies a write of the local scheduler to the cluster. It is called by the driver.
func (e *Engine) ApplyWrite(now time.Time, obj runtime.Object) {
	if !e.Objects.LacksPod(obj) {
		e.putObject(now, obj)
	}
}

// RemoveVictim removes a preempted pod that has terminated. It is called by the driver.
func (e *Engine) RemoveVictim(now time.Time, victim *v1.Pod) {
	if !e.Objects.LacksPod(victim) {
		e.removeObject(now, victim)
	}
}

// emitAttempt emits the queue's transitions. a is the attempt whose end caused them, or nil.
func (e *Engine) emitAttempt(now time.Time, a *cycle.Attempt) {
	e.EmitMoves(now, func(p *board.Pod) {
		switch {
		case a == nil || p.PodInfo.Pod.UID != a.Pod.UID:
		case a.Message != "":
			p.Verdict = verdict.New(e.Driver.AttemptBegan, now, a)
			p.Message = sources.Sanitize(a.Message)
		case p.Tier == queue.Scheduled:
			p.Node = a.Node
		}
	})
}

// Stages returns the progress of the pods in flight with the local scheduler, nil if none runs.
func (e *Engine) Stages() []board.Stage {
	d := e.Driver
	if d == nil {
		return nil
	}
	var stages []board.Stage
	name := func(pod *v1.Pod) types.NamespacedName {
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	if d.UnderWay != nil {
		stages = append(stages, board.Stage{Pod: name(d.UnderWay.Pod), Name: "schedule", Node: d.UnderWay.Node, Since: d.AttemptBegan, Until: d.LoopFree})
	}
	for _, b := range d.Bindings {
		stages = append(stages, board.Stage{Pod: name(b.Pod), Name: "bind", Node: b.Node, Since: b.Since, Until: b.Until})
	}
	return stages
}

// busy reports whether the local scheduler has work in progress, or will have without an event from outside.
func (e *Engine) busy() bool {
	d := e.Driver
	return d != nil && (e.Queue.PendingPods(queue.Active)+e.Queue.PendingPods(queue.Backoff)+e.Queue.PendingPods(queue.InFlight) > 0 ||
		d.AwaitedPatch != nil || d.UnderWay != nil || len(d.Bindings)+len(d.Evictions)+len(d.Dying) > 0)
}

// Injectable returns the function that injects name, one of queue.InjectableNames, or nil if there is none with that name.
func Injectable(name string) func(e *Engine, now time.Time) {
	do := cluster.Injection(name)
	if do == nil {
		return nil
	}
	return func(e *Engine, now time.Time) {
		e.RecordAction(&sources.Injected{What: name})
		do(e.Queue, now)
	}
}
