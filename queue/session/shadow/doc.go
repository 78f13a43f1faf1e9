// Package shadow infers the actions of a real kube-scheduler where a source does not contain its
// moves.
//
// A local scheduler, upstream's own (queue/cycle), runs over the recorded objects in model time.
// Traces of the real scheduler correct it. Package evidence looks them up ahead of model time: a
// recording is known to its end, and a live session runs half a second behind.
//
// What the sources contain of an attempt:
//
//	audit log           its binding or its patch of the pod's status, with the time of the answer
//	Events              its failure, to the microsecond; only the first two of a pod at one version
//	log at -v=2         the pods that were bound
//	log at -v=3, -v=4   the end of each attempt
//	log at -v=5         all moves: the model is not used
//
// Whenever the scheduling loop is free, decide (decide.go) chooses what it does. The first rule that
// applies wins:
//
//  1. Without nodes, or while no scheduler is at work, the loop waits.
//  2. While the real loop waits for the answer to a status patch, so does this one. Releases that
//     make API calls asynchronously never wait.
//  3. While requests wait for the client's rate limit, they are sent in the order of the attempts
//     that made them: the loop takes the pods in this order.
//  4. The pod whose failure is due now is taken, whether or not it is next in the queue.
//  5. Otherwise the loop takes the next pod in upstream's queue order, unless it is held: an attempt
//     of it would leave a trace, and the next trace is later or there is none. If nothing else held
//     up the loop, a pod without a trace was not woken, and goes back to the unschedulable pods.
//
// An attempt of rule 5 that should have left a trace and did not is undone and replaced with the
// next observed failure (insteadOf). Attempts without an observed end take as long as recent ones
// did (pace.go).
//
// A missing trace is conclusive (evidence.Conclusive) if the attempt must leave one: the first
// attempt of a pod, which writes its condition, if the source contains requests; an attempt that the
// event recorder writes; every attempt, if a log contains them. It must be missing for 400 ms
// (evidence.Foresight), which a live session can look ahead, while the watches work and neither
// Events nor requests are delayed.
//
// When model time reaches a trace, the model follows it (follow.go). If the loop has not made that
// attempt, it makes the attempts for which there was time, and then this one. A binding binds the
// pod. A failure ends the attempt; if the model placed the pod or can't make the attempt, the
// plugins in the message determine the tier. All causes of moves come from upstream's code: events,
// hints, flushes, backoffs.
//
// Without traces, the same Driver runs a rerun: another scheduler decides over the recorded objects.
//
// Moves in the source are observed, all others are modelled. Each move records which of the two it
// is and the rule that produced it (package reason). A Feed belongs to one goroutine.
package shadow
