package queue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	fwk "k8s.io/kube-scheduler/framework"
)

// Rules are how the queues of older releases differ from that of v1.37, whose rules are the zero value.
type Rules struct {
	// Waking says which move requests wake an unschedulable pod.
	Waking Waking
	// MoveRequestCycle sends a pod whose attempt failed to backoffQ if any move request came after it was
	// popped, and to the unschedulable pods if none did. Since v1.32 the events that came are replayed
	// through the pod's hints instead. A queue with this rule does not know which pods are in flight, so the
	// update of one is taken for a new pod.
	MoveRequestCycle bool
	// ErrorsWait leaves a pod that failed by an error among the unschedulable ones, where no move request came. Since v1.29
	// such a pod backs off in any case. It counts with MoveRequestCycle alone.
	ErrorsWait bool
	// AffinityOnly has a pod that got a node, or changed on it, move only the pods with a required affinity to it. In v1.31
	// these are joined by those of its namespace that PodTopologySpread rejected, and since v1.32 all are moved.
	AffinityOnly bool
	// HearsAllEvents takes every event for a move request. Since v1.30 some plugin must have registered for it.
	HearsAllEvents bool
	// Updating says what the update of a waiting pod does.
	Updating Updating
	// BackoffByAttempts doubles the backoff with every attempt. Since v1.34 only those count in which plugins
	// rejected the pod or, after an error, the errors in a row.
	BackoffByAttempts bool
	// ForgetsBackoff keeps the backoff apart from the pod, in a map that forgets it when the pod has not
	// failed for twice PodMaxBackoff, and does not count a failure during the backoff (v1.16, pod_backoff.go).
	ForgetsBackoff bool
	// OneBackoffQ lets pods that failed by an error back off among the others. Since v1.33 they have a heap of
	// their own.
	OneBackoffQ bool
	// OverAtExpiry ends a backoff at the moment of its expiry, and not after it.
	OverAtExpiry bool
	// NoPreEnqueue keeps nobody out of activeQ: scheduling gates are of v1.26.
	NoPreEnqueue bool
	// Gating says what a gated pod is spared.
	Gating Gating
	// Vacating says when a pod gives up the place that it was nominated to, which wakes others. The queue leaves it to whoever
	// hands it the events.
	Vacating Vacating
	// Labels says how events are called.
	Labels LabelStyle
}

// Waking is which move requests wake an unschedulable pod.
type Waking uint8

const (
	// ByHints asks the queueing hints of the plugins that rejected the pod, since v1.32.
	ByHints Waking = iota
	// ByRegisteredEvents takes every event that one of these plugins registered for, since v1.22.
	ByRegisteredEvents
	// ByEveryEvent takes every event.
	ByEveryEvent
)

// Updating is what the update of a waiting pod does.
type Updating uint8

const (
	// UpdateAsksHints replaces the pod, and asks an unschedulable pod's hints about the events that the
	// update is, since v1.32.
	UpdateAsksHints Updating = iota
	// UpdateRequeues requeues an unschedulable pod of which more than the status changed.
	UpdateRequeues
	// UpdateActivates sends such a pod, and every updated pod that backs off, to activeQ at once.
	UpdateActivates
)

// Gating is which events reach a gated pod.
type Gating uint8

const (
	// GatingEventsAndFlush lets the events of the gating plugin through, and those that are for every pod.
	GatingEventsAndFlush Gating = iota
	// GatingEvents lets only the events of the gating plugin through, since v1.34; the leftover flush counts
	// from the last failure, as in all releases before.
	GatingEvents
	// NotBySchedulingGates lets all events through, but none to a pod with scheduling gates.
	NotBySchedulingGates
)

// Vacating is when a pod gives up the place that it was nominated to. To pods of no higher priority that is as if a pod had been
// deleted there (pkg/scheduler/eventhandlers.go, updatePodInSchedulingQueue and deletePodFromSchedulingQueue).
type Vacating uint8

const (
	// WhenNominationEnds is when it is deleted, or nominated to no node or another one, since v1.35.
	WhenNominationEnds Vacating = iota
	// WhenBoundToo is also when it is bound, since v1.33: a bound pod leaves the queue as a deleted one does.
	WhenBoundToo
	// Never: nobody is woken.
	Never
)

