// Package sources defines sources of scheduling events. A source yields observations of a cluster and of its
// kube-scheduler in order of time.
//
// Each folder below this one is one kind of source. A source knows no queues, clocks or screens; it reads,
// sanitises, bounds and trims its events.
package sources

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Event is one fact and the time at which it became true.
type Event struct {
	Time time.Time
	Fact Fact
}

// CheckTime returns an error unless t is between 1970 and 2261: the times whose differences fit a
// time.Duration and that have a Unix time in nanoseconds.
func CheckTime(t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 2261 {
		return fmt.Errorf("a time is out of range: it is in the year %d", y)
	}
	return nil
}

// Fact is what a source observed: one of *SchedulerStarted, *ObjectChange, *FailedAttempt,
// *StatusPatched, *Refused, *Requested, *Bound, *Logged, *Dumped, *Discarded, *Attached, *Tried, *Move, *Counts, *Mark, *Triggered, *Injected,
// *SchedulerRunning, *Silent, *WatchGap and *Clocks; and *Delivered, which becomes part of an *ObjectChange.
type Fact interface{ fact() }

func (*SchedulerStarted) fact() {}
func (*ObjectChange) fact()     {}
func (*FailedAttempt) fact()    {}
func (*StatusPatched) fact()    {}
func (*Refused) fact()          {}
func (*Requested) fact()        {}
func (*Move) fact()             {}
func (*Counts) fact()           {}
func (*Mark) fact()             {}
func (*Triggered) fact()        {}
func (*Injected) fact()         {}
func (*SchedulerRunning) fact() {}
func (*Silent) fact()           {}
func (*WatchGap) fact()         {}
func (*Clocks) fact()           {}
func (*Bound) fact()            {}
func (*Logged) fact()           {}
func (*Dumped) fact()           {}
func (*Discarded) fact()        {}
func (*Delivered) fact()        {}

// SchedulerStarted is the start of a kube-scheduler, with its settings.
type SchedulerStarted struct {
	// Release is the scheduler's version, "v1.37.1". Empty if the source does not know it.
	Release SafeText
	// ReleaseInferred is true if Release was inferred from the wording of a log.
	ReleaseInferred bool
	// From is the source of Release. Empty if unknown.
	From ReleaseSource
	// Gates are the feature gates set on the command line or in the configuration. Others have the release's
	// defaults.
	Gates map[string]bool
	// PodInitialBackoff, PodMaxBackoff and PodMaxInUnschedulablePods are the scheduler's settings of
	// those names. Negative where the source does not know them; 0 is a value (no backoff).
	PodInitialBackoff         time.Duration
	PodMaxBackoff             time.Duration
	PodMaxInUnschedulablePods time.Duration
}

// SchedulerRunning says that a kube-scheduler of some release runs from then on.
type SchedulerRunning struct {
	// Release is its version, "v1.31.4".
	Release SafeText
	// ReleaseInferred is true if Release is the newest with the wording of the log.
	ReleaseInferred bool
	// From is the source of Release. Empty if unknown.
	From ReleaseSource
}

// Silent says that no kube-scheduler shows any activity from then on where it should: nobody renews the leader's
// lease, or an attempt is missing that would leave a trace.
type Silent struct {
	// Since is the time of the last activity, or when the source began. Zero if there is activity again.
	Since time.Time
	// Profile is the schedulerName of the silent profile. Empty for the whole scheduler.
	Profile string
	// Ended is true if the scheduler logged that it shut down.
	Ended bool
	// Inferred is true if a model concludes it from attempts that do not show.
	Inferred bool
}

// shutdownTakes limits how long kube-scheduler logs moves after it logged its shutdown.
const shutdownTakes = time.Second

// EndedBefore reports whether ev shows that a scheduler works, although f says that one ended.
func (f *Silent) EndedBefore(ev Event) bool {
	switch fact := ev.Fact.(type) {
	case *SchedulerStarted:
		return true
	case *Move:
		return ev.Time.Sub(f.Since) > shutdownTakes && fact.To != TierDeleted
	case *FailedAttempt: // an Event may be late
		return ev.Time.Sub(f.Since) > shutdownTakes && fact.Log
	case *Bound:
		return ev.Time.Sub(f.Since) > shutdownTakes
	}
	return false
}

// WatchGap says that a watch, or the connection to the cluster, does not work, and later that it works again. Changes
// during the gap are delivered late or not at all. The event's time is the start of the gap while it lasts, and
// otherwise its end.
type WatchGap struct {
	// Resource is the resource, as in Resource.Name. Empty for the whole cluster.
	Resource string
	Gap
}

// Clocks is the measured difference between the clock of the stream's events and the scheduler's.
type Clocks struct {
	// Ahead is how much later events are, from then on, than they happened by the scheduler's clock: the
	// difference of the clocks plus the time of delivery. Negative if they are earlier.
	Ahead time.Duration
}

