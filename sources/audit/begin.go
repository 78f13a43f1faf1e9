package audit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/bindings"
	"github.com/schedq/schedq/sources/kinds"
)

// Most logs begin in the middle of a cluster's life. What was there then is worked out of what they show of it later: an
// update is answered with an object that was there before, nearly as it is now. A seed tells of the rest.

// Seed is what is known of a cluster at one moment near the beginning of its logs.
type Seed struct {
	// Objects are all there were of some kinds, each once.
	Objects []runtime.Object
	// Tried is what is known of attempts before that.
	Tried []*sources.Tried
	// Began is when the scheduler began to work its queue. Zero if not known.
	Began time.Time
}

// Events returns what a seed tells where no audit log tells of changes: all of it at that time.
func (s Seed) Events(at time.Time) []sources.Event {
	var events []sources.Event
	h := newHistory(func(ev sources.Event) { events = append(events, ev) })
	h.begin(at, s.Objects)
	h.attach(at, s)
	return events
}

// Fit says what became of the objects of a seed.
type Fit struct {
	// Used is how many were taken, and Known of how many the logs tell themselves.
	Used, Known int
	// Gone is how many another of their name had replaced when the logs began, and Later how many came after their end.
	Gone, Later int
	// Foreign is true if the seed is of another cluster. Then nothing of it is taken.
	Foreign bool
}

// beginning is what was there when the logs began.
type beginning struct {
	at, end time.Time
	pasts   map[ObjectName]*past
	count   int             // of all pasts that were noted
	nodes   map[string]bool // that the logs name
	objects []runtime.Object
	late    []entry // that came later, and the logs don't tell
	forgets bool
	gone    []departure // that are to be forgotten
}

// departure is when an object was removed that had come after the beginning.
type departure struct {
	id ObjectName
	at time.Time
}

// past is what the logs tell of the first object of a name, up to the first state of it that they hold.
type past struct {
	uid     types.UID
	created bool           // in the logs
	base    runtime.Object // nil if they hold none
	when    time.Time      // of base
	bound   bool           // before that, and after the beginning
	over    bool           // what follows is of another object of that name
	nth     int            // of all, in their order
}

// newBeginning returns one of logs of which nothing is known. If it is to forget, what came and went is not remembered, which
// a seed would have to be compared with.
func newBeginning(forget bool) *beginning {
	return &beginning{pasts: map[ObjectName]*past{}, nodes: map[string]bool{}, forgets: forget}
}

// within takes in when the logs began and ended. One without a time tells nothing: it begins behind what was read.
func (b *beginning) within(logs []*Log) {
	for _, l := range logs {
		if l.First.IsZero() {
			continue
		}
		if b.at.IsZero() || l.First.Before(b.at) {
			b.at = l.First
		}
		if l.Last.After(b.end) {
			b.end = l.Last
		}
	}
}

// came reports whether the pod of that name is known to have come after the beginning.
func (b *beginning) came(pod types.NamespacedName) bool {
	p := b.pasts[ObjectName{"Pod", pod}]
	return p != nil && p.created
}

// note takes in an entry, of all in their order.
func (b *beginning) note(e *entry) {
	switch {
	case e.kind.Name == "Node":
		b.nodes[e.key.Name] = true
	case e.op == bind:
		b.nodes[e.node] = true
	case bindings.Assigned(e.object):
		b.nodes[e.object.(*corev1.Pod).Spec.NodeName] = true
	}
	id := ObjectName{e.kind.Name, e.key}
	p := b.pasts[id]
	if p == nil {
		p = &past{uid: e.uid}
		b.pasts[id] = p
		b.count++
		p.nth = b.count
	}
	if p.uid == "" {
		p.uid = e.uid
	}
	p.over = p.over || e.uid != "" && e.uid != p.uid
	if !p.over && p.base == nil {
		p.created = p.created || e.created
		p.bound = p.bound || e.op == bind
		if e.op == put || e.op == remove {
			p.base, p.when = e.object, e.time
		}
	}
	if p.created {
		p.base = nil
		if b.forgets && e.op == remove {
			b.gone = append(b.gone, departure{id, e.time})
		}
	}
	for len(b.gone) > 0 && e.time.Sub(b.gone[0].at) > overlaps {
		delete(b.pasts, b.gone[0].id)
		b.gone = b.gone[1:]
	}
}

// addSeed takes what is to be taken of a seed's objects.
func (b *beginning) addSeed(objects []runtime.Object) (f Fit) {
	if f.Foreign = b.isForeign(objects); f.Foreign {
		return f
	}
	for _, obj := range objects {
		m := obj.(metav1.Object)
		id := NameOf(obj)
		p := b.pasts[id]
		came := m.GetCreationTimestamp().Time
		switch {
		case came.After(b.end):
			f.Later++
		case p == nil && came.After(b.at):
			b.late = append(b.late, entry{op: put, kind: kinds.Kind{Name: id.Kind}, key: id.NamespacedName, uid: m.GetUID(), time: came.UTC(), object: obj, created: true})
			f.Used++
		case p == nil:
			b.objects = append(b.objects, before(obj, b.at, &past{}))
			f.Used++
		case p.uid != "" && p.uid != m.GetUID():
			if came.After(b.at) {
				f.Known++
			} else {
				f.Gone++
			}
		case p.created:
			f.Known++
		case p.base == nil || revisionOf(obj) <= revisionOf(p.base):
			p.base, p.uid = obj, m.GetUID()
			p.when = time.Time{}
			f.Used++
		default:
			f.Known++
		}
	}
	return f
}

