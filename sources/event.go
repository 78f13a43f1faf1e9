// Package sources says what a source of scheduling events is: something that yields, in the order of
// time, what it saw of a cluster and of its kube-scheduler.
//
// One folder below this one is one kind of source. A source knows nothing of queues, clocks or screens;
// it only reads, sanitises, bounds and trims what it hands on.
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

// CheckTime returns an error, one sentence, unless t is between 1970 and 2261: the times whose
// differences fit a time.Duration and that have a Unix time in nanoseconds.
func CheckTime(t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 2261 {
		return fmt.Errorf("a time is out of range: it is in the year %d", y)
	}
	return nil
}

// Fact is what a source saw: one of *SchedulerStarted, *ObjectChange, *FailedAttempt,
// *StatusPatched, *Refused, *Requested, *Bound, *Logged, *Dumped, *Discarded, *Attached, *Tried, *Move, *Counts, *Mark, *Triggered, *Injected,
// *SchedulerHeard, *Silent, *Unheard and *Clocks; and *Delivered, on its way to become part of an *ObjectChange.
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
func (*SchedulerHeard) fact()   {}
func (*Silent) fact()           {}
func (*Unheard) fact()          {}
func (*Clocks) fact()           {}
func (*Bound) fact()            {}
func (*Logged) fact()           {}
func (*Dumped) fact()           {}
func (*Discarded) fact()        {}
func (*Delivered) fact()        {}

// SchedulerStarted says that a kube-scheduler began to run, and with which settings.
type SchedulerStarted struct {
	// Release is the scheduler's version, "v1.37.1". Empty if the source does not know it.
	Release SafeText
	// ReleaseInferred is true if Release was deduced from the wording of a log and not stated by it.
	ReleaseInferred bool
	// From is what tells Release. Empty if that is not known.
	From ReleaseSource
	// Gates are the feature gates given on the command line or in the configuration. A gate that is
	// not here has its release's default.
	Gates map[string]bool
	// PodInitialBackoff, PodMaxBackoff and PodMaxInUnschedulablePods are the scheduler's settings of
	// those names. Negative where the source does not know them; 0 is a value (no backoff).
	PodInitialBackoff         time.Duration
	PodMaxBackoff             time.Duration
	PodMaxInUnschedulablePods time.Duration
}

// SchedulerHeard says that from then on a kube-scheduler of some release was heard to work.
type SchedulerHeard struct {
	// Release is its version, "v1.31.4".
	Release SafeText
	// ReleaseInferred is true if Release is the newest with the wording of the log.
	ReleaseInferred bool
	// From is what tells it. Empty if that is not known.
	From ReleaseSource
}

// Silent says that from then on no kube-scheduler is heard to work, where it would be: nobody renews the lease of the leader,
// or an attempt that shows wherever there is a scheduler does not.
type Silent struct {
	// Since is when one was heard last, or the source began to hear. Zero if one is heard again.
	Since time.Time
	// Profile is the schedulerName of the profile that is meant. Empty for the scheduler as a whole.
	Profile string
	// Ended is true if the scheduler's log says that it shut down.
	Ended bool
	// Inferred is true if a model concludes it from attempts that do not show.
	Inferred bool
}

// shutdownTakes is how long kube-scheduler may log moves after it logged that it shuts down.
const shutdownTakes = time.Second

// EndedBefore reports whether ev shows that a scheduler works although its log, or another's, ended with f.
func (f *Silent) EndedBefore(ev Event) bool {
	switch fact := ev.Fact.(type) {
	case *SchedulerStarted:
		return true
	case *Move:
		return ev.Time.Sub(f.Since) > shutdownTakes && fact.To != TierDeleted
	case *FailedAttempt: // an Event may come late
		return ev.Time.Sub(f.Since) > shutdownTakes && fact.Log
	case *Bound:
		return ev.Time.Sub(f.Since) > shutdownTakes
	}
	return false
}

// Unheard says that the source hears nothing of a resource, or of the cluster, and again when it heard something: what was
// not told in that time may have been. Its event's time is the gap's begin while it lasts, and else its end.
type Unheard struct {
	// Resource is what was not heard, as Resource.Name has it. Empty for the whole cluster.
	Resource string
	Gap
}

