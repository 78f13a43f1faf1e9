// Package queue implements the scheduling queue of kube-scheduler v1.37 as a pure state machine.
//
// A [Queue] models k8s.io/kubernetes/pkg/scheduler/backend/queue: activeQ, backoffQ, unschedulable
// and gated pods, pods in flight, and pod groups. It has no goroutines and no clock; only
// nominations have a lock, because upstream's plugins read them concurrently. Every method takes
// the current time, and the caller runs the two periodic flushes. The same calls
// therefore give the same result, and [Queue.Clone] can fork a queue at any point. The queue reports
// every move to an [Observer].
//
// Earlier releases differ from v1.37 in their [Rules]; [ForRelease] returns the options of a release.
//
// A queue can also follow a real scheduler: [Queue.Observe] puts a pod where the real scheduler put
// it, without asking plugins or hints.
//
// # States
//
// Each line is a move between two states, with the methods that cause it and its label:
//
//	(new) ─────────────── Add ──────────────────▶ active         UnscheduledPodAdd
//	(new) ─────────────── Add ──────────────────▶ gated          UnscheduledPodAdd: a PreEnqueue plugin rejects the pod
//	gated ─────────────── MoveAll…, Update ─────▶ active         the event, if the gating plugin registered for it and now admits the pod
//	active ────────────── Pop ──────────────────▶ inflight
//	backoff ───────────── Pop ──────────────────▶ inflight       only with PopFromBackoffQ, when activeQ is empty
//	inflight ──────────── AddUnschedulable… ────▶ unschedulable  ScheduleAttemptFailure: plugins rejected the pod
//	inflight ──────────── AddUnschedulable… ────▶ backoff        ScheduleAttemptFailure: an error, or an event during the attempt
//	                                              active         may help; active if a pending plugin's hint returns Queue
//	inflight ──────────── Bound, Done ──────────▶ scheduled, deleted
//	unschedulable, gated  MoveAll…, Update ─────▶ backoff        the event, if a hint returns Queue
//	                                              active         the same, after the backoff has expired
//	unschedulable, gated  FlushUnschedulable… ──▶ backoff, active    UnschedulableTimeout: after five minutes
//	backoff ───────────── FlushBackoffCompleted ▶ active         BackoffComplete
//	any but active ────── Activate ─────────────▶ active         ForceActivate
//	any that waits ────── Delete ───────────────▶ deleted
//
// A PreEnqueue plugin can gate a pod on its way to activeQ and, with PopFromBackoffQ, to backoffQ.
// With GenericWorkload, a pod of a pod group is incomplete until its PodGroup is observed, and pending
// while the rest of its group is being scheduled.
//
// # Entities
//
// activeQ, backoffQ and the unschedulable pods hold entities: a pod group with its members, or a
// single pod. An event that wakes one pod of an entity moves the whole entity.
//
// A method that receives a pod looks it up by name and uses the group of the stored object. The group
// of the caller's object counts only if the queue does not know the pod.
//
// # Invariants
//
// After every call:
//
//   - An entity is in one place, at the position it records, with current sort keys. Heaps are in order.
//   - A pod is in an entity, among its group's incomplete or pending pods, or in flight. Its tier says
//     which, and equals the last tier reported to the Observer. A pod is gated if and only if it is among
//     the unschedulable pods and its entity has a gating plugin.
//   - A name finds the waiting pod or, if none waits, the oldest one in flight. A UID finds the pod in
//     flight.
//   - PendingPods returns the number of pods in a tier.
//   - The queue retains an event only while a pod in flight may need it.
//
// # Misuse
//
// If a caller makes a mistake, the queue ends up in the state that upstream's would. Examples are adding a pod
// twice, a failure of a pod that was never popped, and time that goes backwards. The one exception: a
// queue never holds two waiting pods of the same name; the newer one replaces the older one.
package queue