// lasts reports whether objects of a kind live as long as a cluster, as a rule.
func lasts(kind string) bool {
	switch kind {
	case "Node", "Namespace", "PersistentVolume", "StorageClass":
		return true
	}
	return false
}

// isForeign reports whether objects are of another cluster: none of the nodes that the logs name is among them, or what has
// the same name is never the same.
func (b *beginning) isForeign(objects []runtime.Object) bool {
	same, other, nodes, named := 0, 0, 0, 0
	for _, obj := range objects {
		id := NameOf(obj)
		if id.Kind == "Node" {
			nodes++
			if b.nodes[id.Name] {
				named++
			}
		}
		if p := b.pasts[id]; p != nil && p.uid != "" && !p.created {
			switch {
			case p.uid == uidOf(obj):
				same++
			case lasts(id.Kind):
				other++
			}
		}
	}
	return same == 0 && (other > 0 || nodes > 0 && named == 0 && len(b.nodes) > 0)
}

// restore returns the objects that were there at the beginning, the oldest first. versions are the resourceVersions that
// the scheduler knew pods by when it first told of them, z what bindings gave pods.
func (b *beginning) restore(versions map[types.UID]string, z *bindings.Zones) []runtime.Object {
	all := slices.Clone(b.objects)
	for _, p := range slices.SortedFunc(maps.Values(b.pasts), func(a, b *past) int { return cmp.Compare(a.nth, b.nth) }) {
		if p.base == nil || p.created || p.base.(metav1.Object).GetCreationTimestamp().Time.After(b.at) {
			continue
		}
		obj := before(p.base, b.at, p)
		if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName == "" && !p.when.IsZero() {
			changed := *pod
			changed.ResourceVersion = versions[pod.UID]
			changed.Labels = z.Before(pod.Labels, p.base.(*corev1.Pod).Spec.NodeName)
			obj = &changed
		}
		all = append(all, obj)
	}
	slices.SortStableFunc(all, func(a, b runtime.Object) int {
		return a.(metav1.Object).GetCreationTimestamp().Compare(b.(metav1.Object).GetCreationTimestamp().Time)
	})
	return all
}

// before returns obj as it was at the beginning, as far as that can be known: without what shows that it happened later.
func before(obj runtime.Object, at time.Time, p *past) runtime.Object {
	switch o := obj.(type) {
	case *corev1.Pod:
		return podBefore(o, at, p)
	case *corev1.Node:
		return nodeBefore(o, at, p)
	}
	if m := obj.(metav1.Object); m.GetDeletionTimestamp() != nil && m.GetDeletionTimestamp().After(at) {
		out := obj.DeepCopyObject()
		out.(metav1.Object).SetDeletionTimestamp(nil)
		out.(metav1.Object).SetResourceVersion("")
		return out
	}
	return obj
}

func podBefore(pod *corev1.Pod, at time.Time, p *past) *corev1.Pod {
	out := *pod
	if t := pod.DeletionTimestamp; t != nil {
		grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
		if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
			grace = max(0, min(*s, 1<<31))
		}
		if t.Add(-time.Duration(grace) * time.Second).After(at) {
			out.DeletionTimestamp, out.ResourceVersion = nil, ""
		}
	}
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	since := at
	if i >= 0 {
		since = pod.Status.Conditions[i].LastTransitionTime.Time
	}
	if pod.Spec.NodeName != "" && (p.bound || since.After(at)) {
		out.Spec.NodeName = ""
		out.Status = corev1.PodStatus{Phase: corev1.PodPending}
		return &out
	}
	if pod.Spec.NodeName == "" && since.After(at) {
		out.Status.Conditions = slices.Delete(slices.Clone(pod.Status.Conditions), i, i+1)
		out.Status.NominatedNodeName = ""
	}
	if hasEnded := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed; hasEnded && pod.Spec.NodeName != "" &&
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.LastTransitionTime.After(at) }) {
		out.Status.Phase, out.ResourceVersion = corev1.PodRunning, ""
	}
	return &out
}

// nodeBefore takes back taints that came later. Of a state that the logs hold, which may be the first of several changes, it also takes
// back a cordon that its taint has yet to follow. A seed's state was whole when it was taken: its cordon has no taint where no node
// lifecycle controller gives it one, as on kwok's nodes.
func nodeBefore(node *corev1.Node, at time.Time, p *past) *corev1.Node {
	isCordon := func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }
	isLate := func(t corev1.Taint) bool { return t.TimeAdded != nil && t.TimeAdded.After(at) }
	cordoned, seeded := slices.ContainsFunc(node.Spec.Taints, isCordon), p.when.IsZero()
	if (seeded || cordoned == node.Spec.Unschedulable) && !slices.ContainsFunc(node.Spec.Taints, isLate) {
		return node
	}
	out := *node
	out.ResourceVersion = ""
	out.Spec.Taints = slices.DeleteFunc(slices.Clone(node.Spec.Taints), isLate)
	if cordoned || !seeded {
		out.Spec.Unschedulable = slices.ContainsFunc(out.Spec.Taints, isCordon)
	}
	return &out
}

func revisionOf(obj runtime.Object) uint64 {
	rv, _ := strconv.ParseUint(obj.(metav1.Object).GetResourceVersion(), 10, 64)
	return rv
}
