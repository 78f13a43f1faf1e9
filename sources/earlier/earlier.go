// Package earlier reconstructs the objects of a cluster from before its audit logs. Most logs begin in the middle of a
// cluster's life, and show earlier objects only later: the response to an update contains an older object, nearly unchanged.
// A seed has the rest.
package earlier

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
	"github.com/schedq/schedq/sources/objects"
)

// Change is a log's change of an object.
type Change struct {
	Of  sources.ObjectName
	UID types.UID // empty if unknown
	At  time.Time
	// Object is its new state, or its last one if it is gone. Nil if the log does not have it.
	Object runtime.Object
	// Created is true if it was created then, Removed if it is gone.
	Created, Removed bool
	// Node is the node to which the pod was bound then. Empty for other changes.
	Node string
}

// Beginning has the objects that existed when the logs began.
type Beginning struct {
	at, end time.Time
	pasts   map[sources.ObjectName]*past
	count   int             // number of pasts
	nodes   map[string]bool // names of nodes in the logs
	objects []runtime.Object
	late    []Change
	forget  time.Duration
	gone    []departure // objects to forget
}

// departure is the removal of an object that was created after the beginning.
type departure struct {
	of sources.ObjectName
	at time.Time
}

// past has the logs' facts about the first object with a name, up to its first state in them.
type past struct {
	uid     types.UID
	created bool           // in the logs
	base    runtime.Object // nil if there is none
	when    time.Time      // of base
	bound   bool           // before that, and after the beginning
	over    bool           // later changes are of another object with that name
	nth     int            // its position among all
}

// New returns an empty Beginning. It forgets objects that were created and removed in the logs that long after their
// removal; 0 means never, for comparison with a seed.
func New(forget time.Duration) *Beginning {
	return &Beginning{pasts: map[sources.ObjectName]*past{}, nodes: map[string]bool{}, forget: forget}
}

// Within records when a log began and ended. It ignores a log without a time, which begins after the part that was read.
func (b *Beginning) Within(first, last time.Time) {
	if first.IsZero() {
		return
	}
	if b.at.IsZero() || first.Before(b.at) {
		b.at = first
	}
	if last.After(b.end) {
		b.end = last
	}
}

// At returns when the logs began.
func (b *Beginning) At() time.Time { return b.at }

// Came reports whether the pod with that name is known to have been created after the beginning.
func (b *Beginning) Came(pod types.NamespacedName) bool {
	p := b.pasts[sources.ObjectName{Kind: "Pod", NamespacedName: pod}]
	return p != nil && p.created
}

// Note records a change. Changes must be in order.
func (b *Beginning) Note(c Change) {
	switch {
	case c.Of.Kind == "Node":
		b.nodes[c.Of.Name] = true
	case c.Node != "":
		b.nodes[c.Node] = true
	case objects.Assigned(c.Object):
		b.nodes[c.Object.(*corev1.Pod).Spec.NodeName] = true
	}
	p := b.pasts[c.Of]
	if p == nil {
		p = &past{uid: c.UID}
		b.pasts[c.Of] = p
		b.count++
		p.nth = b.count
	}
	if p.uid == "" {
		p.uid = c.UID
	}
	p.over = p.over || c.UID != "" && c.UID != p.uid
	if !p.over && p.base == nil {
		p.created = p.created || c.Created
		p.bound = p.bound || c.Node != ""
		if c.Object != nil {
			p.base, p.when = c.Object, c.At
		}
	}
	if p.created {
		p.base = nil
		if b.forget > 0 && c.Removed {
			b.gone = append(b.gone, departure{c.Of, c.At})
		}
	}
	for len(b.gone) > 0 && c.At.Sub(b.gone[0].at) > b.forget {
		delete(b.pasts, b.gone[0].of)
		b.gone = b.gone[1:]
	}
}

// Late returns the objects of a seed that were created after the beginning and are not in the logs.
func (b *Beginning) Late() []Change { return b.late }

// Empty reports whether no earlier object is known: Restore returns none.
func (b *Beginning) Empty() bool {
	for _, p := range b.pasts {
		if b.wasThere(p) {
			return false
		}
	}
	return len(b.objects) == 0
}

// wasThere reports whether the first object with a name existed at the beginning, and a state of it is known.
func (b *Beginning) wasThere(p *past) bool {
	return p.base != nil && !p.created && !p.base.(metav1.Object).GetCreationTimestamp().Time.After(b.at)
}

// Restore returns the objects that existed at the beginning, the oldest first. versions are the resourceVersions of pods in
// the scheduler's first Events about them, and z has the changes that bindings make to pods.
func (b *Beginning) Restore(versions map[types.UID]string, z *objects.Zones) []runtime.Object {
	all := slices.Clone(b.objects)
	for _, p := range slices.SortedFunc(maps.Values(b.pasts), func(a, b *past) int { return cmp.Compare(a.nth, b.nth) }) {
		if !b.wasThere(p) {
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
