package scenario

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Cut makes a scenario of the part of rec between two times: the objects that exist at from,
// and what becomes of them by hands other than the scheduler's. Pods that wait at from wait from its start on, as
// if they had just come. Zero times are the recording's own.
func Cut(ctx context.Context, rec *sources.Recording, from, to time.Time) (*Scenario, error) {
	told := rec.Events
	if len(told) == 0 {
		return nil, fmt.Errorf("%s is empty", rec.Name)
	}
	first, last := told[0].Time, told[len(told)-1].Time
	if rec.End.After(last) {
		last = rec.End
	}
	if from.IsZero() {
		from = first
	}
	if to.IsZero() {
		to = last
	}
	if !from.Before(to) || from.After(last) || to.Before(first) {
		return nil, fmt.Errorf("%s goes from %s to %s, and nothing of it is between %s and %s",
			rec.Name, first.UTC().Format(time.TimeOnly), last.UTC().Format(time.TimeOnly), from.UTC().Format(time.TimeOnly), to.UTC().Format(time.TimeOnly))
	}
	if to.Sub(from) > maxTime {
		return nil, fmt.Errorf("a scenario lasts at most %s", maxTime)
	}
	c := &cutter{from: from, there: map[Object]runtime.Object{}, classes: map[string]bool{},
		scenario: &Scenario{Name: rec.Name, Release: rec.Release, Start: from.UTC(), End: to.Sub(from),
			PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}}
	begun := false
	for ev, err := range rec.All(ctx) {
		if err != nil {
			return nil, err
		}
		if ev.Time.After(to) {
			break
		}
		if !begun && ev.Time.After(from) {
			begun = true
			c.begin()
		}
		c.event(ev, begun)
	}
	if !begun {
		c.begin()
	}
	if !c.pods {
		return nil, fmt.Errorf("%s contains no pod objects between %s and %s: they are in an API server's audit log", rec.Name,
			from.UTC().Format(time.TimeOnly), to.UTC().Format(time.TimeOnly))
	}
	return c.scenario, nil
}

// Continue makes a scenario that starts at s.Start with objects and continues with the user's actions: changes of objects
// and injections, in time order. The rest of s stays unchanged.
func (s *Scenario) Continue(objects []runtime.Object, done []sources.Event) {
	c := &cutter{from: s.Start, there: map[Object]runtime.Object{}, classes: map[string]bool{}, scenario: s}
	for _, obj := range objects {
		c.change(s.Start, &sources.ObjectChange{Verb: sources.Added, Object: obj}, false)
	}
	c.begin()
	for _, ev := range done {
		c.apart = true // what was done one after the other at one time stays so
		c.event(ev, true)
	}
}

// cutter goes through a recording.
type cutter struct {
	from     time.Time
	scenario *Scenario
	there    map[Object]runtime.Object
	order    []Object // in which they came
	classes  map[string]bool
	pods     bool
	apart    bool // the next action starts a new moment
}

// event adds an event from before the scenario or within it.
func (c *cutter) event(ev sources.Event, begun bool) {
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		c.scenario.PodInitialBackoff, c.scenario.PodMaxBackoff, c.scenario.PodMaxInUnschedulablePods = f.PodInitialBackoff, f.PodMaxBackoff, f.PodMaxInUnschedulablePods
	case *sources.Mark:
		if begun {
			c.moment(ev.Time).Mark = f.Text
		}
	case *sources.ObjectChange:
		c.change(ev.Time, f, begun)
	case *sources.Injected:
		if m := c.moment(ev.Time); f.What == "" {
			m.Activate = append(m.Activate, f.Pod)
		} else {
			m.Inject = append(m.Inject, f.What)
		}
	}
}

// change adds a change of an object.
func (c *cutter) change(at time.Time, f *sources.ObjectChange, begun bool) {
	key := Object{reflect.TypeOf(f.Object).Elem().Name(), nameOf(f.Object)}
	before, known := c.there[key]
	gone := f.Verb == sources.Deleted || hasEnded(f.Object)
	if gone {
		if old, ok := f.Object.(*v1.Pod); ok && begun && preempted(old) {
			return // the scheduler's own deed
		}
		if known {
			delete(c.there, key)
			c.order = slices.DeleteFunc(c.order, func(o Object) bool { return o == key })
			if begun {
				m := c.moment(at)
				m.Delete = append(m.Delete, key)
			}
		}
		return
	}
	obj := c.plain(f.Object, before, begun)
	if obj == nil || known && reflect.DeepEqual(obj, before) {
		return
	}
	if !known {
		c.order = append(c.order, key)
	}
	c.there[key] = obj
	if !begun {
		return
	}
	if pod, ok := obj.(*v1.Pod); ok {
		c.pods = true
		if class := c.class(pod); class != nil {
			m := c.moment(at)
			m.Objects = append(m.Objects, class)
		}
	}
	m := c.moment(at)
	m.Objects = slices.DeleteFunc(m.Objects, func(o runtime.Object) bool { return o == before }) // it changed twice
	m.Objects = append(m.Objects, obj)
}

