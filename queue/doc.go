// Package queue is the scheduling queue of kube-scheduler v1.37 as a pure state machine: activeQ, backoffQ,
// unschedulable pods, gated pods and pods in flight.
//
// It models k8s.io/kubernetes/pkg/scheduler/backend/queue. Unlike upstream it has no goroutine, no lock and no clock: every
// method takes the time, and whoever owns the queue calls the two flushes when they are due. The same calls give the same
// result. Every move is handed to an Observer as a value.
//
// # States
//
// Where a pod is, what moves it, and the label that the move has:
//
//	(new) ─────────────── Add ──────────────────▶ active         UnscheduledPodAdd
//	(new) ─────────────── Add ──────────────────▶ gated          UnscheduledPodAdd: a PreEnqueue plugin holds it
//	gated ─────────────── MoveAll…, Update ─────▶ active         the event, if it is one of the gating plugin's and that lets go
//	active ────────────── Pop ──────────────────▶ inflight
//	backoff ───────────── Pop ──────────────────▶ inflight       if activeQ is empty, with PopFromBackoffQ
//	inflight ──────────── AddUnschedulable… ────▶ unschedulable  ScheduleAttemptFailure: plugins rejected it
//	inflight ──────────── AddUnschedulable… ────▶ backoff        ScheduleAttemptFailure: an error, or an event that came meanwhile
//	                                              active         may help; active if such a plugin waits for just this event
//	inflight ──────────── Bound, Done ──────────▶ scheduled, deleted
//	unschedulable, gated  MoveAll…, Update ─────▶ backoff        the event, if a hint says so
//	                                              active         the same, if its backoff is over
//	unschedulable, gated  FlushUnschedulable… ──▶ backoff, active    UnschedulableTimeout: after five minutes
//	backoff ───────────── FlushBackoffCompleted ▶ active         BackoffComplete
//	any but active ────── Activate ─────────────▶ active         ForceActivate
//	any that waits ────── Delete ───────────────▶ deleted
//
// What goes to activeQ, and with PopFromBackoffQ to backoffQ, is gated instead if a PreEnqueue plugin holds it. With
// GenericWorkload, a pod of a pod group is incomplete until its PodGroup is observed, and pending while its group is tried
// without it.
//
// # Entities
//
// What lies in activeQ, backoffQ and among the unschedulable is an entity: a pod group with its members, or a pod alone, which is
// an entity of one. What wakes one pod of an entity moves all of it. Every method begins with the pod that is stored under
// the name: what the caller's object says of its group matters only if there is none.
//
// # Invariants
//
// After every call:
//
//   - An entity lies in one place, at the position that it knows, with its present keys; a heap is in order.
//   - A pod is in one of: an entity, its group's incomplete or pending pods, in flight. Its tier says which, and is what the
//     Observer was told last; it is gated if and only if it lies among the unschedulable and its entity has a gating plugin.
//   - A name finds the pod that waits or, if none does, the first one in flight; a UID finds the one in flight.
//   - The number of pods in a tier is what PendingPods says.
//   - No event is kept that no pod in flight will be asked about.
//
// A caller's mistake (a pod that is added twice, an unknown one, a failure that was not popped, time that goes back) has
// upstream's outcome, but that a name is never there twice: the newer pod replaces the older one.
//
// What is otherwise in releases before v1.37 is an option: see Rules. It is resolved when the queue is made.
//
// It imports nothing of the project but small tables: framework, labels, nominated, pluginname, pluginset.
package queue