// rules are what Rules come to when a queue is made: what today's algorithm asks where an older release did otherwise.
type rules struct {
	isOfInterest      func(*Queue, fwk.ClusterEvent) bool
	podWorthRequeuing func(q *Queue, e *entry, event fwk.ClusterEvent, oldObj, newObj any) strategy
	staysGated        func(*Queue, *entry, fwk.ClusterEvent) bool
	hintAfterAttempt  func(q *Queue, i int32, popped bool) strategy
	updated           func(q *Queue, now int64, i int32, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent)
	countFailure      func(q *Queue, now int64, e *entry, rejected bool)
	failures          func(*entry) int32                     // what the backoff is worked out from
	isOver            func(q *Queue, expiry, now int64) bool // whether a backoff is
	leftSince         func(*entry) int64                     // what the leftover flush counts from

	forgetsPopped, noPreEnqueue, oneBackoffQ bool
}

// resolve returns what r comes to.
func (r Rules) resolve() rules {
	today := rules{
		isOfInterest: (*Queue).isOfInterest, podWorthRequeuing: (*Queue).podWorthRequeuing, staysGated: (*Queue).staysGated,
		hintAfterAttempt: (*Queue).hintAfterAttempt, updated: (*Queue).updated, countFailure: (*Queue).countFailure,
		failures: (*entry).failures, leftSince: (*entry).leftSince,
		isOver:        func(q *Queue, expiry, now int64) bool { return expiry < q.alignToWindow(now) },
		forgetsPopped: r.MoveRequestCycle, noPreEnqueue: r.NoPreEnqueue, oneBackoffQ: r.OneBackoffQ,
	}
	then := today
	switch r.Waking {
	case ByRegisteredEvents:
		then.podWorthRequeuing = r.topology((*Queue).registrationHint)
	case ByEveryEvent:
		then.podWorthRequeuing = r.topology(func(*Queue, *entry, fwk.ClusterEvent, any, any) strategy { return queueAfterBackoff })
	}
	if r.HearsAllEvents {
		then.isOfInterest = func(*Queue, fwk.ClusterEvent) bool { return true }
	}
	if r.MoveRequestCycle {
		then.hintAfterAttempt = r.hintByMoveRequests
	}
	if r.Updating != UpdateAsksHints {
		then.updated = r.updated
	}
	if r.BackoffByAttempts {
		then.failures = func(e *entry) int32 { return e.attempts }
	}
	if r.ForgetsBackoff {
		then.failures, then.countFailure = today.failures, (*Queue).backOff
	}
	if r.OverAtExpiry {
		then.isOver = func(_ *Queue, expiry, now int64) bool { return expiry <= now }
	}
	switch r.Gating {
	case GatingEvents:
		then.staysGated = func(q *Queue, e *entry, event fwk.ClusterEvent) bool {
			return q.areDeaf(e.gatingPlugin, event)
		}
	case NotBySchedulingGates:
		then.staysGated = func(q *Queue, e *entry, _ fwk.ClusterEvent) bool {
			return slices.Contains(q.sets.Names(e.unschedulablePlugins), SchedulingGates)
		}
	}
	if r.Gating != GatingEventsAndFlush {
		then.leftSince = func(e *entry) int64 { return e.timestamp }
	}
	return then
}

// hintByMoveRequests sends a pod to backoffQ if any move request came since it was popped, or if it failed by an error.
func (r Rules) hintByMoveRequests(q *Queue, i int32, _ bool) strategy {
	e := q.entries.At(i)
	if q.moveRequestCycle >= e.cycle || !e.rejected() && !r.ErrorsWait {
		return queueInBackoffQ
	}
	return queueSkip
}