// Clocks says how the clock that stamps the stream's events and the scheduler's are found to go together.
type Clocks struct {
	// Ahead is by how much later the events are, from then on, than by the scheduler's clock what they tell of: how far the one clock
	// is ahead of the other, and how long it takes to hear of it. Negative if they are earlier.
	Ahead time.Duration
}

// FarApart is how far clocks may be apart for the scheduler's times to be taken.
const FarApart = 24 * time.Hour

// Verb says how an object changed.
type Verb string

// The three ways in which an object changes.
const (
	Added   Verb = "added"
	Updated Verb = "updated"
	Deleted Verb = "deleted"
)

// ObjectChange is an API object that came, changed or went. The object is trimmed to what scheduling
// needs (see Trim) and must not be modified.
type ObjectChange struct {
	Verb Verb
	// Object is a typed object: *v1.Pod, *v1.Node, *v1.PersistentVolumeClaim and so on, its Kind set.
	// For Deleted it is the last known state, or an object with only its name and UID.
	Object runtime.Object
	// Delivered is when kube-scheduler's watch delivered it, according to its log. Zero if unknown.
	Delivered time.Time
	// Sent is when the API server had kube-scheduler's request that bound the pod. Zero of any other change, and if that is not known.
	Sent time.Time
}

// FailedAttempt says that an attempt of a pod failed: by the FailedScheduling event that kube-scheduler made the moment
// it did, and it does not make one for every attempt; or by a line of its log, which it writes for every one (see Logged).
type FailedAttempt struct {
	Pod types.NamespacedName
	// UID is the pod's. Empty if the source does not know it, as a log does not.
	UID types.UID
	// Message is the scheduler's explanation.
	Message SafeText
	Recorded
	// Heard is when the API server was told, by its own clock. Zero if not known.
	Heard time.Time
	// Log is true if the scheduler's log tells.
	Log bool
	// Error is true if the attempt failed by an error, and no plugin rejected the pod.
	Error bool
	// Began is when the attempt began. Zero if not known.
	Began time.Time
	// Plugins are those that rejected the pod, sorted. Nil if not known.
	Plugins []string
	// To is where the pod went. Empty if not known.
	To Tier
}

// Bound says that kube-scheduler said in its log that it has bound a pod.
type Bound struct {
	Pod types.NamespacedName
	// UID is the pod's. Empty if the source does not know it.
	UID  types.UID
	Node string
	// Began is when the attempt began. Zero if not known.
	Began time.Time
}

// Took returns how long the attempt took whose end ev tells. 0 if it tells none, or not when that began.
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

// Logged says of which verbosity the scheduler's log is from then on. Below MovesVerbosity it tells how attempts ended, by
// FailedAttempt and Bound, and no moves.
type Logged struct {
	// Verbosity is klog's: 0, of which only errors are told; AttemptsVerbosity; 3, which stands also for 4; MovesVerbosity,
	// which stands for all above it. Negative: the log has ended.
	Verbosity int
}

// Dumped says that kube-scheduler listed a pod in a dump of its queue, which it writes into its log when it gets SIGUSR2: the
// moment's truth. Pods that are in flight then are not in it.
type Dumped struct {
	Pod types.NamespacedName
	UID types.UID
	// In is where the pod was: active, backoff or unschedulable, which stands also for gated.
	In Tier
}

// Discarded says that kube-scheduler logged that it dropped a pod from its queue: the pod was popped while the attempt before was not
// done (v1.32 to v1.37: backend/queue/active_queue.go; kubernetes#139186). The scheduler does not try it again until the
// pod's object changes.
type Discarded struct {
	Pod types.NamespacedName
}

// AttemptsVerbosity is the verbosity from which on kube-scheduler's log tells how each attempt ended.
const AttemptsVerbosity = 2

// MovesVerbosity is the verbosity from which on kube-scheduler's log tells all moves.
const MovesVerbosity = 5

// Delivered says that kube-scheduler said in its log that its watch told it of a pod or a node that came or went: Verb is Added or
// Deleted. A pod that is bound comes as one that is assigned. Beside an audit log it says when its change was heard of (see
// ObjectChange), and no recording has it.
type Delivered struct {
	Verb     Verb
	Node     bool // not a pod
	Assigned bool // a pod that has a node
	Name     types.NamespacedName
}

// Recorded is what the scheduler's event recorder tells of a failed attempt beside its message: the
// resourceVersion of the pod as the scheduler knew it, and how many attempts of it had failed, this one
// included. Empty and 0 if that is not known.
type Recorded struct {
	Version string
	Count   int
}

