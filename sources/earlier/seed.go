package earlier

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Seed is the state of a cluster at one moment near the beginning of its logs.
type Seed struct {
	// Objects are all objects of some kinds, each once.
	Objects []runtime.Object
	// Tried has the attempts known from before that.
	Tried []*sources.Tried
	// Began is when the scheduler began to work its queue. Zero if not known.
	Began time.Time
}

// Attach returns the events for a scheduler that was at work at that time, when these objects existed, with the seed's
// attempts up to then.
func (s Seed) Attach(at time.Time, there map[sources.ObjectName]runtime.Object) []sources.Event {
	var events []sources.Event
	for _, t := range s.Tried {
		if pod, is := there[sources.ObjectName{Kind: "Pod", NamespacedName: t.Pod}]; is && uidOf(pod) == t.UID && !t.Failed.After(at) {
			events = append(events, sources.Event{Time: at, Fact: t})
		}
	}
	began := s.Began
	if began.After(at) {
		began = time.Time{}
	}
	return append(events, sources.Event{Time: at, Fact: &sources.Attached{Began: began}})
}

// Fit counts how the objects of a seed were used.
type Fit struct {
	// Used is how many were used, and Known how many the logs contain themselves.
	Used, Known int
	// Gone is how many were replaced by others with their names when the logs began, and Later how many were created after
	// the logs.
	Gone, Later int
	// Foreign is true if the seed is of another cluster. Then it is not used.
	Foreign bool
}

// AddSeed adds the objects of a seed that fit.
func (b *Beginning) AddSeed(objects []runtime.Object) (f Fit) {
	if f.Foreign = b.isForeign(objects); f.Foreign {
		return f
	}
	for _, obj := range objects {
		m := obj.(metav1.Object)
		id := sources.NameOf(obj)
		p := b.pasts[id]
		came := m.GetCreationTimestamp().Time
		switch {
		case came.After(b.end):
			f.Later++
		case p == nil && came.After(b.at):
			b.late = append(b.late, Change{Of: id, UID: m.GetUID(), At: came.UTC(), Object: obj, Created: true})
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

// lasts reports whether objects of a kind usually live as long as their cluster.
func lasts(kind string) bool {
	switch kind {
	case "Node", "Namespace", "PersistentVolume", "StorageClass":
		return true
	}
	return false
}

// isForeign reports whether objects are of another cluster: they include none of the nodes in the logs, or none of the
// objects with equal names is the same.
func (b *Beginning) isForeign(objects []runtime.Object) bool {
	same, other, nodes, named := 0, 0, 0, 0
	for _, obj := range objects {
		id := sources.NameOf(obj)
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

func revisionOf(obj runtime.Object) uint64 {
	rv, _ := strconv.ParseUint(obj.(metav1.Object).GetResourceVersion(), 10, 64)
	return rv
}

func uidOf(obj runtime.Object) types.UID { return obj.(metav1.Object).GetUID() }