// registrationHint models podMatchesEvent: any plugin that rejected e registered for event.
func (q *Queue) registrationHint(e *entry, event fwk.ClusterEvent, _, newObj any) strategy {
	if !e.rejected() {
		return queueAfterBackoff
	}
	if isWildCard(event) {
		return forPod(e, newObj)
	}
	for _, id := range []pluginSet{e.pendingPlugins, e.unschedulablePlugins} {
		for _, plugin := range q.sets.Names(id) {
			if q.plugins.Registered(plugin, event) {
				return queueAfterBackoff
			}
		}
	}
	return queueSkip
}

// updated requeues a pod of which more than its status changed, and with UpdateActivates one that backs off in any case.
func (r Rules) updated(q *Queue, now int64, i int32, oldPod, newPod *v1.Pod, _ []fwk.ClusterEvent) {
	e := q.entries.At(i)
	hint := queueAfterBackoff
	if r.Updating == UpdateActivates {
		hint = queueImmediately
	}
	switch {
	case e.place.isBackoffQ() && r.Updating == UpdateActivates:
		q.moveOutOfBackoffQ(now, i, unscheduledPodUpdate)
	case q.heapAt(e.place) != nil:
		q.heapAt(e.place).fix(&q.entries, int(e.pos))
	case podUpdated(oldPod, newPod):
		if r.ForgetsBackoff {
			e.unschedulableCount, e.backoffExpiry = 0, unset
		}
		label := unscheduledPodUpdate
		if r.Updating == UpdateRequeues && !q.backingOff(now, e) {
			label = BackoffComplete // so upstream says of one that goes to activeQ (scheduling_queue.go, Update, up to v1.31)
		}
		q.requeue(now, i, hint, label)
	}
}

