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

// snapshot is all that is known about a cluster and its scheduler at one time. A keyframe contains one.
type snapshot struct {
	objects  map[objectName]runtime.Object
	tried    map[types.UID]*sources.Tried // of waiting pods
	waits    map[types.NamespacedName]types.UID
	moved    map[types.NamespacedName]*sources.Move // the last logged move of waiting pods
	silent   map[string]*sources.Silent             // by profile
	gaps     map[string]*sources.WatchGap           // open gaps by resource
	running  *sources.SchedulerRunning
	clocks   *sources.Clocks
	logged   *sources.Logged
	attached *sources.Attached // nil until all objects are known
}

// objectName identifies an object in a cluster.
type objectName struct {
	kind string
	types.NamespacedName
}

func nameOf(obj runtime.Object) objectName {
	m := obj.(metav1.Object)
	return objectName{obj.GetObjectKind().GroupVersionKind().Kind, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
}

func newSnapshot() *snapshot {
	return &snapshot{objects: map[objectName]runtime.Object{}, tried: map[types.UID]*sources.Tried{}, waits: map[types.NamespacedName]types.UID{},
		moved: map[types.NamespacedName]*sources.Move{}, silent: map[string]*sources.Silent{}, gaps: map[string]*sources.WatchGap{}}
}

// add applies ev.
func (s *snapshot) add(ev sources.Event) {
	if q := s.silent[""]; q != nil && q.Ended && q.EndedBefore(ev) {
		delete(s.silent, "")
	}
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		s.onChange(f)
	case *sources.Tried:
		if s.waits[f.Pod] == f.UID {
			s.tried[f.UID] = f
		}
	case *sources.FailedAttempt:
		s.onFailed(ev.Time, f.Pod, f.Message, f.Recorded)
	case *sources.Move:
		s.onMove(ev.Time, f)
	case *sources.SchedulerStarted: // its queue is empty, and all waiting pods are new to it
		clear(s.moved)
		if s.attached != nil {
			s.attached = &sources.Attached{Began: ev.Time, Nodes: s.attached.Nodes}
		}
		if f.Release != "" && !f.ReleaseInferred {
			s.running = &sources.SchedulerRunning{Release: f.Release, From: f.From}
		}
	case *sources.SchedulerRunning:
		s.running = f
	case *sources.Silent:
		if s.silent[f.Profile] = f; f.Since.IsZero() {
			delete(s.silent, f.Profile)
		}
	case *sources.WatchGap:
		if s.gaps[f.Resource] = f; !f.Lasts() {
			delete(s.gaps, f.Resource)
		}
	case *sources.Clocks:
		s.clocks = f
	case *sources.Logged:
		s.logged = f
	case *sources.Attached:
		s.attached = f
		clear(s.gaps)
	}
}

