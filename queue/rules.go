package queue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Rules are the differences between the queue of an older release and that of v1.37, the zero value.
type Rules struct {
	// Waking selects the events that wake an unschedulable pod.
	Waking Waking
	// MoveRequestCycle sends a pod whose attempt failed to backoffQ if a move request arrived since its
	// pop, and otherwise to the unschedulable pods. Since v1.32, the pod's hints are asked about the events
	// during the attempt instead. A queue with this rule does not know which pods are in flight, so it adds
	// a pod that is updated during its attempt as a new one.
	MoveRequestCycle bool
	// ErrorsWait sends a pod that failed with an error to the unschedulable pods if no move request
	// arrived. Since v1.29 such a pod always backs off. It has no effect without MoveRequestCycle.
	ErrorsWait bool
	// AffinityOnly limits events about assigned pods, except deletions, to waiting pods with a matching
	// required affinity. v1.31 adds the pods of the same namespace that PodTopologySpread rejected; since
	// v1.32 there is no limit.
	AffinityOnly bool
	// AllEvents makes every event a move request. Since v1.30, a plugin must have registered for it.
	AllEvents bool
	// Updating is the effect of updating a waiting pod.
	Updating Updating
	// BackoffByAttempts doubles the backoff with every attempt. Since v1.34, only rejected attempts count
	// or, after an error, consecutive errors.
	BackoffByAttempts bool
	// BackoffMap stores backoffs in a map, apart from the pods. The map forgets a pod that has not failed
	// for twice PodMaxBackoff, and ignores failures during a backoff (v1.16, pod_backoff.go).
	BackoffMap bool
	// OneBackoffQ puts pods that failed with an error into backoffQ. Since v1.33 they have a separate heap.
	OneBackoffQ bool
	// BackoffEndsAtExpiry ends a backoff at its expiry instead of after it.
	BackoffEndsAtExpiry bool
	// NoPreEnqueue disables gates, which v1.26 introduced.
	NoPreEnqueue bool
	// Gating selects the events that can move a gated pod.
	Gating Gating
	// NominationEnd selects when the end of a nomination wakes other pods. The caller applies it.
	NominationEnd NominationEnd
	// Labels is the spelling of event labels.
	Labels LabelStyle
}

// Waking selects the events that wake an unschedulable pod.
type Waking uint8

const (
	// ByHints asks the queueing hints of the plugins that rejected the pod. Since v1.32.
	ByHints Waking = iota
	// ByRegisteredEvents selects the events that one of these plugins registered for. Since v1.22.
	ByRegisteredEvents
	// ByEveryEvent selects all events.
	ByEveryEvent
)

// Updating is the effect of updating a waiting pod.
type Updating uint8

const (
	// UpdateAsksHints asks an unschedulable pod's hints about the events of the update. Since v1.32.
	UpdateAsksHints Updating = iota
	// UpdateRequeues requeues an unschedulable pod if more than its status changed.
	UpdateRequeues
	// UpdateActivates moves such a pod, and every updated pod in backoffQ, to activeQ.
	UpdateActivates
)

// Gating selects the events that can move a gated pod.
type Gating uint8

const (
	// GatingEventsAndFlush selects the gating plugin's events and wildcard events.
	GatingEventsAndFlush Gating = iota
	// GatingEvents selects the gating plugin's events. Since v1.34. The leftover flush counts from the
	// last failure, as in all earlier releases.
	GatingEvents
	// NotBySchedulingGates selects all events, but none for a pod with scheduling gates.
	NotBySchedulingGates
)

// NominationEnd selects when the end of a nomination counts as the deletion of a pod on the nominated node
// and wakes pods of the same or a lower priority. It models updatePodInSchedulingQueue and
// deletePodFromSchedulingQueue in pkg/scheduler/eventhandlers.go.
type NominationEnd uint8

const (
	// WakesUnlessBound selects deletion of the nominated pod and changes of its nomination. Since v1.35.
	WakesUnlessBound NominationEnd = iota
	// WakesAlways also selects the pod's binding: a bound pod leaves the queue as a deleted one does.
	// Since v1.33.
	WakesAlways
	// WakesNever selects nothing.
	WakesNever
)

// rules are the resolved Rules: the functions that differ between releases.
type rules struct {
	isOfInterest      func(*Queue, fwk.ClusterEvent) bool
	podWorthRequeuing func(q *Queue, e *entry, event fwk.ClusterEvent, oldObj, newObj any) strategy
	staysGated        func(*Queue, *entry, fwk.ClusterEvent) bool
	hintAfterAttempt  func(q *Queue, i int32, popped bool) strategy
	updated           func(q *Queue, now int64, i int32, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent)
	countFailure      func(q *Queue, now int64, e *entry, rejected bool)
	backoffCount      func(*entry) int32
	backoffOver       func(q *Queue, expiry, now int64) bool
	leftoverSince     func(*entry) int64

	forgetsPopped, noPreEnqueue, oneBackoffQ bool
}

