package ring

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// situation is all that is known of a cluster and its scheduler at one moment, as events tell it. It is what a keyframe
// holds. Its zero value knows nothing.
type situation struct {
	objects  map[objectName]runtime.Object
	tried    map[types.UID]*sources.Tried // of pods that wait
	waits    map[types.NamespacedName]types.UID
	moved    map[types.NamespacedName]*sources.Move // where the scheduler's log said last that a pod that waits is
	silent   map[string]*sources.Silent             // by profile
	unheard  map[string]*sources.Unheard            // by resource, while it lasts
	heard    *sources.SchedulerHeard
	clocks   *sources.Clocks
	logged   *sources.Logged
	attached *sources.Attached // nil until all is known
}

// objectName names an object among all of its cluster.
type objectName struct {
	kind string
	types.NamespacedName
}

func nameOf(obj runtime.Object) objectName {
	m := obj.(metav1.Object)
	return objectName{obj.GetObjectKind().GroupVersionKind().Kind, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
}

func newSituation() *situation {
	return &situation{objects: map[objectName]runtime.Object{}, tried: map[types.UID]*sources.Tried{}, waits: map[types.NamespacedName]types.UID{},
		moved: map[types.NamespacedName]*sources.Move{}, silent: map[string]*sources.Silent{}, unheard: map[string]*sources.Unheard{}}
}

// add takes in what ev tells.
func (s *situation) add(ev sources.Event) {
	if q := s.silent[""]; q != nil && q.Ended && q.EndedBefore(ev) {
		delete(s.silent, "")
	}
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		s.change(f)
	case *sources.Tried:
		if s.waits[f.Pod] == f.UID {
			s.tried[f.UID] = f
		}
	case *sources.FailedAttempt:
		s.failed(ev.Time, f.Pod, f.Message, f.Recorded)
	case *sources.Move:
		s.move(ev.Time, f)
	case *sources.SchedulerStarted: // with an empty queue, and all pods that wait as new ones
		clear(s.moved)
		if s.attached != nil {
			s.attached = &sources.Attached{Began: ev.Time, Nodes: s.attached.Nodes}
		}
		if f.Release != "" && !f.ReleaseInferred {
			s.heard = &sources.SchedulerHeard{Release: f.Release, From: f.From}
		}
	case *sources.SchedulerHeard:
		s.heard = f
	case *sources.Silent:
		if s.silent[f.Profile] = f; f.Since.IsZero() {
			delete(s.silent, f.Profile)
		}
	case *sources.Unheard:
		if s.unheard[f.Resource] = f; !f.Lasts() {
			delete(s.unheard, f.Resource)
		}
	case *sources.Clocks:
		s.clocks = f
	case *sources.Logged:
		s.logged = f
	case *sources.Attached:
		s.attached = f
		clear(s.unheard)
	}
}

// change takes in that an object came, changed or went.
func (s *situation) change(c *sources.ObjectChange) {
	name := nameOf(c.Object)
	pod, isPod := c.Object.(*corev1.Pod)
	if isPod {
		if before, waited := s.waits[name.NamespacedName]; waited && (c.Verb == sources.Deleted || before != pod.UID || !isWaiting(pod)) {
			delete(s.waits, name.NamespacedName)
			delete(s.moved, name.NamespacedName)
			delete(s.tried, before)
		}
	}
	if c.Verb == sources.Deleted {
		delete(s.objects, name)
		return
	}
	s.objects[name] = c.Object
	if isPod && isWaiting(pod) {
		s.waits[name.NamespacedName] = pod.UID
	}
}

