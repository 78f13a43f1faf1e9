package board

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
)

// Column is a column that the pods of a tier can be sorted by.
type Column string

// The columns.
const (
	// ByQueue is the order in which the queue would take the pods: see Board.At. It is the zero Column.
	ByQueue     Column = ""
	ByName      Column = "name"
	ByNamespace Column = "namespace"
	ByPriority  Column = "priority"
	ByAttempts  Column = "attempts"
	// ByWaiting is the time since the pod entered the queue, ByDwell the time since it entered its tier.
	ByWaiting Column = "waiting"
	ByDwell   Column = "dwell"
	// ByExpiry is the backoff expiry, or for unschedulable and gated pods the last failure, from which
	// the leftover flush counts.
	ByExpiry Column = "expiry"
	ByPlugin Column = "plugin"
	ByOwner  Column = "owner"
	// ByNode is the node that the pod is nominated to.
	ByNode Column = "node"
)

// Columns returns all columns.
func Columns() []Column {
	return []Column{ByQueue, ByName, ByNamespace, ByPriority, ByAttempts, ByWaiting, ByDwell, ByExpiry, ByPlugin, ByOwner, ByNode}
}

// Sort is an order of the pods of a tier: by a column and then by name, optionally reversed.
type Sort struct {
	By      Column `json:"by"`
	Reverse bool   `json:"reverse,omitempty"`
}

// Known reports whether the column exists.
func (s Sort) Known() bool { return slices.Contains(Columns(), s.By) }

// Order returns the sort order for the pods of tier. It is total.
func (s Sort) Order(tier queue.Tier) func(a, b *Pod) bool {
	by := orders[tier]
	if s.By != ByQueue {
		by = func(a, b *Pod) bool { return less(s.compare(a, b), 0, a, b) }
	}
	if s.Reverse {
		return func(a, b *Pod) bool { return by(b, a) }
	}
	return by
}

// compare compares two pods by the column. For times, the longest-waiting pod comes first, as in the
// queue.
func (s Sort) compare(a, b *Pod) int {
	switch s.By {
	case ByNamespace:
		return strings.Compare(a.Key.Namespace, b.Key.Namespace)
	case ByPriority:
		return cmp.Compare(b.Priority, a.Priority)
	case ByAttempts:
		return cmp.Compare(b.Attempts, a.Attempts)
	case ByWaiting:
		return a.Arrived.Compare(b.Arrived)
	case ByDwell:
		return a.Since.Compare(b.Since)
	case ByExpiry:
		return a.expiry().Compare(b.expiry())
	case ByPlugin:
		return slices.Compare(a.blockingPlugins(), b.blockingPlugins())
	case ByOwner:
		aKind, aName := a.Owner()
		bKind, bName := b.Owner()
		return cmp.Or(strings.Compare(a.Key.Namespace, b.Key.Namespace), strings.Compare(aName, bName), strings.Compare(aKind, bKind))
	case ByNode:
		return compareLast(a.NominatedNode, b.NominatedNode)
	default:
		return strings.Compare(a.Key.Name, b.Key.Name)
	}
}

// expiry returns the time that p's next retry is counted from.
func (p *Pod) expiry() time.Time {
	switch p.Listed() {
	case queue.Unschedulable, queue.Gated:
		return p.Timestamp
	}
	return p.BackoffExpiry
}

// compareLast compares two names. An empty name sorts last.
func compareLast(a, b string) int {
	if (a == "") != (b == "") {
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// blockingPlugins returns the plugins that keep p from being scheduled: the one that gates it, or those
// that rejected it.
func (p *Pod) blockingPlugins() []string {
	if p.GatingPlugin != "" {
		return []string{p.GatingPlugin}
	}
	return p.RejectorPlugins()
}
