package audit

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/objects"
)

// history applies entries and emits the changes.
type history struct {
	objects map[sources.ObjectName]runtime.Object
	gone    map[types.UID]time.Time            // when objects were removed whose removal may be repeated
	ended   map[types.NamespacedName]types.UID // the last pod of each name among them
	zones   *objects.Zones
	decoder *sources.Decoder
	forgot  time.Time // when that was last done
	out     func(sources.Event)
}

func newHistory(out func(sources.Event)) *history {
	return &history{objects: map[sources.ObjectName]runtime.Object{}, gone: map[types.UID]time.Time{}, ended: map[types.NamespacedName]types.UID{}, zones: objects.NewZones(), decoder: sources.NewDecoder(), out: out}
}

// begin emits the objects that existed at the beginning.
func (h *history) begin(at time.Time, there []runtime.Object) {
	for _, obj := range there {
		h.objects[sources.NameOf(obj)] = obj
		h.zones.Show(obj)
		h.emit(at, sources.Added, obj)
	}
}

// attach emits that the scheduler was at work at the beginning, and the seed's attempts up to then.
func (h *history) attach(at time.Time, seed earlier.Seed) {
	for _, ev := range seed.Attach(at, h.objects) {
		h.out(ev)
	}
}

func (h *history) step(e *entry) {
	id := sources.ObjectName{Kind: e.kind.Name, NamespacedName: e.key}
	old := h.objects[id]
	if e.uid != "" && old != nil && uidOf(old) != e.uid {
		if e.op != put {
			return // it concerns an earlier object with that name
		}
		h.remove(e, id, old) // its deletion is not in the log
		old = nil
	}
	if _, gone := h.gone[e.uid]; gone {
		return // a second delete, answered while the first was under way
	}
	noteZones(h.zones, e)
	switch e.op {
	case put:
		h.put(e, id, old, e.object)
		h.asked(e)
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
			now := objects.Bound(pod, e.node, h.zones.Given(e.node), e.time)
			h.objects[id] = now
			h.out(sources.Event{Time: e.time, Fact: &sources.ObjectChange{Verb: sources.Updated, Object: now, Sent: e.sent}})
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
		if now, err := e.asked.Apply(old, h.decoder); err == nil && now != nil { // a request that does not fit was for another state
			h.put(e, id, old, now)
		}
	case patchMeta:
		if old != nil {
			h.put(e, id, old, withMeta(old, e.meta))
		}
	}
}

// noteZones records an entry in z. Entries must be in order.
func noteZones(z *objects.Zones, e *entry) {
	switch {
	case e.op == remove:
		z.Gone(e.kind.Name, e.key.Name, e.uid)
	case e.op == bind:
		z.Bind(e.uid, e.node)
	case e.op == put:
		z.Show(e.object)
	case e.op == patchMeta && e.kind.Name == "Node":
		z.Label(e.key.Name, e.meta.Labels)
	}
}

// asked emits a request of kube-scheduler to change a pod's status, whether or not it changed.
func (h *history) asked(e *entry) {
	if !e.patched.IsZero() {
		h.out(sources.Event{Time: e.patched, Fact: &sources.StatusPatched{Pod: e.key, UID: e.uid, Sent: e.sent, Clears: e.clears}})
	}
}

func (h *history) put(e *entry, id sources.ObjectName, old, now runtime.Object) {
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

func (h *history) remove(e *entry, id sources.ObjectName, last runtime.Object) {
	delete(h.objects, id)
	if uid := uidOf(last); uid != "" {
		h.gone[uid] = e.time
		if e.kind.IsPod() {
			h.ended[id.NamespacedName] = uid
		}
		h.decoder.Forget(uid)
	}
	h.emit(e.time, sources.Deleted, last)
}

// overlaps limits how long after an object's removal a second one may be answered: no request takes longer.
const overlaps = 10 * time.Minute

// forget forgets objects that were removed long ago.
func (h *history) forget(now time.Time) {
	if now.Sub(h.forgot) < overlaps {
		return
	}
	h.forgot = now
	maps.DeleteFunc(h.gone, func(_ types.UID, at time.Time) bool { return now.Sub(at) > overlaps })
	maps.DeleteFunc(h.ended, func(_ types.NamespacedName, uid types.UID) bool { return h.gone[uid].IsZero() })
}

func (h *history) emit(t time.Time, verb sources.Verb, obj runtime.Object) {
	h.out(sources.Event{Time: t, Fact: &sources.ObjectChange{Verb: verb, Object: obj}})
}

func uidOf(obj runtime.Object) types.UID { return obj.(metav1.Object).GetUID() }

// terminating returns the pod after an eviction.
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