// isWaiting reports whether pod has no node yet.
func isWaiting(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// apart is how far two attempts of a pod are apart at the least: what tells of one within it tells of the same, by another
// channel. It is kube-scheduler's initial backoff (DefaultPodInitialBackoffDuration, backend/queue/scheduling_queue.go).
const apart = time.Second

// failed takes in that an attempt of a pod failed. Only pods that wait are remembered.
func (s *situation) failed(at time.Time, pod types.NamespacedName, message sources.SafeText, recorded sources.Recorded) {
	uid, waits := s.waits[pod]
	if !waits {
		return
	}
	t := sources.Tried{Pod: pod, UID: uid, First: at, Failed: at}
	if before := s.tried[uid]; before != nil {
		t = *before
		if t.Failed.Before(at.Add(-apart)) {
			t.Attempts++
		}
		if t.Failed.Before(at) {
			t.Failed = at
		}
	} else {
		t.Attempts = 1
	}
	t.Attempts = max(t.Attempts, recorded.Count)
	if message != "" {
		t.Message = message
	}
	if recorded.Count > 0 {
		t.Recorded = recorded
	}
	s.tried[uid] = &t
}

// move takes in what the scheduler's log says.
func (s *situation) move(at time.Time, m *sources.Move) {
	if _, waits := s.waits[m.Pod]; !waits {
		return
	}
	s.moved[m.Pod] = m
	if m.Event == "ScheduleAttemptFailure" && !m.Restated {
		s.failed(at, m.Pod, m.Message, sources.Recorded{})
	}
}

// inOrder returns the objects as a scheduler may have come to know them: by kinds, and of each the oldest first.
func (s *situation) inOrder() []runtime.Object {
	list := make([]runtime.Object, 0, len(s.objects))
	for _, obj := range s.objects {
		list = append(list, obj)
	}
	slices.SortFunc(list, func(a, b runtime.Object) int {
		ma, mb := a.(metav1.Object), b.(metav1.Object)
		return cmp.Or(cmp.Compare(a.GetObjectKind().GroupVersionKind().Kind, b.GetObjectKind().GroupVersionKind().Kind),
			ma.GetCreationTimestamp().Compare(mb.GetCreationTimestamp().Time),
			cmp.Compare(ma.GetNamespace(), mb.GetNamespace()), cmp.Compare(ma.GetName(), mb.GetName()))
	})
	return list
}

// beside returns what is known beside the objects, as events at that time. The last of those that describe what was there before
// is Attached.
func (s *situation) beside(at time.Time) []sources.Event {
	var facts []sources.Fact
	for _, t := range s.tried {
		facts = append(facts, t)
	}
	slices.SortFunc(facts, func(a, b sources.Fact) int {
		ta, tb := a.(*sources.Tried), b.(*sources.Tried)
		return cmp.Or(ta.Failed.Compare(tb.Failed), cmp.Compare(ta.UID, tb.UID))
	})
	if s.heard != nil {
		facts = append(facts, s.heard)
	}
	if s.clocks != nil {
		facts = append(facts, s.clocks)
	}
	facts = append(facts, s.attached)
	for _, profile := range slices.Sorted(maps.Keys(s.silent)) {
		facts = append(facts, s.silent[profile])
	}
	for _, resource := range slices.Sorted(maps.Keys(s.unheard)) {
		facts = append(facts, s.unheard[resource])
	}
	if s.logged != nil {
		facts = append(facts, s.logged)
	}
	for _, pod := range slices.SortedFunc(maps.Keys(s.moved), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		// Where a failed attempt left a pod follows from what is known of the attempt.
		if m := s.moved[pod]; m.Event != "ScheduleAttemptFailure" {
			facts = append(facts, m)
		}
	}
	events := make([]sources.Event, len(facts))
	for i, f := range facts {
		events[i] = sources.Event{Time: at, Fact: f}
	}
	return events
}

// events returns all that is known, as events at that time: what a recording of a live cluster begins with.
func (s *situation) events(at time.Time) []sources.Event {
	events := make([]sources.Event, 0, len(s.objects))
	for _, obj := range s.inOrder() {
		events = append(events, sources.Event{Time: at, Fact: &sources.ObjectChange{Verb: sources.Added, Object: obj}})
	}
	return append(events, s.beside(at)...)
}

// changes returns what makes of s, the last of which is known from since, what now was known at that time.
func (s *situation) changes(now *situation, since, at time.Time) []sources.Event {
	var facts []sources.Fact
	for _, obj := range s.inOrder() {
		if after := now.objects[nameOf(obj)]; after == nil || !sameUID(obj, after) {
			facts = append(facts, &sources.ObjectChange{Verb: sources.Deleted, Object: obj})
		}
	}
	for _, obj := range now.inOrder() {
		before := s.objects[nameOf(obj)]
		switch {
		case before == nil || !sameUID(before, obj):
			facts = append(facts, &sources.ObjectChange{Verb: sources.Added, Object: obj})
		case !isSame(before, obj):
			facts = append(facts, &sources.ObjectChange{Verb: sources.Updated, Object: obj})
		}
	}
	if now.heard != nil && (s.heard == nil || *s.heard != *now.heard) {
		facts = append(facts, now.heard)
	}
	if now.clocks != nil && (s.clocks == nil || *s.clocks != *now.clocks) {
		facts = append(facts, now.clocks)
	}
	for _, profile := range slices.Sorted(maps.Keys(s.silent)) {
		if now.silent[profile] == nil {
			facts = append(facts, &sources.Silent{Profile: profile})
		}
	}
	for _, profile := range slices.Sorted(maps.Keys(now.silent)) {
		if s.silent[profile] == nil {
			facts = append(facts, now.silent[profile])
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(s.unheard)) {
		if now.unheard[resource] == nil {
			facts = append(facts, &sources.Unheard{Resource: resource, Gap: sources.Gap{Since: s.unheard[resource].Since, Until: at}})
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(now.unheard)) {
		if s.unheard[resource] == nil {
			facts = append(facts, now.unheard[resource])
		}
	}
	if now.logged != nil && (s.logged == nil || *s.logged != *now.logged) {
		facts = append(facts, now.logged)
	}
	events := s.between(now, since, at)
	for _, f := range facts {
		events = append(events, sources.Event{Time: at, Fact: f})
	}
	return events
}

// between returns what is known to have happened after since and before at: that a scheduler began, and the last attempts of
// pods that have waited all the time.
func (s *situation) between(now *situation, since, at time.Time) []sources.Event {
	var events []sources.Event
	within := func(t time.Time) bool { return t.After(since) && t.Before(at) }
	if began := now.attached.Began; within(began) {
		started := &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if now.heard != nil {
			started.Release, started.From = now.heard.Release, now.heard.From
		}
		events = append(events, sources.Event{Time: began, Fact: started})
	}
	for uid, t := range now.tried {
		if s.waits[t.Pod] == uid && within(t.Failed) {
			events = append(events, sources.Event{Time: t.Failed, Fact: &sources.FailedAttempt{Pod: t.Pod, UID: uid, Message: t.Message, Recorded: t.Recorded}})
		}
	}
	slices.SortStableFunc(events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return events
}

func sameUID(a, b runtime.Object) bool {
	return a.(metav1.Object).GetUID() == b.(metav1.Object).GetUID()
}

// isSame reports whether an object has not changed: its resourceVersion tells, where there is one.
func isSame(a, b runtime.Object) bool {
	va, vb := a.(metav1.Object).GetResourceVersion(), b.(metav1.Object).GetResourceVersion()
	if va != "" && vb != "" {
		return va == vb
	}
	return equality.Semantic.DeepEqual(a, b)
}