// FarApart limits the difference of the clocks for which the scheduler's times are used.
const FarApart = 24 * time.Hour

// Verb says how an object changed.
type Verb string

// The verbs.
const (
	Added   Verb = "added"
	Updated Verb = "updated"
	Deleted Verb = "deleted"
)

// ObjectChange is the creation, update or deletion of an API object. The object is trimmed to the fields that
// scheduling needs (see Trim), and must not be modified.
type ObjectChange struct {
	Verb Verb
	// Object is a typed object: *v1.Pod, *v1.Node, *v1.PersistentVolumeClaim and so on, its Kind set.
	// For Deleted it is the last known state, or an object with only its name and UID.
	Object runtime.Object
	// Delivered is when kube-scheduler's watch delivered it, according to its log. Zero if unknown.
	Delivered time.Time
	// Sent is when the API server received kube-scheduler's request that bound the pod. Zero for other changes,
	// and if unknown.
	Sent time.Time
}

// FailedAttempt is a failed attempt of a pod, according to its FailedScheduling Event, which kube-scheduler does
// not write for every attempt, or to a line of its log, which it does (see Logged).
type FailedAttempt struct {
	Pod types.NamespacedName
	// UID is the pod's. Empty if unknown, as in a log.
	UID types.UID
	// Message is the scheduler's explanation.
	Message SafeText
	Recorded
	// Received is when the API server received the Event, by its own clock. Zero if unknown.
	Received time.Time
	// Log is true if it is from the scheduler's log.
	Log bool
	// Error is true if the attempt failed with an error, and no plugin rejected the pod.
	Error bool
	// Began is when the attempt began. Zero if unknown.
	Began time.Time
	// Plugins are those that rejected the pod, sorted. Nil if unknown.
	Plugins []string
	// To is where the pod went. Empty if unknown.
	To Tier
}

// Bound is the binding of a pod, according to kube-scheduler's log.
type Bound struct {
	Pod types.NamespacedName
	// UID is the pod's. Empty if unknown.
	UID  types.UID
	Node string
	// Began is when the attempt began. Zero if unknown.
	Began time.Time
}

// Took returns the duration of the attempt that ends with ev, or 0 if ev is no such event or the start is
// unknown.
func Took(ev Event) time.Duration {
	var began time.Time
	switch f := ev.Fact.(type) {
	case *FailedAttempt:
		began = f.Began
	case *Bound:
		began = f.Began
	}
	if began.IsZero() {
		return 0
	}
	return ev.Time.Sub(began)
}

// Logged is the verbosity of the scheduler's log from then on. Below MovesVerbosity it contains the ends of
// attempts, as FailedAttempt and Bound, and no moves.
type Logged struct {
	// Verbosity is klog's: 0 for errors only; AttemptsVerbosity; 3 for 3 and 4; MovesVerbosity for all from that
	// on. Negative if the log has ended.
	Verbosity int
}

// Dumped is a pod in a dump of the queue, which kube-scheduler writes into its log on SIGUSR2. The dump is exact,
// and does not contain pods in flight.
type Dumped struct {
	Pod types.NamespacedName
	UID types.UID
	// In is active, backoff, or unschedulable, which includes gated.
	In Tier
}

// Discarded says that kube-scheduler logged that it dropped a pod from its queue: the pod was popped while the attempt before was not
// done (v1.32 to v1.37: backend/queue/active_queue.go; kubernetes#139186). The scheduler does not try it again until the
// pod's object changes.
type Discarded struct {
	Pod types.NamespacedName
}

// AttemptsVerbosity is the verbosity from which on kube-scheduler logs the end of each attempt.
const AttemptsVerbosity = 2

// MovesVerbosity is the verbosity from which on kube-scheduler logs all moves.
const MovesVerbosity = 5

// Delivered says that, according to kube-scheduler's log, its watch delivered the creation or deletion of a pod or
// node: Verb is Added or Deleted. A binding is delivered as the creation of an assigned pod. Beside an audit log it
// sets ObjectChange.Delivered; no recording contains it.
type Delivered struct {
	Verb     Verb
	Node     bool // not a pod
	Assigned bool // a pod that has a node
	Name     types.NamespacedName
}

// Recorded is what the scheduler's event recorder writes about a failed attempt besides its message: the
// resourceVersion of the pod that the scheduler had, and the number of failed attempts at it, including this one.
// Empty and 0 if unknown.
type Recorded struct {
	Version string
	Count   int
}

// NewRecorded returns a Recorded with those values, or an empty one if they are invalid.
func NewRecorded(version string, count int) Recorded {
	if !IsVersion(version) || count < 1 {
		return Recorded{}
	}
	return Recorded{version, count}
}

