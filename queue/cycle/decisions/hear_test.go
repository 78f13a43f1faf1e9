package decisions

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// hearing is a change of an object and the line of the log before which the scheduler heard of it.
type hearing struct {
	*sources.ObjectChange
	line int
	// told is true if that line itself tells of the change. If not, it is the first one after the likely
	// time.
	told bool
}

// watchDelay is how long after the API server's answer the scheduler hears of a change: the median where
// the log tells.
const watchDelay = time.Millisecond

// timing says how to find out when the scheduler heard of the changes that its log does not tell.
type timing struct {
	// claims is false if the log's word on claims is not to be used.
	claims bool
	delay  time.Duration
}

// object is what lines and changes name.
type object struct {
	kind string
	key  types.NamespacedName
}

// change is a change of an object.
type change struct {
	*sources.ObjectChange
	at    time.Time
	tells string // what the scheduler's log says when it hears of it
}

// hearings finds out when the scheduler heard of each change, in the order in which it did: by the log's
// own lines about pods, nodes and, where a plugin of a waiting pod had to say something, claims; else by
// the time of the change. unknown are the stretches of the log in which the scheduler knew of an object
// that the recording does not have.
func hearings(events []sources.Event, log []line, how timing) (heard []hearing, unknown []span) {
	changes, order := byObject(events)
	about := map[object][]int{}
	for i := range log {
		o, ok := log[i].about()
		if before := about[o]; ok && (how.claims || o.kind != claimKind) &&
			(len(before) == 0 || !log[i].repeats(&log[before[len(before)-1]])) {
			about[o] = append(before, i)
		}
	}
	last := log[len(log)-1].at
	for _, o := range order {
		pairs := align(changes[o], about[o], log)
		before := 0
		for i, c := range changes[o] {
			h := hearing{ObjectChange: c.ObjectChange, line: pairs[i], told: pairs[i] >= 0}
			if !h.told && c.at.After(last) {
				break // the scheduler had stopped
			}
			if !h.told {
				h.line, _ = slices.BinarySearchFunc(log, c.at.Add(how.delay), func(l line, t time.Time) int { return l.at.Compare(t) })
			}
			h.line = max(h.line, before)
			before = h.line
			heard = append(heard, h)
		}
		unknown = append(unknown, missing(about[o], pairs, log)...)
		delete(about, o)
	}
	for o, lines := range about {
		if o.kind == claimKind {
			unknown = append(unknown, span{lines[0], len(log)})
		}
		unknown = append(unknown, missing(lines, nil, log)...)
	}
	slices.SortStableFunc(heard, func(a, b hearing) int { return a.line - b.line })
	return heard, unknown
}

// span is from one line of the log up to another.
type span struct{ from, to int }

// missing returns the spans in which the scheduler knew an object, as its lines tell, whose addition is
// not among the changes. A scheduler that starts again hears of the additions again.
func missing(lines, paired []int, log []line) (spans []span) {
	known, open := false, false
	for _, l := range lines {
		switch log[l].says {
		case addPod, addAssigned, addNode:
			known = known || slices.Contains(paired, l)
			if !known && !open {
				spans = append(spans, span{l, len(log)})
				open = true
			}
		case deletePod, deleteAssigned, deleteNode:
			if open {
				spans[len(spans)-1].to = l
			}
			known, open = false, false
		}
	}
	return spans
}

// byObject sorts the changes by what they change. order has the objects as they first come.
func byObject(events []sources.Event) (changes map[object][]change, order []object) {
	changes = map[object][]change{}
	watched := map[object]*v1.Pod{}
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		m := c.Object.(metav1.Object)
		o := object{c.Object.GetObjectKind().GroupVersionKind().Kind, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
		if changes[o] == nil {
			order = append(order, o)
		}
		changes[o] = append(changes[o], change{c, ev.Time, tells(watched, o, c)})
	}
	return changes, order
}

const claimKind = "PersistentVolumeClaim"

// about returns the object of whose change the line tells.
func (l *line) about() (object, bool) {
	switch l.says {
	case addNode, updateNode, deleteNode:
		return object{"Node", l.pod}, true
	case addPod, updatePod, deletePod, addAssigned, updateAssigned, deleteAssigned:
		return object{"Pod", l.pod}, true
	case addClaim, updateClaim:
		return object{claimKind, key(l.claim)}, true
	}
	return object{}, false
}

// repeats reports whether l and before, the last line about the same object, tell of one change: of a
// binding, that the pod is on a node and that it is not waiting any more; of a claim, what the plugins of
// several waiting pods say to it.
func (l *line) repeats(before *line) bool {
	switch l.says {
	case deletePod:
		return before.says == addAssigned
	case addClaim:
		return before.says == addClaim
	case updateClaim:
		return l.pod != before.pod && l.at.Sub(before.at) < time.Millisecond
	}
	return false
}

// tells returns what the log says of c, as far as c alone determines it. watched are the pods that
// upstream's watch shows: not those that have ended. (eventhandlers.go.)
func tells(watched map[object]*v1.Pod, o object, c *sources.ObjectChange) string {
	switch o.kind {
	case "Node":
		return map[sources.Verb]string{sources.Added: addNode, sources.Updated: updateNode, sources.Deleted: deleteNode}[c.Verb]
	case claimKind:
		return map[sources.Verb]string{sources.Added: addClaim, sources.Updated: updateClaim}[c.Verb]
	case "Pod":
	default:
		return ""
	}
	old, pod := watched[o], c.Object.(*v1.Pod)
	if c.Verb == sources.Deleted || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
		delete(watched, o)
		switch {
		case old == nil:
			return ""
		case old.Spec.NodeName == "":
			return deletePod
		}
		return deleteAssigned
	}
	watched[o] = pod
	switch assigned := pod.Spec.NodeName != ""; {
	case old == nil && !assigned:
		return addPod
	case old == nil || assigned && old.Spec.NodeName == "":
		return addAssigned
	case assigned:
		return updateAssigned
	}
	return updatePod
}
