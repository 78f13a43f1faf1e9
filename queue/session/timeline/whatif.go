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
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// In a what-if a local kube-scheduler can take the person's place: its plugins decide, in model time, over
// the objects there are, and what it writes changes those.

// StartScheduler has a local kube-scheduler take the person's place at now: the spare one, or a new one. It fails if none
// can be set up.
func (e *Engine) StartScheduler(now time.Time, spare *Spare) error {
	cfg := e.Config
	sched, err := spare.takeScheduler(cfg, e.Objects)
	if err != nil {
		return err
	}
	e.Objects.Each("", func(obj runtime.Object) bool {
		if v, err := strconv.ParseInt(obj.(metav1.Object).GetResourceVersion(), 10, 64); err == nil {
			e.version = max(e.version, v)
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
	e.Driver = model.NewDriver(cfg, sched, e.Queue, e.Ticks, now, e.settleAttempt)
	e.Driver.Cluster = e
	var flying []*v1.Pod
	for info := range e.Queue.InFlight() {
		flying = append(flying, info.Pod)
	}
	for _, pod := range flying { // nobody knows what became of these attempts: it makes them anew
		if e.Driver.AttemptOf(now, pod) != nil {
			e.Driver.Conclude(now)
		}
	}
	return nil
}

// StopScheduler ends the local scheduler, if one runs: the person decides again.
func (e *Engine) StopScheduler() {
	if e.Driver != nil {
		e.Driver.Scheduler.Close()
		e.Driver = nil
	}
}

// Note remembers that f is what the person does, for a scenario of the what-if.
func (e *Engine) Note(f sources.Fact) {
	if e.noted != nil {
		*e.noted = append(*e.noted, f)
	}
}

// PutObject has the cluster hold obj from now on by the person's hand, in place of what had its name, and tells the local
// scheduler, if one runs.
func (e *Engine) PutObject(now time.Time, obj runtime.Object) {
	e.Note(&sources.ObjectChange{Verb: sources.Updated, Object: obj})
	e.putObject(now, obj)
}

func (e *Engine) putObject(now time.Time, obj runtime.Object) {
	e.version++
	obj.(metav1.Object).SetResourceVersion(strconv.FormatInt(e.version, 10))
	e.Objects.Put(obj)
	if e.Driver != nil {
		_ = e.Driver.Scheduler.Put(now, obj)
		e.Driver.CollectEvictions()
	}
	e.Settle(now, nil)
	if pod, ok := obj.(*v1.Pod); ok {
		e.refreshPod(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod)
	}
}

// RemoveObject has obj gone from the cluster by the person's hand, and tells the local scheduler, if one runs.
func (e *Engine) RemoveObject(now time.Time, obj runtime.Object) {
	e.Note(&sources.ObjectChange{Verb: sources.Deleted, Object: obj})
	e.removeObject(now, obj)
}

func (e *Engine) removeObject(now time.Time, obj runtime.Object) {
	e.Objects.Remove(obj)
	if e.Driver != nil {
		_ = e.Driver.Scheduler.Remove(now, obj)
		if pod, ok := obj.(*v1.Pod); ok {
			e.Driver.Unbind(now, pod.UID, model.ErrNotSeen) // its binding finds no pod
		}
		e.Driver.CollectEvictions()
	}
	e.Settle(now, nil)
}

// Stages returns how far the pods in flight have come with the local scheduler. It is nil if none runs.
func (e *Engine) Stages() []model.Stage {
	d := e.Driver
	if d == nil {
		return nil
	}
	var stages []model.Stage
	name := func(pod *v1.Pod) types.NamespacedName {
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	if d.UnderWay != nil {
		stages = append(stages, model.Stage{Pod: name(d.UnderWay.Pod), Name: "schedule", Node: d.UnderWay.Node, Since: d.AttemptBegan, Until: d.LoopFree})
	}
	for _, b := range d.Bindings {
		stages = append(stages, model.Stage{Pod: name(b.Pod), Name: "bind", Node: b.Node, Since: b.Since, Until: b.Until})
	}
	return stages
}

// settleAttempt turns what the queue told into changes. a is the attempt whose end caused them, or nil.
func (e *Engine) settleAttempt(now time.Time, a *cycle.Attempt) {
	e.Settle(now, func(p *board.Pod) {
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

// ApplyWrite has what the scheduler wrote become so in the cluster, for the driver.
func (e *Engine) ApplyWrite(now time.Time, obj runtime.Object) { e.putObject(now, obj) }

// RemoveVictim has a victim that has ended gone from the cluster, for the driver.
func (e *Engine) RemoveVictim(now time.Time, victim *v1.Pod) { e.removeObject(now, victim) }

// busy reports whether anything is under way that goes on without an event from outside.
func (e *Engine) busy() bool {
	d := e.Driver
	return d != nil && (e.Queue.PendingPods(queue.Active)+e.Queue.PendingPods(queue.Backoff)+e.Queue.PendingPods(queue.InFlight) > 0 ||
		d.AwaitedPatch != nil || d.UnderWay != nil || len(d.Bindings)+len(d.Evictions)+len(d.Dying) > 0)
}
