// Package shadow infers what a real kube-scheduler did where a source does not contain its moves.
//
// A local scheduler, upstream's own (queue/cycle), runs over the recorded objects in model time. Traces of the real one
// correct it: the Event of a failed attempt, the patch of the pod's status, the binding, a line of its log. They are looked
// up ahead of model time, by package evidence: a recording is known to its end, a live session runs half a second behind.
//
// Each time its scheduling loop is free, the local scheduler takes the pod whose turn it is by upstream's queue order, unless
// the traces contradict (decide.go):
//
//   - The loop waits for the answer to a status patch, as the real one does in releases that make their API calls in the loop.
//   - A pod whose next trace comes later is left alone until then.
//   - A pod whose attempt would leave a trace, and has none, is left alone; it goes back if nothing else held the loop up.
//     Package channels knows when silence means something: not while a watch is broken, Events wait, or requests do.
//   - A pod whose trace is due now is taken, whether it is its turn or not.
//   - While requests wait for the client's rate limit, the order of requests is the order of attempts.
//   - Attempts that need not leave a trace take the time that attempts took lately (pace.go).
//
// What follows from a trace when its time comes is in shadowfollow.go: a binding binds the pod, a failure takes it to where
// its plugins say. If the local scheduler has not got that far, it makes the attempts in between first. All causes of moves are
// upstream's code: events, hints, flushes, backoffs.
//
// The same driver without traces is a rerun: another scheduler decides over the recorded objects.
//
// Moves that the source contains are observed, all others modelled, and each move says which it is and by which rule it was
// made (package reason). A Feed belongs to one goroutine.
package shadow
