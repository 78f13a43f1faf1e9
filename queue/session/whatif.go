package session

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
	"github.com/schedq/schedq/sources"
)

// In a what-if a local kube-scheduler can take the person's place: its plugins decide, in model time, over
// the objects there are, and what it writes changes those.

// startScheduler has a local kube-scheduler take over at now.
func (e *engine) startScheduler(now time.Time, cfg *cycle.Config, spare *spare) error {
	sched, err := spare.take(cfg, e.objects)
	if err != nil {
		return err
	}
	e.objects.each("", func(obj runtime.Object) bool {
		if v, err := strconv.ParseInt(obj.(metav1.Object).GetResourceVersion(), 10, 64); err == nil {
			e.version = max(e.version, v)
		}
		return true
	})
	e.queue = e.queue.Clone(sched.Plugins(), e)
	if cfg.Queue.GenericWorkload {
		var groups []*schedulingv1beta1.PodGroup
		e.objects.each("PodGroup", func(obj runtime.Object) bool {
			groups = append(groups, obj.(*schedulingv1beta1.PodGroup))
			return true
		})
		e.queue.Regroup(groups)
	}
	e.driver = newDriver(cfg, sched, e.queue, e.ticks, now, e.settled)
	e.driver.cluster = e
	var flying []*v1.Pod
	for info := range e.queue.InFlight() {
		flying = append(flying, info.Pod)
	}
	for _, pod := range flying { // nobody knows what became of these attempts: it makes them anew
		if e.driver.attemptOf(now, pod) != nil {
			e.driver.conclude(now)
		}
	}
	return nil
}

// stopScheduler gives the person's place back.
func (e *engine) stopScheduler() {
	if e.driver != nil {
		e.driver.sched.Close()
		e.driver = nil
	}
}

// become makes obj what the cluster has from now on, and tells the scheduler, if there is one.
func (e *engine) become(now time.Time, obj runtime.Object) {
	e.version++
	obj.(metav1.Object).SetResourceVersion(strconv.FormatInt(e.version, 10))
	e.objects.put(obj)
	if e.driver != nil {
		_ = e.driver.sched.Put(now, obj)
		e.driver.collectEvictions()
	}
	e.settle(now, nil)
	if pod, ok := obj.(*v1.Pod); ok {
		e.refresh(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod)
	}
}

// vanish has obj gone from the cluster.
func (e *engine) vanish(now time.Time, obj runtime.Object) {
	e.objects.remove(obj)
	if e.driver != nil {
		_ = e.driver.sched.Remove(now, obj)
		if pod, ok := obj.(*v1.Pod); ok {
			e.driver.unbind(now, pod.UID, errNotSeen) // its binding finds no pod
		}
		e.driver.collectEvictions()
	}
	e.settle(now, nil)
}

// stages returns the stages of the pods in flight.
func (e *engine) stages() []Stage {
	d := e.driver
	if d == nil {
		return nil
	}
	var stages []Stage
	name := func(pod *v1.Pod) types.NamespacedName {
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	if d.trying != nil {
		stages = append(stages, Stage{Pod: name(d.trying.Pod), Name: "schedule", Node: d.trying.Node, Since: d.began, Until: d.free})
	}
	for _, b := range d.bindings {
		stages = append(stages, Stage{Pod: name(b.Pod), Name: "bind", Node: b.Node, Since: b.since, Until: b.until})
	}
	return stages
}

// settled shows what the queue told. An attempt that ended, if any, is the cause.
func (e *engine) settled(now time.Time, a *cycle.Attempt) {
	e.settle(now, func(p *Pod) {
		switch {
		case a == nil || p.PodInfo.Pod.UID != a.Pod.UID:
		case a.Message != "":
			p.Verdict = newVerdict(e.driver.began, now, a)
			p.Message = sources.Sanitize(a.Message)
		case p.Tier == queue.Scheduled:
			p.Node = a.Node
		}
	})
}

// wrote implements written.
func (e *engine) wrote(now time.Time, obj runtime.Object) { e.become(now, obj) }

// gone implements written.
func (e *engine) gone(now time.Time, victim *v1.Pod) { e.vanish(now, victim) }

// busy reports whether anything is under way that does not wait for an event.
func (e *engine) busy() bool {
	d := e.driver
	return d != nil && (e.queue.PendingPods(queue.Active)+e.queue.PendingPods(queue.Backoff)+e.queue.PendingPods(queue.InFlight) > 0 ||
		d.awaits != nil || d.trying != nil || len(d.bindings)+len(d.evicting)+len(d.dying) > 0)
}