// onChange applies a change of an object.
func (s *snapshot) onChange(c *sources.ObjectChange) {
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

// minRetry is the minimum time between two attempts of a pod: failures within it are one attempt, from two sources. It is
// kube-scheduler's initial backoff (DefaultPodInitialBackoffDuration, backend/queue/scheduling_queue.go).
const minRetry = time.Second

// onFailed applies a failed attempt. It ignores pods that do not wait.
func (s *snapshot) onFailed(at time.Time, pod types.NamespacedName, message sources.SafeText, recorded sources.Recorded) {
	uid, waits := s.waits[pod]
	if !waits {
		return
	}
	t := sources.Tried{Pod: pod, UID: uid, First: at, Failed: at}
	if before := s.tried[uid]; before != nil {
		t = *before
		if t.Failed.Before(at.Add(-minRetry)) {
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

// onMove applies a move from the scheduler's log.
func (s *snapshot) onMove(at time.Time, m *sources.Move) {
	if _, waits := s.waits[m.Pod]; !waits {
		return
	}
	s.moved[m.Pod] = m
	if m.Event == "ScheduleAttemptFailure" && !m.Restated {
		s.onFailed(at, m.Pod, m.Message, sources.Recorded{})
	}
}

// sorted returns the objects in an order in which a scheduler may have received them: by kind, the oldest first.
func (s *snapshot) sorted() []runtime.Object {
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

// details returns what is known besides the objects, as events at that time. Attached follows what describes the past.
func (s *snapshot) details(at time.Time) []sources.Event {
	var facts []sources.Fact
	for _, t := range s.tried {
		facts = append(facts, t)
	}
	slices.SortFunc(facts, func(a, b sources.Fact) int {
		ta, tb := a.(*sources.Tried), b.(*sources.Tried)
		return cmp.Or(ta.Failed.Compare(tb.Failed), cmp.Compare(ta.UID, tb.UID))
	})
	if s.running != nil {
		facts = append(facts, s.running)
	}
	if s.clocks != nil {
		facts = append(facts, s.clocks)
	}
	facts = append(facts, s.attached)
	for _, profile := range slices.Sorted(maps.Keys(s.silent)) {
		facts = append(facts, s.silent[profile])
	}
	for _, resource := range slices.Sorted(maps.Keys(s.gaps)) {
		facts = append(facts, s.gaps[resource])
	}
	if s.logged != nil {
		facts = append(facts, s.logged)
	}
	for _, pod := range slices.SortedFunc(maps.Keys(s.moved), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		// Where a failed attempt put a pod follows from Tried.
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

// events returns all that is known as events at that time, as at the start of a recording of a live cluster.
func (s *snapshot) events(at time.Time) []sources.Event {
	events := make([]sources.Event, 0, len(s.objects))
	for _, obj := range s.sorted() {
		events = append(events, sources.Event{Time: at, Fact: &sources.ObjectChange{Verb: sources.Added, Object: obj}})
	}
	return append(events, s.details(at)...)
}

// changes returns the events that lead from s, which ends at since, to now, which is known at that time.
func (s *snapshot) changes(now *snapshot, since, at time.Time) []sources.Event {
	var facts []sources.Fact
	for _, obj := range s.sorted() {
		if after := now.objects[nameOf(obj)]; after == nil || !sameUID(obj, after) {
			facts = append(facts, &sources.ObjectChange{Verb: sources.Deleted, Object: obj})
		}
	}
	for _, obj := range now.sorted() {
		before := s.objects[nameOf(obj)]
		switch {
		case before == nil || !sameUID(before, obj):
			facts = append(facts, &sources.ObjectChange{Verb: sources.Added, Object: obj})
		case !isSame(before, obj):
			facts = append(facts, &sources.ObjectChange{Verb: sources.Updated, Object: obj})
		}
	}
	if now.running != nil && (s.running == nil || *s.running != *now.running) {
		facts = append(facts, now.running)
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
	for _, resource := range slices.Sorted(maps.Keys(s.gaps)) {
		if now.gaps[resource] == nil {
			facts = append(facts, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: s.gaps[resource].Since, Until: at}})
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(now.gaps)) {
		if s.gaps[resource] == nil {
			facts = append(facts, now.gaps[resource])
		}
	}
	if now.logged != nil && (s.logged == nil || *s.logged != *now.logged) {
		facts = append(facts, now.logged)
	}
	events := s.happenedBetween(now, since, at)
	for _, f := range facts {
		events = append(events, sources.Event{Time: at, Fact: f})
	}
	return events
}

// happenedBetween returns what is known to have happened after since and before at: the start of a scheduler, and the last
// attempts of pods that waited all the time.
func (s *snapshot) happenedBetween(now *snapshot, since, at time.Time) []sources.Event {
	var events []sources.Event
	within := func(t time.Time) bool { return t.After(since) && t.Before(at) }
	if began := now.attached.Began; within(began) {
		started := &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if now.running != nil {
			started.Release, started.From = now.running.Release, now.running.From
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

// isSame reports whether an object has not changed, by its resourceVersion if it has one.
func isSame(a, b runtime.Object) bool {
	va, vb := a.(metav1.Object).GetResourceVersion(), b.(metav1.Object).GetResourceVersion()
	if va != "" && vb != "" {
		return va == vb
	}
	return equality.Semantic.DeepEqual(a, b)
}
