package board

import (
	"slices"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Pod is a pod at one moment: what the queue and the source know about it. It is never modified.
type Pod struct {
	queue.PodInfo
	Key types.NamespacedName
	// Priority is the first sort key of activeQ.
	Priority int32
	// Since is when the pod entered its tier, at the earliest: see FailedBy. Arrived is when it was
	// created, in whole seconds, or when it entered the queue if that was observed.
	Since, Arrived time.Time
	// Observed is true if the real scheduler was observed to have the pod where it is, false if the
	// model put it there.
	Observed bool
	// Estimated is true if the pod is older than its source's observations: its attempts, times and tier
	// are estimated from its object and Events until its next attempt.
	Estimated bool
	// FailedBy is the latest time of the last attempt of an estimated pod; Timestamp is the earliest. Zero
	// if Timestamp is exact.
	FailedBy time.Time
	// GoneSince is since when the pod is probably gone: the log goes on, but shows no attempt that was due by then. Zero for others.
	GoneSince time.Time
	// Opinion is the second opinion on how the real scheduler treats the pod. Nil if the pod waits as it should, as far as is known.
	Opinion *opinion.Verdict
	// AttemptsAtLeast is true if Attempts is a lower bound: attempts from before the source's observations
	// leave a trace only in part.
	AttemptsAtLeast bool
	// Uncounted is how many attempts of the model are not in Attempts: see timeline.Engine.EmitMoves.
	Uncounted int
	// Message is the scheduler's message about the last failed attempt, GateMessage that of the plugin that gates the
	// pod now.
	Message, GateMessage sources.SafeText
	// Verdict is the model's result of the last failed attempt. Nil if there was none.
	Verdict *verdict.Verdict
	// Because is why the model put the pod where it is. Nil if it did not.
	Cause *reason.Cause
	// Group is the pod group that it is queued with. Empty if it is queued alone.
	Group string
	// Node is the node that the pod was bound to. Empty before.
	Node string
	// Last is the move that brought the pod here, and the end of the chain of all its moves.
	Last *Transition

	packed *Packed // the object, if it is in an archive and not in PodInfo
}

// Object returns the pod's object, which must not be modified. Any goroutine may call it.
func (p *Pod) Object() *v1.Pod {
	if p.packed != nil {
		return p.packed.object()
	}
	return p.PodInfo.Pod
}

// SetPacked makes packed the pod's object. It must be called before p is published.
func (p *Pod) SetPacked(packed *Packed) { p.packed = packed }

// Packed is a pod's object as stored in an archive. It is unpacked on first use, since few are needed.
type Packed struct {
	bytes  []byte // in protobuf
	opened atomic.Pointer[v1.Pod]
}

// Pack sets p, which must not be published yet, to an object in protobuf. bytes must not change any more.
func (p *Packed) Pack(bytes []byte) { p.bytes = bytes }

// object returns the object, or an empty one if it can't be unpacked: the archive's reader verified its
// checksum.
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

// RejectorPlugins returns all plugins that rejected the last attempt, sorted within each kind, unknown ones last. The queue also keeps
// the plugin of a gate that is open by now; it rejected no attempt.
func (p *Pod) RejectorPlugins() []string {
	rejectors := p.UnschedulablePlugins
	if p.Tier != queue.Gated && slices.ContainsFunc(rejectors, onlyGates) {
		rejectors = slices.DeleteFunc(slices.Clone(rejectors), onlyGates)
	}
	if i := slices.Index(rejectors, verdict.UnknownPlugin); i >= 0 {
		rejectors = append(slices.Delete(slices.Clone(rejectors), i, i+1), verdict.UnknownPlugin)
	}
	if len(p.PendingPlugins) == 0 {
		return rejectors
	}
	return append(append([]string{}, rejectors...), p.PendingPlugins...)
}

// onlyGates reports whether a plugin rejects pods at PreEnqueue and nowhere else.
func onlyGates(plugin string) bool {
	return plugin == names.DefaultPreemption || plugin == names.SchedulingGates
}

// AttemptCount returns how many attempts are known of p.
func (p *Pod) AttemptCount() words.AttemptCount {
	return words.AttemptCount{N: p.Attempts, AtLeast: p.AttemptsAtLeast}
}

// WaitedAt returns how long the pod has waited at now, or if it is probably gone, until its last attempt.
func (p *Pod) WaitedAt(now time.Time) time.Duration {
	if !p.GoneSince.IsZero() {
		now = p.Timestamp
	}
	return now.Sub(p.Arrived)
}

// WaitIsAtLeast reports whether the pod may have waited for longer than WaitedAt: the source shows neither its arrival nor its
// creation, or it is probably gone.
func (p *Pod) WaitIsAtLeast() bool {
	return p.AttemptsAtLeast && p.Object().CreationTimestamp.IsZero() || !p.GoneSince.IsZero()
}

// PriorityKnown reports whether Priority is the pod's, and not 0 because its object is unknown.
func (p *Pod) PriorityKnown() bool { return p.Object().Spec.Priority != nil }

// Labels returns the pod's labels, which must not be modified.
func (p *Pod) Labels() map[string]string { return p.Object().Labels }

// Owner returns the pod's controller, empty if it has none or it is unknown.
func (p *Pod) Owner() (kind, name string) {
	for _, o := range p.Object().OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return o.Kind, o.Name
		}
	}
	return "", ""
}

// LastVerdict returns the result of p's last failed attempt: the model's if its message equals the
// scheduler's, and then modelled is true, otherwise what the scheduler's message contains. It is nil if
// no attempt is known to have failed.
func (p *Pod) LastVerdict() (v *verdict.Verdict, modelled bool) {
	switch {
	case p.Message == "" || p.UnschedulableCount+p.ConsecutiveErrorsCount == 0:
		return nil, false
	case p.Verdict != nil && p.Verdict.Message == p.Message:
		return p.Verdict, true
	}
	v = &verdict.Verdict{At: p.Timestamp, Message: p.Message}
	v.Nodes, v.Reasons, _ = verdict.ReadMessage(string(p.Message))
	attribute(v.Reasons, p.RejectorPlugins())
	return v, false
}

// attribute sets the plugins of reasons that a message gives without them. rejectors are all that rejected the pod. A reason
// whose text does not tell is of the plugin that is left, if one is, and no other such reason may be of it.
func attribute(reasons []verdict.Reason, rejectors []string) {
	left := slices.Clone(rejectors)
	var untold []*verdict.Reason
	for i := range reasons {
		r := &reasons[i]
		if r.Plugin = verdict.PluginOf(string(r.Text)); r.Plugin == "" {
			untold = append(untold, r)
		} else {
			left = slices.DeleteFunc(left, func(p string) bool { return p == r.Plugin })
		}
	}
	if verdict.Incomplete(rejectors) {
		return
	}
	for _, r := range untold {
		if len(rejectors) == 1 {
			r.Plugin = rejectors[0]
		} else if len(left) == 1 && len(untold) == 1 {
			r.Plugin = left[0]
		}
	}
}

// SinceIsEarliest reports whether the pod may have entered its tier later than Since: an event or an attempt
// that left no trace may have moved it before the source's observations.
func (p *Pod) SinceIsEarliest() bool { return p.Since.Before(p.FailedBy) }

// ReadObject sets p's object, and copies its priority and node.
func (p *Pod) ReadObject(pod *v1.Pod) {
	p.PodInfo.Pod, p.packed = pod, nil
	if pod.Spec.Priority != nil {
		p.Priority = *pod.Spec.Priority
	}
	if pod.Spec.NodeName != "" {
		p.Node = pod.Spec.NodeName
	}
}
