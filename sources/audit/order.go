package audit

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Order returns the changes in all the logs as *sources.ObjectChange, in the order in which they were
// made, and between them what they tell of kube-schedulers: their starts, releases and failed attempts. The logs are used up.
//
// A line's time is when its request was answered, and requests overlap, so times do not tell the order.
// Revisions do: etcd counts all changes of the cluster. A change happened before its own answer and
// before that of every later change, so that earliest answer is its time. Changes whose answer has no
// revision (bindings, nodes' deletions) go where their time belongs among the others, but never before
// what is known to precede them: a pod's creation, a node's last update.
//
// What was there before the first of them is told as added when the logs begin.
func Order(logs ...*Log) []sources.Event {
	events, _ := OrderSeeded(Seed{}, logs...)
	return events
}

// OrderSeeded is Order of logs beside which a seed tells of the objects at one moment near their beginning.
func OrderSeeded(seed Seed, logs ...*Log) ([]sources.Event, Fit) {
	var known, unknown []entry
	var failed, named []sources.Event
	var own, called doings
	heardAt, end := hearing{}, time.Time{}
	written := map[types.UID]uint64{} // an object's last revision but for its deletion
	for _, l := range logs {
		for i := range l.entries {
			if e := &l.entries[i]; e.op == put {
				written[e.uid] = max(written[e.uid], e.revision)
			}
		}
	}
	for _, l := range logs {
		failed, named = append(failed, l.failed...), append(named, l.named...)
		own.join(&l.own)
		called.join(&l.called)
		maps.Copy(heardAt, l.hearing)
		if l.Last.After(end) {
			end = l.Last
		}
		for _, e := range l.entries {
			if e.op == remove && e.revision <= written[e.uid] {
				e.revision = 0 // of the state that was deleted (kube-apiserver before v1.21)
			}
			if e.revision > 0 {
				known = append(known, e)
			} else {
				unknown = append(unknown, e)
			}
		}
		l.entries = nil
	}
	slices.SortStableFunc(known, func(a, b entry) int {
		if a.revision != b.revision {
			return cmp.Compare(a.revision, b.revision)
		}
		return a.time.Compare(b.time)
	})
	for i := len(known) - 2; i >= 0; i-- {
		if known[i+1].time.Before(known[i].time) {
			known[i].time = known[i+1].time
		}
	}
	if own.empty() {
		own = called // where there is both, the others are schedulers beside it
	}
	h := &history{objects: map[ObjectName]runtime.Object{}, gone: map[types.UID]bool{}, decoder: sources.NewDecoder()}
	woven, starts := weave(known, unknown), own.starts.schedulers()
	b := newBeginning(logs, woven)
	fit := b.addSeed(seed.Objects)
	if len(b.late) > 0 {
		woven = weave(known, append(unknown, b.late...))
	}
	there := b.restore(versionsOf(failed))
	h.begin(b.at, there)
	if len(there) > 0 && beganAtWork(starts, woven, failed) {
		h.attach(b.at, seed)
	}
	first := h.events
	h.events = make([]sources.Event, 0, len(woven))
	changes := h.play(woven)
	failed = append(failed, failuresOf(named, slices.Concat(first, changes))...)
	changes = slices.Concat(first, starts, lapses(own.starts.held(), heardAt, end), firstHeard(own.heard), once(failed), own.requests, changes)
	slices.SortStableFunc(changes, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return changes, fit
}

// weave puts the entries without a revision between those with one.
func weave(known, unknown []entry) []entry {
	if len(unknown) == 0 {
		return known
	}
	first, last := map[types.UID]int{}, map[types.UID]int{} // of an object, where it is assigned or at all
	for i := range known {
		uid := known[i].uid
		last[uid] = i
		if _, seen := first[uid]; !seen && assigned(known[i].object) {
			first[uid] = i
		}
	}
	place := make(map[int][]entry) // before the entry with that index
	for _, e := range unknown {
		at, _ := slices.BinarySearchFunc(known, e.time, func(k entry, t time.Time) int {
			if k.time.After(t) {
				return 1
			}
			return -1
		})
		if e.uid != "" {
			if i, ok := last[e.uid]; ok && e.op == remove {
				at = max(at, i+1)
			}
			if i, ok := first[e.uid]; ok && e.op == bind {
				at = min(at, i)
			}
		}
		place[at] = append(place[at], e)
	}
	out := make([]entry, 0, len(known)+len(unknown))
	for i := range len(known) + 1 {
		here := place[i]
		slices.SortStableFunc(here, func(a, b entry) int { return a.time.Compare(b.time) })
		for _, e := range here {
			if len(out) > 0 && e.time.Before(out[len(out)-1].time) {
				e.time = out[len(out)-1].time
			}
			if i < len(known) && known[i].time.Before(e.time) {
				e.time = known[i].time
			}
			out = append(out, e)
		}
		if i < len(known) {
			out = append(out, known[i])
		}
	}
	return out
}

func assigned(obj runtime.Object) bool {
	pod, ok := obj.(*corev1.Pod)
	return ok && pod.Spec.NodeName != ""
}

// ObjectName is what an object is known by while it lives.
type ObjectName struct {
	Kind string
	types.NamespacedName
}

// NameOf returns what obj is known by.
func NameOf(obj runtime.Object) ObjectName {
	m := obj.(metav1.Object)
	return ObjectName{obj.GetObjectKind().GroupVersionKind().Kind, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
}

// Compare orders names by kind, namespace and name.
func (n ObjectName) Compare(o ObjectName) int {
	return cmp.Or(cmp.Compare(n.Kind, o.Kind), cmp.Compare(n.Namespace, o.Namespace), cmp.Compare(n.Name, o.Name))
}

// history plays entries and tells what they changed.
type history struct {
	objects map[ObjectName]runtime.Object
	gone    map[types.UID]bool
	decoder *sources.Decoder
	events  []sources.Event
}

// begin tells of the objects that were there at the beginning.
func (h *history) begin(at time.Time, there []runtime.Object) {
	for _, obj := range there {
		h.objects[NameOf(obj)] = obj
		h.emit(at, sources.Added, obj)
	}
}

// attach tells that the scheduler was at work at the beginning, and what the seed knows of its attempts up to then.
func (h *history) attach(at time.Time, seed Seed) {
	for _, t := range seed.Tried {
		if pod, there := h.objects[ObjectName{"Pod", t.Pod}]; there && uidOf(pod) == t.UID && !t.Failed.After(at) {
			h.events = append(h.events, sources.Event{Time: at, Fact: t})
		}
	}
	began := seed.Began
	if began.After(at) {
		began = time.Time{}
	}
	h.events = append(h.events, sources.Event{Time: at, Fact: &sources.Attached{Began: began}})
}

func (h *history) play(entries []entry) []sources.Event {
	for i := range entries {
		h.step(&entries[i])
	}
	return h.events
}

func (h *history) step(e *entry) {
	id := ObjectName{e.kind.name, e.key}
	old := h.objects[id]
	if e.uid != "" && old != nil && uidOf(old) != e.uid {
		if e.op != put {
			return // about an earlier object of that name, which is gone
		}
		h.remove(e, id, old) // its deletion is not in the log
		old = nil
	}
	if h.gone[e.uid] {
		return // a second delete, answered while the first was under way
	}
	switch e.op {
	case put:
		h.put(e, id, old, e.object)
		if !e.patched.IsZero() {
			h.events = append(h.events, sources.Event{Time: e.patched, Fact: &sources.StatusPatched{Pod: e.key, UID: e.uid, Sent: e.sent}})
		}
	case remove:
		last := e.object
		if last == nil {
			last = old
		}
		if last != nil {
			h.remove(e, id, last)
		}
	case bind:
		if pod, ok := old.(*corev1.Pod); ok && pod.Spec.NodeName == "" {
			h.put(e, id, old, bound(pod, e.node, e.time))
		}
	case terminate:
		pod, ok := old.(*corev1.Pod)
		if !ok {
			return
		}
		if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			h.remove(e, id, old)
			return
		}
		if pod.DeletionTimestamp == nil {
			h.put(e, id, old, terminating(pod, e.time))
		}
	case apply:
		if old == nil {
			return
		}
		if now, err := patched(old, e.patch, h.decoder); err == nil && now != nil { // one that does not fit was of another state
			h.put(e, id, old, now)
		}
	case patchMeta:
		if old != nil {
			h.put(e, id, old, withMeta(old, e.meta))
		}
	}
}

func (h *history) put(e *entry, id ObjectName, old, now runtime.Object) {
	verb := sources.Added
	if old != nil {
		verb = sources.Updated
		// A patch that changes nothing is answered with the object as it is.
		if rv := now.(metav1.Object).GetResourceVersion(); e.revision > 0 && rv == old.(metav1.Object).GetResourceVersion() {
			return
		}
	}
	h.objects[id] = now
	h.emit(e.time, verb, now)
}

func (h *history) remove(e *entry, id ObjectName, last runtime.Object) {
	delete(h.objects, id)
	if uid := uidOf(last); uid != "" {
		h.gone[uid] = true
	}
	h.emit(e.time, sources.Deleted, last)
}

func (h *history) emit(t time.Time, verb sources.Verb, obj runtime.Object) {
	h.events = append(h.events, sources.Event{Time: t, Fact: &sources.ObjectChange{Verb: verb, Object: obj}})
}

func uidOf(obj runtime.Object) types.UID { return obj.(metav1.Object).GetUID() }

// bound returns the pod as a binding leaves it (kubernetes v1.37, pkg/registry/core/pod/storage).
func bound(pod *corev1.Pod, node string, at time.Time) *corev1.Pod {
	out := *pod
	out.Spec.NodeName = node
	out.Status.NominatedNodeName = ""
	out.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions),
		func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled,
		Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at.Truncate(time.Second))})
	return &out
}

// terminating returns the pod as an eviction leaves it.
func terminating(pod *corev1.Pod, at time.Time) *corev1.Pod {
	out := *pod
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = max(0, min(*s, 1<<31))
	}
	t := metav1.NewTime(at.Truncate(time.Second).Add(time.Duration(grace) * time.Second))
	out.DeletionTimestamp = &t
	return &out
}

// withMeta returns obj with those parts of its metadata that a client can change through metadata alone.
func withMeta(obj runtime.Object, meta *metav1.ObjectMeta) runtime.Object {
	out := obj.DeepCopyObject()
	m := out.(metav1.Object)
	m.SetResourceVersion(meta.ResourceVersion)
	m.SetLabels(maps.Clone(meta.Labels))
	m.SetDeletionTimestamp(meta.DeletionTimestamp)
	if trimmed, err := sources.Trim(out); err == nil {
		return trimmed
	}
	return obj
}