// resolve returns the functions of v1.37 with those replaced that r changes.
func (r Rules) resolve() rules {
	resolved := rules{
		isOfInterest: (*Queue).isOfInterest, podWorthRequeuing: (*Queue).podWorthRequeuing, staysGated: (*Queue).staysGated,
		hintAfterAttempt: (*Queue).hintAfterAttempt, updated: (*Queue).updated, countFailure: (*Queue).countFailure,
		backoffCount: (*entry).backoffCount, leftoverSince: (*entry).leftoverSince,
		backoffOver:   func(q *Queue, expiry, now int64) bool { return expiry < q.alignToWindow(now) },
		forgetsPopped: r.MoveRequestCycle, noPreEnqueue: r.NoPreEnqueue, oneBackoffQ: r.OneBackoffQ,
	}
	switch r.Waking {
	case ByRegisteredEvents:
		resolved.podWorthRequeuing = r.limitAssigned((*Queue).registrationHint)
	case ByEveryEvent:
		resolved.podWorthRequeuing = r.limitAssigned(func(*Queue, *entry, fwk.ClusterEvent, any, any) strategy { return queueAfterBackoff })
	}
	if r.AllEvents {
		resolved.isOfInterest = func(*Queue, fwk.ClusterEvent) bool { return true }
	}
	if r.MoveRequestCycle {
		resolved.hintAfterAttempt = r.hintByMoveRequests
	}
	if r.Updating != UpdateAsksHints {
		resolved.updated = r.updated
	}
	switch {
	case r.BackoffMap:
		resolved.countFailure = (*Queue).countFailureInBackoffMap
	case r.BackoffByAttempts:
		resolved.backoffCount = func(e *entry) int32 { return e.attempts }
	}
	if r.BackoffEndsAtExpiry {
		resolved.backoffOver = func(_ *Queue, expiry, now int64) bool { return expiry <= now }
	}
	switch r.Gating {
	case GatingEvents:
		resolved.staysGated = func(q *Queue, e *entry, event fwk.ClusterEvent) bool {
			return q.noneRegistered(e.gatingPlugin, event)
		}
	case NotBySchedulingGates:
		resolved.staysGated = func(q *Queue, e *entry, _ fwk.ClusterEvent) bool {
			return slices.Contains(q.sets.Names(e.unschedulablePlugins), SchedulingGates)
		}
	}
	if r.Gating != GatingEventsAndFlush {
		resolved.leftoverSince = func(e *entry) int64 { return e.timestamp }
	}
	return resolved
}

// hintByMoveRequests sends pod i to backoffQ if a move request arrived since its pop or, without ErrorsWait, if
// an error failed its attempt.
func (r Rules) hintByMoveRequests(q *Queue, i int32, _ bool) strategy {
	e := q.entries.At(i)
	if q.moveRequestCycle >= e.cycle || !e.rejected() && !r.ErrorsWait {
		return queueInBackoffQ
	}
	return queueSkip
}

// registrationHint requeues e if a plugin that rejected it registered for event. It models podMatchesEvent.
func (q *Queue) registrationHint(e *entry, event fwk.ClusterEvent, _, newObj any) strategy {
	if !e.rejected() {
		return queueAfterBackoff
	}
	if isWildCard(event) {
		return wildcardStrategy(e, newObj)
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

// updated requeues a pod if more than its status changed or, with UpdateActivates, if it is in backoffQ.
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
		if r.BackoffMap {
			e.unschedulableCount, e.backoffExpiry = 0, unset
		}
		label := unscheduledPodUpdate
		if r.Updating == UpdateRequeues && !q.backingOff(now, e) {
			label = BackoffComplete // upstream's label if the pod goes to activeQ (Update in scheduling_queue.go, until v1.31)
		}
		q.requeue(now, i, hint, label)
	}
}