// podUpdated models isPodUpdated of the releases without hints: whether more changed than the status and
// what the API server keeps for itself.
func podUpdated(oldPod, newPod *v1.Pod) bool {
	strip := func(pod *v1.Pod) *v1.Pod {
		p := *pod
		p.ResourceVersion, p.Generation, p.ManagedFields, p.Finalizers = "", 0, nil, nil
		p.Status = v1.PodStatus{ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
		return &p
	}
	return !equality.Semantic.DeepEqual(strip(oldPod), strip(newPod)) // two spellings of a quantity are one
}

// podTopologySpread is a plugin's name.
const podTopologySpread = "PodTopologySpread"

// topology has a pod that got a node, or changed on it, move only the waiting pods with a required affinity to it and, with the
// rules of v1.31, those of its namespace that PodTopologySpread rejected. worth is what is asked of these, and after all other
// events. (scheduling_queue.go, AssignedPodAdded, AssignedPodUpdated and getUnschedulablePodsWithCrossTopologyTerm, which was
// ...WithMatchingAffinityTerm before.)
func (r Rules) topology(worth func(*Queue, *entry, fwk.ClusterEvent, any, any) strategy) func(*Queue, *entry, fwk.ClusterEvent, any, any) strategy {
	return func(q *Queue, waiting *entry, event fwk.ClusterEvent, oldObj, newObj any) strategy {
		if pod, ok := newObj.(*v1.Pod); ok && event.Resource == fwk.AssignedPod && event.ActionType != fwk.Delete {
			spread := !r.AffinityOnly && waiting.pod.Namespace == pod.Namespace &&
				slices.Contains(q.sets.Names(waiting.unschedulablePlugins), podTopologySpread)
			if !spread && !q.affinityMatches(waiting.pod, pod) {
				return queueSkip
			}
		}
		return worth(q, waiting, event, oldObj, newObj)
	}
}

// affinityMatches reports whether a required pod affinity term of waiting matches pod. The queue does not know the labels of
// namespaces, so a namespace selector matches only if it is empty.
func (q *Queue) affinityMatches(waiting, pod *v1.Pod) bool {
	terms, err := fwk.GetAffinityTerms(waiting, fwk.GetPodAffinityTerms(waiting.Spec.Affinity))
	if err != nil {
		q.observer.Failed(fmt.Errorf("pod %s/%s is not moved by what happened to %s/%s, because its affinity cannot be read: %w",
			waiting.Namespace, waiting.Name, pod.Namespace, pod.Name, err))
		return false
	}
	return slices.ContainsFunc(terms, func(term fwk.AffinityTerm) bool { return term.Matches(pod, nil) })
}

// release is a release, the first minor one that it stands for, and what sets its queue apart from that of the next one.
type release struct {
	name  string
	since int
	apart func(*Options) // nil if only the events differ that its plugins registered for: see cycle/registered
}

// releases are the presets, newest first: each minor release since v1.29, and of those before the ones whose queues
// differ. Each is read in the last patch of its minor release, and differs from the one above by what its function does.
var releases = [...]release{
	{"v1.37", 37, nil},
	{"v1.36", 36, func(o *Options) { o.Rules.Gating, o.Rules.Labels = GatingEvents, OfUnschedulablePods }},
	{"v1.35", 35, nil},
	{"v1.34", 34, func(o *Options) { o.Rules.Vacating = WhenBoundToo }},
	{"v1.33", 33, func(o *Options) { o.Rules.BackoffByAttempts, o.Rules.Gating = true, NotBySchedulingGates }},
	{"v1.32", 32, func(o *Options) {
		o.PopFromBackoffQ, o.Rules.OneBackoffQ, o.Rules.OverAtExpiry = false, true, true
		o.Rules.Vacating = Never
	}},
	{"v1.31", 31, func(o *Options) {
		o.Rules.Waking, o.Rules.MoveRequestCycle, o.Rules.Updating = ByRegisteredEvents, true, UpdateRequeues
		o.Rules.Labels = ByHand
	}},
	{"v1.30", 30, func(o *Options) { o.Rules.AffinityOnly = true }},
	{"v1.29", 29, func(o *Options) { o.Rules.HearsAllEvents = true }},
	{"v1.28", 26, func(o *Options) { o.Rules.ErrorsWait = true }},
	{"v1.24", 24, func(o *Options) { o.Rules.NoPreEnqueue = true }},
	{"v1.23", 22, func(o *Options) { o.PodMaxInUnschedulablePods = time.Minute }},
	{"v1.19", 18, func(o *Options) {
		o.Rules.Waking, o.Rules.Updating = ByEveryEvent, UpdateActivates
	}},
	{"v1.16", 16, func(o *Options) { o.Rules.ForgetsBackoff = true }},
}

// Releases returns the names that ForRelease knows, newest first.
func Releases() []string {
	names := make([]string, len(releases))
	for i, r := range releases {
		names[i] = r.name
	}
	return names
}

// ForRelease returns the options of kube-scheduler in that release without any configuration, such as
// v1.24. docs/reference/releases.md tells what each changes.
func ForRelease(name string) (Options, error) {
	o := Defaults()
	for _, r := range releases {
		if r.apart != nil {
			r.apart(&o)
		}
		if r.name == name {
			return o, nil
		}
	}
	return Options{}, fmt.Errorf("there is no release %q here: choose one of %s", name, strings.Join(Releases(), ", "))
}

// ReleaseFor returns which of the presets is the queue of that version of kube-scheduler, such as v1.31.4: the one
// whose rules its minor release has. exact is false if it is newer or older than all that are known, and the nearest
// is returned; name is "" if version is no version.
func ReleaseFor(version string) (name string, exact bool) {
	var minor int
	if _, err := fmt.Sscanf(version, "v1.%d", &minor); err != nil {
		return "", false
	}
	for _, r := range releases {
		if name = r.name; minor >= r.since {
			break
		}
	}
	return name, minor >= releases[len(releases)-1].since && minor <= releases[0].since
}

// In returns o, the options of a v1.37 scheduler with some configuration, as that release would have them:
// with its rules and its defaults, but what is configured otherwise than by default stays.
func (o Options) In(release string) (Options, error) {
	r, err := ForRelease(release)
	if err != nil {
		return o, err
	}
	r.PodInitialBackoff, r.PodMaxBackoff = o.PodInitialBackoff, o.PodMaxBackoff
	if o.PodMaxInUnschedulablePods != Defaults().PodMaxInUnschedulablePods {
		r.PodMaxInUnschedulablePods = o.PodMaxInUnschedulablePods
	}
	r.PopFromBackoffQ = r.PopFromBackoffQ && o.PopFromBackoffQ
	return r, nil
}
