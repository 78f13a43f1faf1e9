package files

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// namesakes finds out whether schedulers' logs and audit logs name the same pods, while both are read. What is remembered is bounded: it
// may not find out, though they do.
type namesakes struct {
	pods map[types.NamespacedName]bool // of the audit logs, that are there or were until lately
	gone []departure
	logs []logNames
}

// logNames are the pods that a scheduler's log names.
type logNames struct {
	first   []sources.Event               // that names one
	strange map[types.NamespacedName]bool // that are not known
	known   bool                          // one of them is of the audit logs
}

// departure is when a pod was deleted.
type departure struct {
	at  time.Time
	pod types.NamespacedName
}

const (
	// namedFor is how long after its end a pod is remembered.
	namedFor = time.Hour
	// maxStrange is how many pods are remembered that none of the other logs names.
	maxStrange = 100_000
)

// newNamesakes returns those of so many logs, which are compared with others or not: then no pod of them is strange.
func newNamesakes(logs int, compared bool) namesakes {
	n := namesakes{pods: map[types.NamespacedName]bool{}, logs: make([]logNames, logs)}
	for i := range n.logs {
		n.logs[i].known = !compared
	}
	return n
}

// first returns the first event that names a pod in the nth log, if there is one.
func (n *namesakes) first(nth int) []sources.Event { return n.logs[nth].first }

// areStrangers reports whether a log names pods of which none is known.
func (n *namesakes) areStrangers() bool {
	return slices.ContainsFunc(n.logs, func(l logNames) bool { return len(l.first) > 0 && !l.known })
}

// noteChange takes in what an audit log tells.
func (n *namesakes) noteChange(ev sources.Event) {
	if !n.areUnknown() {
		n.pods, n.gone = nil, nil
		return
	}
	for len(n.gone) > 0 && ev.Time.Sub(n.gone[0].at) > namedFor {
		delete(n.pods, n.gone[0].pod)
		n.gone = n.gone[1:]
	}
	var pod types.NamespacedName
	switch f := ev.Fact.(type) {
	case *sources.StatusPatched:
		pod = f.Pod
	case *sources.ObjectChange:
		object, is := f.Object.(*corev1.Pod)
		if !is {
			return
		}
		if pod = (types.NamespacedName{Namespace: object.Namespace, Name: object.Name}); f.Verb == sources.Deleted {
			n.gone = append(n.gone, departure{ev.Time, pod})
		}
	default:
		return
	}
	n.pods[pod] = true
	for i := range n.logs {
		if l := &n.logs[i]; l.strange[pod] {
			l.known, l.strange = true, nil
		}
	}
}

// areUnknown reports whether there is a log of which no pod is known.
func (n *namesakes) areUnknown() bool {
	return slices.ContainsFunc(n.logs, func(l logNames) bool { return !l.known })
}

// noteAll yields the events of the nth log, and takes them in.
func (n *namesakes) noteAll(nth int, events iter.Seq2[sources.Event, error]) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		for ev, err := range events {
			if err == nil {
				n.logs[nth].note(ev, n.pods)
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// note takes in an event of the log. pods are those of the audit logs.
func (l *logNames) note(ev sources.Event, pods map[types.NamespacedName]bool) {
	if l.known && len(l.first) > 0 {
		return
	}
	pod, names := sources.LoggedPod(ev.Fact)
	if !names {
		return
	}
	if len(l.first) == 0 {
		l.first = []sources.Event{ev}
	}
	switch {
	case l.known:
	case pods[pod]:
		l.known, l.strange = true, nil
	case len(l.strange) < maxStrange:
		if l.strange == nil {
			l.strange = map[types.NamespacedName]bool{}
		}
		l.strange[pod] = true
	}
}
