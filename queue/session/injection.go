package session

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// The injections of a what-if. Each is kept as a function of the engine, so that the what-if can be
// replayed.

// inject injects a change into the what-if, which it starts unless one is shown, and replies with the
// moves. It reports whether the change was made and moved no pod.
func (o *owner) inject(what string, do func(e *timeline.Engine, now time.Time)) (nothingMoved bool) {
	if !o.inFork() {
		return false
	}
	now := o.now
	moves := o.fork.Inject(now, func(e *timeline.Engine) {
		do(e, now)
		e.EmitMoves(now, nil)
	})
	o.fork.DescribeLast(what, now, false)
	o.previews = nil
	o.say("%s: %s", what, explain.Summary(moves))
	o.reply.Moved = board.LastStates(moves)
	return len(moves) == 0
}

func (o *owner) moveAll() {
	o.inject(MoveRequest, timeline.Injectable(MoveRequest))
}

func (o *owner) injectEvent(label string) {
	do := timeline.Injectable(label)
	if do == nil {
		o.refuse("no such cluster event: %s", sources.Sanitize(label))
		return
	}
	o.inject(label, do)
}

func (o *owner) flushBackoff() {
	if !o.inject(BackoffFlush, timeline.Injectable(BackoffFlush)) {
		return
	}
	if first := o.fork.Shown.Tiers[queue.Backoff]; first.Len() > 0 {
		p, _ := first.Min()
		o.say("flush of backoffQ: nothing moved; the first backoff ends at %s", o.zone.Clock(p.BackoffExpiry))
	}
}

func (o *owner) flushLeftover() {
	if o.inject(LeftoverFlush, timeline.Injectable(LeftoverFlush)) {
		o.say("leftover flush: nothing moved; no pod has been unschedulable for more than %s", words.Short(o.shownTimeline().Options().PodMaxInUnschedulablePods))
	}
}

// inTier returns the named pod if it is in one of tiers, and otherwise refuses the action.
func (o *owner) inTier(key types.NamespacedName, action string, tiers ...queue.Tier) *board.Pod {
	p := o.shownTimeline().Shown.Get(key)
	if p == nil {
		o.refuse("%s %s: no such pod", action, key)
		return nil
	}
	if !slices.Contains(tiers, p.Tier) {
		o.refuse("%s %s: it is %s", action, key, words.TierWord(p.Tier))
		return nil
	}
	return p
}

func (o *owner) activate(key types.NamespacedName) {
	p := o.inTier(key, "activate", queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight)
	if p == nil {
		return
	}
	nothingMoved := o.inject("Activate "+key.String(), func(e *timeline.Engine, now time.Time) {
		e.RecordAction(&sources.Injected{Pod: key})
		e.Queue.Activate(now, queuedPod(e, key))
	})
	switch {
	case !nothingMoved:
	case p.Tier == queue.Gated:
		o.say("Activate %s: nothing moved; %s still gates it", key, p.GatingPlugin)
	case p.Tier == queue.InFlight:
		o.say("Activate %s: it is in flight; if its attempt fails, it is retried at once or after its backoff", key)
	}
}

func (o *owner) addPod(n NewPod) {
	if problems := validation.IsDNS1123Subdomain(n.Key.Name); len(problems) > 0 {
		o.refuse("add a pod: invalid pod name %q: use a-z, 0-9, - and .", n.Key.Name)
		return
	}
	if problems := validation.IsDNS1123Label(n.Key.Namespace); len(problems) > 0 {
		o.refuse("add a pod: invalid namespace %q: use a-z, 0-9 and -", n.Key.Namespace)
		return
	}
	if p := o.shownTimeline().Shown.Get(n.Key); p != nil && p.Tier != queue.Scheduled && p.Tier != queue.Deleted {
		o.refuse("add %s: a pod with that name is %s", n.Key, words.TierWord(p.Tier))
		return
	}
	pod := cluster.Placeholder(n.Key)
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.Spec.Priority, pod.Spec.Containers = &n.Priority, []v1.Container{{Name: "main"}}
	if n.Gated {
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "schedq/what-if"}}
	}
	o.inject("new pod "+n.Key.String(), func(e *timeline.Engine, now time.Time) {
		if e.Driver != nil {
			e.PutObject(now, asCreated(pod, now))
			return
		}
		e.RecordAction(&sources.ObjectChange{Verb: sources.Added, Object: pod})
		e.Objects.Put(pod)
		e.Queue.Add(now, pod)
	})
}

func (o *owner) deletePod(key types.NamespacedName) {
	if o.inTier(key, "delete", queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight) == nil {
		return
	}
	o.inject("delete "+key.String(), func(e *timeline.Engine, now time.Time) {
		pod := queuedPod(e, key)
		if e.Driver != nil {
			e.RemoveObject(now, pod)
			return
		}
		e.RecordAction(&sources.ObjectChange{Verb: sources.Deleted, Object: pod})
		e.Objects.Remove(pod)
		if info, ok := e.Queue.Get(key.Namespace, key.Name); ok && info.Tier == queue.InFlight {
			e.Queue.Done(now, pod.UID)
			return
		}
		e.Queue.Delete(now, pod)
	})
}

