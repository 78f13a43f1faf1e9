// Package model is the model of the real scheduler: events of a source go in, and come out with the moves of the
// scheduler between them, where the source does not tell those itself.
//
//	Feed      what an engine follows: a recording's events or a live source's, and the moves
//	shadow    takes each event out of the future; lets time pass up to it; follows what it shows
//	oracle    decides what the loop does next: take a pod, wait, or sleep (decide.go, a pure function of what is seen)
//	driver    carries the loop's decision out on a local kube-scheduler (queue/cycle)
//	rerun     the same driver without an oracle: nothing corrects it
//
// What silence means is said by package channels. Every constant that decides stands in rules.go, or there, with where it comes from. A move that is told by the source is
// observed, every other is modelled, and each knows which it is. A Feed belongs to one goroutine; the events that it
// handed out do not change. The package imports evidence, channels, cluster, the queue and the cycle, and knows no board and no
// history.
package model
