package board

import (
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Pod is a pod as a person sees it: what the queue knows of it and what the source told about it, at
// one moment. It is never modified.
type Pod struct {
	queue.PodInfo
	Key types.NamespacedName
	// Priority is what activeQ sorts by first.
	Priority int32
	// Since is when the pod entered its tier, and Arrived when it came to the queue.
	Since, Arrived time.Time
	// Observed is true if the pod is where the real scheduler was seen to have it, false if the model
	// put it there.
	Observed bool
	// Estimated is true if the pod was there before its source came to the scheduler: attempts, times and
	// tier are what the cluster's traces of it suggest, until the next attempt.
	Estimated bool
	// Message is the scheduler's explanation of the last failed attempt.
	Message sources.SafeText
	// Verdict is what the last failed attempt came to in the model. Nil if there was none.
	Verdict *verdict.Verdict
	// Because is why the model put the pod where it is. Nil if it did not.
	Because *reason.Because
	// Group is the pod group that it is queued with. Empty if it is queued alone.
	Group string
	// Node is where the pod was bound. Empty before.
	Node string
	// Last is the move that brought the pod here, and the end of the chain of all its moves.
	Last *Transition

	packed *Packed // the object, if it lies in an archive and not in PodInfo
}

// Object returns the pod's object, which must not be modified. Any goroutine may call it.
func (p *Pod) Object() *v1.Pod {
	if p.packed != nil {
		return p.packed.object()
	}
	return p.PodInfo.Pod
}

// KeepIn says that the pod's object is packed. It must be said before p is handed out.
func (p *Pod) KeepIn(packed *Packed) { p.packed = packed }

// Packed is a pod's object as it lies in an archive. Of many pods few are looked at, so it is unpacked when it is asked for.
type Packed struct {
	bytes  []byte // in protobuf
	opened atomic.Pointer[v1.Pod]
}

// Pack makes p, which nobody has yet, the object that bytes are in protobuf. They must not change any more.
func (p *Packed) Pack(bytes []byte) { p.bytes = bytes }

// object returns the object. One that can't be unpacked is empty: whoever reads an archive has compared its checksum.
func (p *Packed) object() *v1.Pod {
	if pod := p.opened.Load(); pod != nil {
		return pod
	}
	pod := &v1.Pod{}
	if err := pod.Unmarshal(p.bytes); err != nil {
		pod = &v1.Pod{}
	}
	p.opened.CompareAndSwap(nil, pod)
	return p.opened.Load()
}

// RejectorPlugins returns all plugins that rejected the last attempt, sorted within each kind.
func (p *Pod) RejectorPlugins() []string {
	if len(p.PendingPlugins) == 0 {
		return p.UnschedulablePlugins
	}
	return append(append([]string{}, p.UnschedulablePlugins...), p.PendingPlugins...)
}

// PriorityKnown reports whether Priority is the pod's, and not 0 for want of its object.
func (p *Pod) PriorityKnown() bool { return p.Object().Spec.Priority != nil }

// Labels returns the pod's labels, which must not be modified.
func (p *Pod) Labels() map[string]string { return p.Object().Labels }

// Owner returns the pod's controller. Both are empty if it has none, or if it is not known.
func (p *Pod) Owner() (kind, name string) {
	for _, o := range p.Object().OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return o.Kind, o.Name
		}
	}
	return "", ""
}

// LastVerdict returns what p's last failed attempt came to: of the model's attempt if that says what the
// scheduler said, and otherwise what the scheduler's message tells. modelled is true of the first. It is nil
// if no attempt is known to have failed.
func (p *Pod) LastVerdict() (v *verdict.Verdict, modelled bool) {
	switch {
	case p.Message == "" || p.UnschedulableCount+p.ConsecutiveErrorsCount == 0:
		return nil, false
	case p.Verdict != nil && p.Verdict.Message == p.Message:
		return p.Verdict, true
	}
	v = &verdict.Verdict{At: p.Timestamp, Message: p.Message}
	v.Nodes, v.Reasons, _ = verdict.ReadMessage(string(p.Message))
	plugins := p.RejectorPlugins()
	for i := range v.Reasons {
		r := &v.Reasons[i]
		if r.Plugin = verdict.PluginOf(string(r.Text)); r.Plugin == "" && len(plugins) == 1 && plugins[0] != verdict.UnknownPlugin {
			r.Plugin = plugins[0]
		}
	}
	return v, false
}

// ReadObject makes pod p's object, and takes over what it says.
func (p *Pod) ReadObject(pod *v1.Pod) {
	p.PodInfo.Pod, p.packed = pod, nil
	if pod.Spec.Priority != nil {
		p.Priority = *pod.Spec.Priority
	}
	if pod.Spec.NodeName != "" {
		p.Node = pod.Spec.NodeName
	}
}