// podUpdated reports whether more changed than the status and the API server's own metadata. It models
// isPodUpdated of the releases before hints.
func podUpdated(oldPod, newPod *v1.Pod) bool {
	strip := func(pod *v1.Pod) *v1.Pod {
		p := *pod
		p.ResourceVersion, p.Generation, p.ManagedFields, p.Finalizers = "", 0, nil, nil
		p.Status = v1.PodStatus{ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
		return &p
	}
	return !equality.Semantic.DeepEqual(strip(oldPod), strip(newPod)) // quantities may be spelled differently
}

// limitAssigned wraps worth for the rule AffinityOnly and its successor in v1.31. It models AssignedPodAdded,
// AssignedPodUpdated and getUnschedulablePodsWithCrossTopologyTerm (before v1.31,
// getUnschedulablePodsWithMatchingAffinityTerm) in scheduling_queue.go.
func (r Rules) limitAssigned(worth func(*Queue, *entry, fwk.ClusterEvent, any, any) strategy) func(*Queue, *entry, fwk.ClusterEvent, any, any) strategy {
	return func(q *Queue, waiting *entry, event fwk.ClusterEvent, oldObj, newObj any) strategy {
		if pod, ok := newObj.(*v1.Pod); ok && event.Resource == fwk.AssignedPod && event.ActionType != fwk.Delete {
			spread := !r.AffinityOnly && waiting.pod.Namespace == pod.Namespace &&
				slices.Contains(q.sets.Names(waiting.unschedulablePlugins), names.PodTopologySpread)
			if !spread && !q.affinityMatches(waiting.pod, pod) {
				return queueSkip
			}
		}
		return worth(q, waiting, event, oldObj, newObj)
	}
}

// affinityMatches reports whether a required pod affinity term of waiting matches pod. The queue does not know
// the labels of namespaces, so a namespace selector matches only if it is empty.
func (q *Queue) affinityMatches(waiting, pod *v1.Pod) bool {
	terms, err := fwk.GetAffinityTerms(waiting, fwk.GetPodAffinityTerms(waiting.Spec.Affinity))
	if err != nil {
		q.observer.Failed(fmt.Errorf("invalid affinity of pod %s/%s, not moving it for an event about pod %s/%s: %w",
			waiting.Namespace, waiting.Name, pod.Namespace, pod.Name, err))
		return false
	}
	return slices.ContainsFunc(terms, func(term fwk.AffinityTerm) bool { return term.Matches(pod, nil) })
}

// release is a preset for one or more minor releases.
type release struct {
	name   string
	since  int            // the oldest minor release with this queue
	change func(*Options) // nil if only the registered events differ: see cycle/registered
}

// releases are the presets, newest first: each minor release since v1.29 and, before, those whose queues differ.
// Each follows the last patch release, and applies its change to the preset above it.
var releases = [...]release{
	{"v1.37", 37, nil},
	{"v1.36", 36, func(o *Options) { o.Rules.Gating, o.Rules.Labels = GatingEvents, LabelsUnschedulablePod }},
	{"v1.35", 35, nil},
	{"v1.34", 34, func(o *Options) { o.Rules.NominationEnd = WakesAlways }},
	{"v1.33", 33, func(o *Options) { o.Rules.BackoffByAttempts, o.Rules.Gating = true, NotBySchedulingGates }},
	{"v1.32", 32, func(o *Options) {
		o.PopFromBackoffQ, o.Rules.OneBackoffQ, o.Rules.BackoffEndsAtExpiry = false, true, true
		o.Rules.NominationEnd = WakesNever
	}},
	{"v1.31", 31, func(o *Options) {
		o.Rules.Waking, o.Rules.MoveRequestCycle, o.Rules.Updating = ByRegisteredEvents, true, UpdateRequeues
		o.Rules.Labels = LabelsLegacy
	}},
	{"v1.30", 30, func(o *Options) { o.Rules.AffinityOnly = true }},
	{"v1.29", 29, func(o *Options) { o.Rules.AllEvents = true }},
	{"v1.28", 26, func(o *Options) { o.Rules.ErrorsWait = true }},
	{"v1.24", 24, func(o *Options) { o.Rules.NoPreEnqueue = true }},
	{"v1.23", 22, func(o *Options) { o.PodMaxInUnschedulablePods = time.Minute }},
	{"v1.19", 18, func(o *Options) {
		o.Rules.Waking, o.Rules.Updating = ByEveryEvent, UpdateActivates
	}},
	{"v1.16", 16, func(o *Options) { o.Rules.BackoffMap = true }},
}

// Releases returns the names of the presets, newest first.
func Releases() []string {
	names := make([]string, len(releases))
	for i, r := range releases {
		names[i] = r.name
	}
	return names
}

// ForRelease returns the default options of kube-scheduler in a release such as v1.24.
// docs/reference/releases.md describes the differences.
func ForRelease(name string) (Options, error) {
	o := Defaults()
	for _, r := range releases {
		if r.change != nil {
			r.change(&o)
		}
		if r.name == name {
			return o, nil
		}
	}
	return Options{}, fmt.Errorf("unknown release %q: use one of %s", name, strings.Join(Releases(), ", "))
}

// ReleaseFor returns the preset for a version of kube-scheduler such as v1.31.4. If the version is newer or
// older than all presets, it returns the nearest one, and exact is false. If version is invalid, name is empty.
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

// In converts o, the options of a v1.37 scheduler, to another release: it applies the release's rules and
// defaults, and keeps the options in o that differ from the defaults.
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