// StatusPatched says that kube-scheduler wrote the outcome of a failed attempt into a pod's status, whether or not
// that changed the pod. The event's time is when the scheduler received the API server's answer; until then it
// does not begin another attempt.
type StatusPatched struct {
	Pod types.NamespacedName
	UID types.UID
	// Sent is when the API server received the request. The attempt ended before. Zero if unknown.
	Sent time.Time
	// Clears is true if the patch wrote no condition and removed the pod's nomination: mostly because of another
	// pod's attempt, outside the scheduling loop (preemption/executor.go, clearNominatedNodeName).
	Clears bool
}

// Refused says that the API server refused a request of kube-scheduler that follows an attempt: the patch of a pod's
// status, or a binding. Mostly the pod is gone, because requests wait for their client's rate limit. The event's time
// is when the scheduler received the answer.
type Refused struct {
	Pod types.NamespacedName
	// UID is the pod's. Empty if unknown.
	UID types.UID
	// Sent is when the API server received the request. Zero if unknown.
	Sent time.Time
	// Binding is true for a binding. Then the resources that the pod had on its node are free again.
	Binding bool
	// Node is the node of the binding. Empty if unknown or not a binding.
	Node string
}

// Requested is a request by kube-scheduler's main client, for whose rate limit the scheduling loop waits: patches,
// bindings, evictions, claims and watches. Events and leases have clients of their own
// (cmd/kube-scheduler/app/options/options.go, createClients). The event's time is when the API server received it.
type Requested struct{}

// Tier is where a pod can be, as recordings and JSON output spell it.
type Tier string

// The tiers. TierScheduled and TierDeleted are not part of the queue.
const (
	TierActive        Tier = "active"
	TierBackoff       Tier = "backoff"
	TierUnschedulable Tier = "unschedulable"
	TierGated         Tier = "gated"
	TierInFlight      Tier = "inflight"
	TierScheduled     Tier = "scheduled"
	TierDeleted       Tier = "deleted"
)

// Known reports whether t is one of the tiers above.
func (t Tier) Known() bool {
	switch t {
	case TierActive, TierBackoff, TierUnschedulable, TierGated, TierInFlight, TierScheduled, TierDeleted:
		return true
	}
	return false
}

// Move is a pod's change of tier, according to the scheduler's log.
type Move struct {
	Pod types.NamespacedName
	To  Tier
	// Event is upstream's label of the cause: "AssignedPodDelete", "BackoffComplete", "ScheduleAttemptFailure". Empty
	// for inflight and scheduled. "ScheduleAttemptFailure" with deleted is the end of an attempt of a pod that was
	// deleted meanwhile.
	Event string
	// Restated is true if the scheduler logged again that the pod is in To, without a move.
	Restated bool
	// Plugins are the plugins that rejected the pod in a failed attempt, sorted. Nil after a failed attempt means that
	// no plugin did: there was an error, or the cluster has no nodes.
	Plugins []string
	// GatingPlugin is the PreEnqueue plugin that gates the pod. Only with To gated.
	GatingPlugin string
	// Message is the scheduler's explanation of a failed attempt or of the gating.
	Message SafeText
	// Node is where the pod was bound (To scheduled) or nominated (after a failed attempt).
	Node string
	// Unplaced is true after a failed attempt if the log does not contain where the pod went. To is then where upstream
	// puts it if no event happened meanwhile.
	Unplaced bool
}

// Counts are the scheduler's own numbers: the gauge scheduler_pending_pods by its label queue.
type Counts struct {
	Active, Backoff, Unschedulable, Gated int
}

// Mark is a named moment, set by a person or by the program that drove the cluster.
type Mark struct {
	Text SafeText
}

// Triggered are facts that become true after a move of a pod. They only apply to a local scheduler, and are ignored
// in a recording that is no rerun.
type Triggered struct {
	Pod  types.NamespacedName
	Into Tier
	// Nth is the number of the pod's move into that tier, from 1, and After the delay after it.
	Nth   int
	After time.Duration
	// Facts are *ObjectChange and *Injected.
	Facts []Fact
}

// Injected is an event or activation that a user injects into the scheduling queue without a change of the cluster. It
// only applies to a local scheduler, and is ignored in a recording that is no rerun.
type Injected struct {
	// What is one of injectable.Names. If it is empty, Pod is activated.
	What string
	Pod  types.NamespacedName
}

// LacksObject reports whether f is an attempt from a scheduler's log whose pod is not among the recorded objects.
// Otherwise it has the pod's UID.
func LacksObject(f Fact) bool {
	switch f := f.(type) {
	case *FailedAttempt:
		return f.Log && f.UID == ""
	case *Bound:
		return f.UID == ""
	}
	return false
}

// LoggedPod returns the pod of a fact from a scheduler's log, and false for other facts.
func LoggedPod(f Fact) (pod types.NamespacedName, names bool) {
	switch f := f.(type) {
	case *Move:
		return f.Pod, true
	case *FailedAttempt:
		return f.Pod, true
	case *Bound:
		return f.Pod, true
	case *Dumped:
		return f.Pod, true
	case *Discarded:
		return f.Pod, true
	}
	return pod, false
}
