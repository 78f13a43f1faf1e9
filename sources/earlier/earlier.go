// Package earlier works out what was in a cluster before its audit logs begin. Most logs begin in the middle of a cluster's life. What
// was there then is found in what they show of it later: an update is answered with an object that was there before, nearly as it is
// now. A seed tells of the rest.
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

// Change is what a log tells of an object.
type Change struct {
	Of  sources.ObjectName
	UID types.UID // empty if it is not known
	At  time.Time
	// Object is what became of it, or if it is gone, its last state. Nil if that is not told.
	Object runtime.Object
	// Created is true if it was made then, Removed if it is gone.
	Created, Removed bool
	// Node is where the pod was bound then. Empty for all else.
	Node string
}

// Beginning is what was there when the logs began.
type Beginning struct {
	at, end time.Time
	pasts   map[sources.ObjectName]*past
	count   int             // of all pasts that were noted
	nodes   map[string]bool // that the logs name
	objects []runtime.Object
	late    []Change
	forget  time.Duration
	gone    []departure // that are to be forgotten
}

// departure is when an object was removed that had come after the beginning.
type departure struct {
	of sources.ObjectName
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

// New returns one of logs of which nothing is known. What came and went is forgotten so long after it went; 0: never, for a seed that
// has to be compared with it.
func New(forget time.Duration) *Beginning {
	return &Beginning{pasts: map[sources.ObjectName]*past{}, nodes: map[string]bool{}, forget: forget}
}

// Within takes in when a log began and ended. One without a time tells nothing: it begins behind what was read.
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

// At is when the logs began.
func (b *Beginning) At() time.Time { return b.at }

// Came reports whether the pod of that name is known to have come after the beginning.
func (b *Beginning) Came(pod types.NamespacedName) bool {
	p := b.pasts[sources.ObjectName{Kind: "Pod", NamespacedName: pod}]
	return p != nil && p.created
}

// Note takes in a change, of all in their order.
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

// Late are the objects of a seed that came after the beginning, and of which the logs don't tell.
func (b *Beginning) Late() []Change { return b.late }

// Empty reports whether nothing is known to have been there: Restore returns no objects.
func (b *Beginning) Empty() bool {
	for _, p := range b.pasts {
		if b.wasThere(p) {
			return false
		}
	}
	return len(b.objects) == 0
}

// wasThere reports whether the first object of a name was there at the beginning, and a state of it is known.
func (b *Beginning) wasThere(p *past) bool {
	return p.base != nil && !p.created && !p.base.(metav1.Object).GetCreationTimestamp().Time.After(b.at)
}

// Restore returns the objects that were there at the beginning, the oldest first. versions are the resourceVersions that
// the scheduler knew pods by when it first told of them, z what bindings gave pods.
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