func (o *owner) openGate(key types.NamespacedName) {
	p := o.inTier(key, "open the gate of", queue.Gated)
	if p == nil {
		return
	}
	if p.GatingPlugin != "" && p.GatingPlugin != queue.SchedulingGates {
		o.refuse("open the gate of %s: %s holds it, not a scheduling gate", key, p.GatingPlugin)
		return
	}
	o.inject("open the gate of "+key.String(), func(e *timeline.Engine, now time.Time) {
		gated := queuedPod(e, key)
		free := gated.DeepCopy()
		free.Spec.SchedulingGates = nil
		if e.Driver != nil {
			e.PutObject(now, free)
			return
		}
		e.RecordAction(&sources.ObjectChange{Verb: sources.Updated, Object: free})
		e.Objects.Put(free)
		e.Queue.Update(now, gated, free, []fwk.ClusterEvent{{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}})
	})
}

func (o *owner) pop() {
	if o.scheduling() {
		o.refuse("the local scheduler makes the decisions: stop it first")
		return
	}
	t := o.shownTimeline().Shown
	early := o.shownTimeline().Options().PopFromBackoffQ
	if t.Total(queue.Active) == 0 && (!early || t.Total(queue.Backoff) == 0) {
		if early {
			o.refuse("pop: activeQ and backoffQ are empty")
		} else {
			o.refuse("pop: activeQ is empty")
		}
		return
	}
	if o.inject("pop", func(e *timeline.Engine, now time.Time) { e.Queue.Pop(now) }) {
		o.say("pop: backoffQ holds only pods that failed with an error, which wait out their backoff")
	}
}

func (o *owner) fits(key types.NamespacedName) {
	if o.scheduling() {
		o.refuse("the local scheduler makes the decisions: stop it first")
		return
	}
	if o.inTier(key, "bind", queue.InFlight) == nil {
		return
	}
	o.inject("it fits", func(e *timeline.Engine, now time.Time) { e.Queue.Bound(now, queuedPod(e, key).UID) })
}

func (o *owner) reject(key types.NamespacedName, plugins []string) {
	if o.scheduling() {
		o.refuse("the local scheduler makes the decisions: stop it first")
		return
	}
	if o.inTier(key, "reject", queue.InFlight) == nil {
		return
	}
	what := "rejected by " + strings.Join(plugins, ", ")
	if len(plugins) == 0 {
		what = "failed with an error"
	}
	plugins = slices.Clone(plugins)
	o.inject(what, func(e *timeline.Engine, now time.Time) {
		// This only fails for a queued pod, which is not in flight.
		_ = e.Queue.AddUnschedulableIfNotPresent(now, queuedPod(e, key), queue.Rejection{UnschedulablePlugins: plugins})
	})
}

// scheduling reports whether a local scheduler runs in the what-if shown.
func (o *owner) scheduling() bool { return o.fork != nil && o.fork.Engine.Driver != nil }

// queuedPod returns the named pod's object in the queue, or a placeholder.
func queuedPod(e *timeline.Engine, key types.NamespacedName) *v1.Pod {
	if info, ok := e.Queue.Get(key.Namespace, key.Name); ok {
		return info.Pod
	}
	return cluster.Placeholder(key)
}

// asCreated returns a copy of pod as the API server would return it after its creation at now.
func asCreated(pod *v1.Pod, now time.Time) *v1.Pod {
	pod = pod.DeepCopy()
	pod.CreationTimestamp = metav1.NewTime(now)
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	if pod.Status.Phase == "" {
		pod.Status.Phase = v1.PodPending
	}
	return pod
}

// Injectables that are not cluster events.
const (
	MoveRequest   = queue.MoveRequest
	BackoffFlush  = queue.BackoffFlush
	LeftoverFlush = queue.LeftoverFlush
)

// Injectables returns what Inject accepts: the queue's own actions, then the cluster events.
func Injectables() []string { return queue.InjectableNames() }

// preview pauses and starts to compute what each of the injectables would do.
func (o *owner) preview(wanted []string) {
	o.endPreview()
	if len(wanted) == 0 {
		return
	}
	o.halt()
	if !o.ensureEngine() {
		return
	}
	o.previews = o.shownTimeline().NewPreviews(wanted, o.now)
}

// endPreview discards the previews.
func (o *owner) endPreview() {
	if o.previews != nil {
		o.previews.Close()
		o.previews, o.changed = nil, true
	}
}

// injectNamed injects one of Injectables.
func (o *owner) injectNamed(name string) {
	switch name {
	case MoveRequest:
		o.moveAll()
	case BackoffFlush:
		o.flushBackoff()
	case LeftoverFlush:
		o.flushLeftover()
	default:
		o.injectEvent(name)
	}
}
