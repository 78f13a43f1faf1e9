package decisions

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// arrival is a change of an object and the log line before which the scheduler received it.
type arrival struct {
	*sources.ObjectChange
	line int
	// inLog is true if the line logs the change. Otherwise it is the first line after the estimated time.
	inLog bool
}

// watchDelay is the delay between the API server's response and the arrival of a change: the median
// of those in the log.
const watchDelay = time.Millisecond

// timing selects how to estimate the arrival of changes that are not in the log.
type timing struct {
	// claims is false to ignore the log's lines about claims.
	claims bool
	delay  time.Duration
}

// object identifies the subject of a line or a change.
type object struct {
	kind string
	key  types.NamespacedName
}

// change is a change of an object.
type change struct {
	*sources.ObjectChange
	at     time.Time
	logged string // message that the scheduler logs for it
}

// arrivals returns all changes in the order of their arrival. It uses the log's lines about pods,
// nodes and, if a plugin of a waiting pod logged them, claims, and otherwise the time of the
// change. unknown are the spans in which the scheduler knew an object that is not in the recording.
func arrivals(events []sources.Event, log []line, how timing) (all []arrival, unknown []span) {
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
			h := arrival{ObjectChange: c.ObjectChange, line: pairs[i], inLog: pairs[i] >= 0}
			if !h.inLog && c.at.After(last) {
				break // the scheduler had stopped
			}
			if !h.inLog {
				h.line, _ = slices.BinarySearchFunc(log, c.at.Add(how.delay), func(l line, t time.Time) int { return l.at.Compare(t) })
			}
			h.line = max(h.line, before)
			before = h.line
			all = append(all, h)
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
	slices.SortStableFunc(all, func(a, b arrival) int { return a.line - b.line })
	return all, unknown
}

// span is a range of log lines.
type span struct{ from, to int }

// missing returns the spans in which the scheduler logged an object whose addition is not among the
// changes. A restarted scheduler receives the additions again.
func missing(lines, paired []int, log []line) (spans []span) {
	known, open := false, false
	for _, l := range lines {
		switch log[l].kind {
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

// byObject groups the changes by object. order lists the objects in order of appearance.
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
		changes[o] = append(changes[o], change{c, ev.Time, logged(watched, o, c)})
	}
	return changes, order
}

const claimKind = "PersistentVolumeClaim"

// about returns the object whose change the line logs.
func (l *line) about() (object, bool) {
	switch l.kind {
	case addNode, updateNode, deleteNode:
		return object{"Node", l.pod}, true
	case addPod, updatePod, deletePod, addAssigned, updateAssigned, deleteAssigned:
		return object{"Pod", l.pod}, true
	case addClaim, updateClaim:
		return object{claimKind, key(l.claim)}, true
	}
	return object{}, false
}

// repeats reports whether l logs the same change as before, the previous line about the object: a
// binding appears as the addition of an assigned pod and the deletion of a waiting one, and the
// plugins of several waiting pods log a claim.
func (l *line) repeats(before *line) bool {
	switch l.kind {
	case deletePod:
		return before.kind == addAssigned
	case addClaim:
		return before.kind == addClaim
	case updateClaim:
		return l.pod != before.pod && l.at.Sub(before.at) < time.Millisecond
	}
	return false
}

// logged returns the log message for c, as far as it depends on c only. watched are the non-
// terminal pods, which upstream watches (eventhandlers.go).
func logged(watched map[object]*v1.Pod, o object, c *sources.ObjectChange) string {
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
