package decisions

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// outcome is an attempt's result in the log: the node, or the rejection.
type outcome struct {
	cycle.Verdict
	line int
}

// outcomes returns the outcome of every attempt, by its first line.
func outcomes(log []line) map[int]outcome {
	out := map[int]outcome{}
	begun := map[types.NamespacedName]int{}
	for i, l := range log {
		begin, ok := begun[l.pod]
		o := out[begin]
		switch {
		case l.kind == attempting:
			begun[l.pod] = i
			continue
		case !ok:
			continue
		case l.kind == binding:
			o.line, o.Node = i, l.node
			delete(begun, l.pod)
		case l.kind == noFit, l.kind == retrying:
			o.line, o.Message = i, l.err
		case l.kind == noNodes:
			o.line, o.Message = i, "no nodes available to schedule pods" // upstream's ErrNoNodesAvailable, which the line leaves out
		case l.kind == requeued:
			o.Plugins = l.plugins
			delete(begun, l.pod)
		default:
			continue
		}
		out[begin] = o
	}
	return out
}

// attempt is an attempt of the real scheduler with the model's verdict.
type attempt struct {
	line  int
	pod   *v1.Pod
	real  outcome
	ours  cycle.Verdict
	cause string // of a difference, or ""
	// misplaced is the error of placing the pod on the node that the real scheduler chose.
	misplaced error
}

// replayer is the model at a line of the log.
type replayer struct {
	t        *testing.T
	log      []line
	arrivals []arrival // remaining
	outcomes map[int]outcome
	sched    *cycle.Scheduler
	queue    *queue.Queue // for nominations only
	pods     map[types.NamespacedName]*v1.Pod
	placed   map[types.UID]*cycle.Binding

	attempts []*attempt
	// earlier are the verdicts without the changes just before an attempt, by its line.
	earlier map[int][]earlier
}

// replay applies the changes to the model, and gets its verdict at every attempt.
func replay(t *testing.T, all []arrival, log []line) []*attempt {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{
		t: t, log: log, arrivals: all, outcomes: outcomes(log), pods: map[types.NamespacedName]*v1.Pod{},
		placed: map[types.UID]*cycle.Binding{}, earlier: map[int][]earlier{},
	}
	if r.sched, err = cycle.New(cfg, 0); err != nil {
		t.Fatal(err)
	}
	defer r.sched.Close()
	r.queue = queue.New(cfg.Queue, r.sched.Plugins(), noObserver{})
	r.sched.Drive(r.queue)
	for i := range log {
		for len(r.arrivals) > 0 && r.arrivals[0].line <= i {
			r.judgeBefore()
			r.apply(r.arrivals[0])
			r.arrivals = r.arrivals[1:]
		}
		r.step(i)
	}
	return r.attempts
}

// noObserver ignores the queue's moves.
type noObserver struct{}

func (noObserver) Moved(queue.Transition) {}
func (noObserver) Failed(error)           {}

func (r *replayer) apply(h arrival) {
	var err error
	now := r.log[h.line].at
	pod, isPod := h.Object.(*v1.Pod)
	if h.Verb == sources.Deleted {
		err = r.sched.Remove(now, h.Object)
	} else {
		err = r.sched.Put(now, h.Object)
	}
	if err != nil {
		r.t.Error(err)
	}
	if !isPod {
		return
	}
	if key := nameOf(pod); h.Verb == sources.Deleted {
		delete(r.pods, key)
	} else {
		r.pods[key] = pod
	}
}

func nameOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// step applies a line of the log to the model.
func (r *replayer) step(i int) {
	l := &r.log[i]
	pod := r.pods[l.pod]
	if pod == nil {
		return // not known, or gone meanwhile
	}
	switch l.kind {
	case attempting:
		if o, ok := r.outcomes[i]; ok {
			r.attempt(i, pod, o)
		}
	case requeued:
		if b := r.placed[pod.UID]; b != nil {
			r.sched.Forget(b) // the binding failed
			delete(r.placed, pod.UID)
		}
		_ = r.queue.AddUnschedulableIfNotPresent(l.at, pod, queue.Rejection{})
	case updatesCondition:
		node := pod.Status.NominatedNodeName
		if l.overrides {
			node = l.node
		}
		if pod.Spec.NodeName == "" {
			r.queue.AddNominatedPod(pod, node)
		}
	case bound:
		r.queue.Bound(l.at, pod.UID)
		delete(r.placed, pod.UID)
	}
}

// attempt judges pod, and then lets it be where the real scheduler put it: it assumes so before the
// attempt ends.
func (r *replayer) attempt(i int, pod *v1.Pod, o outcome) {
	now := r.log[i].at
	r.queue.Observe(now, queue.Observation{Pod: pod, To: queue.InFlight})
	a := &attempt{line: i, pod: pod, real: o, ours: r.judge(pod)}
	r.attempts = append(r.attempts, a)
	if !a.same(a.ours) {
		a.cause = r.cause(a)
	}
	if o.Node == "" {
		return
	}
	var b *cycle.Binding
	if b, a.misplaced = r.sched.Place(pod, o.Node); a.misplaced == nil {
		r.placed[pod.UID] = b
	}
}

func (r *replayer) judge(pod *v1.Pod) cycle.Verdict {
	v, err := r.sched.Judge(pod)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// same reports whether v equals the real scheduler's result: the pod fits, or was rejected by the
// same plugins.
func (a *attempt) same(v cycle.Verdict) bool {
	if a.real.Node != "" || v.Node != "" {
		return a.real.Node != "" && v.Node != ""
	}
	return slices.Equal(a.real.Plugins, v.Plugins)
}