// begin makes what there is what the scenario starts with: nodes and all else first, then pods.
func (c *cutter) begin() {
	for _, pods := range []bool{false, true} {
		for _, key := range c.order {
			obj := c.there[key]
			pod, isPod := obj.(*v1.Pod)
			if isPod != pods {
				continue
			}
			if isPod {
				c.pods = true
				if class := c.class(pod); class != nil {
					c.scenario.Objects = append(c.scenario.Objects, class)
				}
			} else if class, ok := obj.(*schedulingv1.PriorityClass); ok {
				c.classes[class.Name] = true
			}
			c.scenario.Objects = append(c.scenario.Objects, obj)
		}
	}
}

// moment returns the scenario's moment at that time.
func (c *cutter) moment(at time.Time) *Moment {
	after := at.Sub(c.from)
	all := &c.scenario.Moments
	if n := len(*all); n == 0 || (*all)[n-1].At != after || c.apart {
		*all, c.apart = append(*all, Moment{At: after}), false
	}
	return &(*all)[len(*all)-1]
}

// hasEnded reports whether obj is a pod that has ended.
func hasEnded(obj runtime.Object) bool {
	pod, ok := obj.(*v1.Pod)
	return ok && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed)
}

// preempted reports whether a scheduler has chosen pod as a victim.
func preempted(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.DisruptionTarget && c.Reason == v1.PodReasonPreemptionByScheduler
	})
}

func nameOf(obj runtime.Object) types.NamespacedName {
	m := obj.(metav1.Object)
	return types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}
}

// plain is obj as a person would write it: without what the API server and the scheduler have written. It is nil
// for what would make pods of its own. A pod that was not bound when the scenario began is bound by its own
// scheduler.
func (c *cutter) plain(obj, before runtime.Object, begun bool) runtime.Object {
	switch kind := reflect.TypeOf(obj).Elem().Name(); kind {
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		return nil
	}
	obj = obj.DeepCopyObject()
	m := obj.(metav1.Object)
	m.SetUID("")
	m.SetResourceVersion("")
	m.SetGeneration(0)
	m.SetCreationTimestamp(metav1.Time{})
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetOwnerReferences(nil)
	m.SetManagedFields(nil)
	m.SetFinalizers(nil)
	if node, ok := obj.(*v1.Node); ok {
		node.Status.Images = nil // an image's being there moves scores, and nothing else
	}
	if volume, ok := obj.(*v1.PersistentVolume); ok && volume.Spec.ClaimRef != nil {
		volume.Spec.ClaimRef.UID, volume.Spec.ClaimRef.ResourceVersion = "", "" // the claim has another one when it is played
	}
	pod, ok := obj.(*v1.Pod)
	if !ok {
		return obj
	}
	old, _ := before.(*v1.Pod)
	if begun && (old == nil || old.Spec.NodeName == "") {
		if pod.Spec.NodeName != "" && old != nil {
			return old // it was bound, which is for the model to do
		}
		pod.Spec.NodeName = ""
	}
	pod.Status = v1.PodStatus{}
	if pod.Spec.NodeName != "" {
		pod.Status.Phase = v1.PodRunning
	}
	return pod
}

// class returns the priority class that pod needs and that is not there. What has the priority 0 needs none.
func (c *cutter) class(pod *v1.Pod) *schedulingv1.PriorityClass {
	s := &pod.Spec
	if s.Priority == nil || *s.Priority == 0 && s.PriorityClassName == "" || *s.Priority >= 2_000_000_000 {
		return nil
	}
	if s.PriorityClassName == "" {
		s.PriorityClassName = fmt.Sprintf("priority-%d", *s.Priority)
	}
	if c.classes[s.PriorityClassName] {
		return nil
	}
	c.classes[s.PriorityClassName] = true
	class := &schedulingv1.PriorityClass{Value: *s.Priority, PreemptionPolicy: s.PreemptionPolicy}
	class.Name = s.PriorityClassName
	class.TypeMeta = metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}
	return class
}
