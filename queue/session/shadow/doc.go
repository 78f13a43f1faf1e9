// Package shadow infers the actions of a real kube-scheduler where a source does not contain its
// moves.
//
// A local scheduler, upstream's own (queue/cycle), runs over the recorded objects in model time.
// Traces of the real scheduler correct it: the Event of a failed attempt, the patch of the pod's
// status, the binding, a line of its log. Package evidence looks up traces ahead of model time: a
// recording is known to its end, and a live session runs half a second behind.
//
// Whenever its scheduling loop is free, the local scheduler takes the next pod in upstream's queue
// order, unless the traces contradict this (decide.go):
//
//   - The loop waits for the answer to a status patch, as the real one does in releases that make
//     API calls in the loop.
//   - A pod whose next trace is later is left alone until then.
//   - A pod whose attempt would leave a trace, but has none, is left alone. It goes back to the
//     unschedulable pods if nothing else held up the loop. Package evidence knows when a missing
//     trace is conclusive: not while a watch is broken, or while Events or requests are delayed.
//   - A pod whose trace is due now is taken, whether or not it is next in the queue.
//   - While requests wait for the client's rate limit, the order of requests is the order of
//     attempts.
//   - Attempts that need not leave a trace take as long as recent attempts did (pace.go).
//
// When a trace is due, the model follows it (follow.go): a binding binds the pod; a failure
// moves the pod to the tier that its plugins determine. If the local scheduler is not that far, it
// makes the attempts in between first. All causes of moves come from upstream's code: events,
// hints, flushes, backoffs.
//
// Without traces, the same driver runs a rerun: another scheduler decides over the recorded
// objects.
//
// Moves in the source are observed, all others are modelled. Each move records which of the two it
// is and the rule that produced it (package reason). A Feed belongs to one goroutine.
package shadow