// NewRecorded returns what was recorded, as far as it makes sense.
func NewRecorded(version string, count int) Recorded {
	if !IsVersion(version) || count < 1 {
		return Recorded{}
	}
	return Recorded{version, count}
}

// StatusPatched says that kube-scheduler wrote the outcome of a failed attempt into a pod's status, whether
// that changed the pod or not. Its event's time is when the scheduler had the API server's answer; until
// then it does not begin another attempt.
type StatusPatched struct {
	Pod types.NamespacedName
	UID types.UID
	// Sent is when the API server had the request. The attempt ended before. Zero if not known.
	Sent time.Time
	// Clears is true if no condition was written, and the pod's nomination taken away: most often by an attempt of another pod, and
	// beside the scheduling loop (preemption/executor.go, clearNominatedNodeName).
	Clears bool
}

// Refused says that the API server refused a request of kube-scheduler's that follows an attempt: to write the outcome of a failed
// one into a pod's status, or to bind the pod that it placed. Mostly the pod was gone by then, since requests wait for their
// client's rate limit. Its event's time is when the scheduler had the answer.
type Refused struct {
	Pod types.NamespacedName
	// UID is the pod's. Empty if it is not known.
	UID types.UID
	// Sent is when the API server had the request. Zero if not known.
	Sent time.Time
	// Binding is true if the pod was to be bound. Then the place that it had on a node is free again.
	Binding bool
	// Node is where the pod was to be bound. Empty if it was not, or that is not known.
	Node string
}

// Requested says that kube-scheduler made a request of the API server by the client whose rate limit its scheduling loop
// waits for: patches, bindings, evictions, claims, watches, and no Events nor leases, which have clients of their own
// (cmd/kube-scheduler/app/options/options.go, createClients). Its event's time is when the API server had it.
type Requested struct{}

// Tier names a place a pod can be in, as recordings and JSON output spell it.
type Tier string

// The tiers. A pod that was bound or removed is in none of the queue's own; Scheduled and Gone say so.
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

// Move is a pod's change of tier, seen in the scheduler's own words.
type Move struct {
	Pod types.NamespacedName
	To  Tier
	// Event is upstream's label of what caused the move: "AssignedPodDelete", "BackoffComplete",
	// "ScheduleAttemptFailure". Empty for inflight and scheduled; with deleted, "ScheduleAttemptFailure" is that the
	// attempt has ended of a pod that was deleted meanwhile.
	Event string
	// Restated is true if the scheduler said a second time that the pod is in To, and nothing moved.
	Restated bool
	// Plugins are, after a failed attempt, the plugins that rejected the pod, sorted. Nil and Event
	// "ScheduleAttemptFailure" means that no plugin did: an error, or a cluster without nodes.
	Plugins []string
	// GatingPlugin is the PreEnqueue plugin that gates the pod. Only with To gated.
	GatingPlugin string
	// Message is the scheduler's explanation of a failed attempt, or of what gates the pod.
	Message SafeText
	// Node is where the pod was bound (To scheduled) or nominated (after a failed attempt).
	Node string
	// Unplaced is true after a failed attempt if the log has no line on where the pod went. To is where upstream puts it
	// unless an event came meanwhile.
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

// Triggered are facts that become true once a pod has moved. Only a local scheduler makes moves that are not
// known before: in a recording that is no rerun, it is nothing.
type Triggered struct {
	Pod  types.NamespacedName
	Into Tier
	// Nth is which of the pod's moves into that tier sets it off, from 1, and After is how long after it.
	Nth   int
	After time.Duration
	// Facts are *ObjectChange and *Injected.
	Facts []Fact
}

// Injected is what a person has the scheduling queue do without a change of the cluster. Only a local scheduler does it: in
// a recording that is no rerun, it is nothing.
type Injected struct {
	// What is one of injectable.Names. If it is empty, Pod is activated.
	What string
	Pod  types.NamespacedName
}

// LacksObject reports whether f is an attempt in a scheduler's log, beside objects, of a pod whose object is not among them. Where it is,
// the attempt has the pod's UID.
func LacksObject(f Fact) bool {
	switch f := f.(type) {
	case *FailedAttempt:
		return f.Log && f.UID == ""
	case *Bound:
		return f.UID == ""
	}
	return false
}

// LoggedPod returns the pod that a scheduler's log names, and false if f names none.
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
