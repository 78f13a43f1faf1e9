package scenario

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/manifest"
)

// Recording is the scenario as a recording over which a local scheduler decides. What is there from the start is
// there when the scheduler starts, and then the pods that wait come, in the order of the file.
func (s *Scenario) Recording() *sources.Recording {
	rec := &sources.Recording{Name: s.Name, Formats: []string{Format}, End: s.Start.Add(s.End), Rerun: true, Release: s.Release}
	happens := func(at time.Time, f sources.Fact) {
		rec.Events = append(rec.Events, sources.Event{Time: at, Fact: f})
	}
	c := cluster{there: map[Object]runtime.Object{}, generations: map[Object]int{}, toCome: map[Object]runtime.Object{}}
	for _, obj := range s.Objects {
		if !waits(obj) {
			happens(s.Start, c.put(obj, s.Start))
		}
	}
	happens(s.Start, &sources.SchedulerStarted{Release: sources.Sanitize(s.Release),
		PodInitialBackoff: s.PodInitialBackoff, PodMaxBackoff: s.PodMaxBackoff, PodMaxInUnschedulablePods: s.PodMaxInUnschedulablePods})
	for _, obj := range s.Objects {
		if waits(obj) {
			happens(s.Start, c.put(obj, s.Start))
		}
	}
	moments := slices.Clone(s.Moments)
	slices.SortStableFunc(moments, func(a, b Moment) int { return int(a.time() - b.time()) })
	for _, m := range moments {
		for _, obj := range m.Objects {
			c.toCome[objectKey(obj)] = obj
		}
	}
	for _, m := range moments {
		at := s.Start.Add(m.time())
		facts := c.facts(m, at)
		if m.When != nil {
			happens(s.Start, &sources.Triggered{Pod: m.When.Pod, Into: m.When.Into, Nth: m.When.Nth, After: m.At, Facts: facts})
			continue
		}
		for _, f := range facts {
			happens(at, f)
		}
	}
	return rec
}

// waits reports whether obj is a pod that is to be scheduled.
func waits(obj runtime.Object) bool {
	pod, ok := obj.(*v1.Pod)
	return ok && pod.Spec.NodeName == ""
}

// time is when the moment is, or of one that a move sets off, the start: it waits from there on.
func (m Moment) time() time.Duration {
	if m.When != nil {
		return 0
	}
	return m.At
}

// cluster contains the current objects during the conversion.
type cluster struct {
	there       map[Object]runtime.Object
	generations map[Object]int            // how many objects of the name there were
	toCome      map[Object]runtime.Object // with a moment
}

// facts are what happens at m.
func (c *cluster) facts(m Moment, at time.Time) []sources.Fact {
	var facts []sources.Fact
	if m.Mark != "" {
		facts = append(facts, &sources.Mark{Text: m.Mark})
	}
	for _, key := range m.Delete {
		obj := c.there[key]
		if obj == nil && m.When != nil {
			obj = c.toCome[key] // by then it may be there
		}
		if obj != nil {
			facts = append(facts, &sources.ObjectChange{Verb: sources.Deleted, Object: obj})
			if m.When == nil {
				delete(c.there, key)
			}
		}
	}
	for _, obj := range m.Objects {
		facts = append(facts, c.put(obj, at))
	}
	for _, what := range m.Inject {
		facts = append(facts, &sources.Injected{What: what})
	}
	for _, pod := range m.Activate {
		facts = append(facts, &sources.Injected{Pod: pod})
	}
	return facts
}

// put adds or updates obj. An object that replaces another with its name is a new object.
func (c *cluster) put(obj runtime.Object, at time.Time) *sources.ObjectChange {
	key := objectKey(obj)
	obj = obj.DeepCopyObject()
	meta := obj.(metav1.Object)
	change := &sources.ObjectChange{Verb: sources.Added, Object: obj}
	if meta.GetUID() == "" { // it was made here, and not read
		meta.SetUID(manifest.UID(key.Kind, key.Namespace, key.Name))
	}
	if old, ok := c.there[key].(metav1.Object); ok {
		change.Verb = sources.Updated
		meta.SetUID(old.GetUID())
		meta.SetCreationTimestamp(old.GetCreationTimestamp())
	} else {
		if c.generations[key]++; c.generations[key] > 1 {
			meta.SetUID(types.UID(fmt.Sprintf("%s-%d", meta.GetUID(), c.generations[key])))
		}
		if meta.GetCreationTimestamp().Time.IsZero() {
			meta.SetCreationTimestamp(metav1.NewTime(at))
		}
	}
	c.there[key] = obj
	return change
}
