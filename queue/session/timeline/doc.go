// Package timeline runs a recording, a live cluster or a what-if through the queue and keeps what happened.
//
// An Engine applies events (objects, the scheduler's moves, the model's moves) to a queue.Queue and emits board changes. It
// only moves forward. A Timeline is an engine with its history: it shows any earlier moment by reading the history, which
// executes nothing.
//
// A what-if is a fork of a Timeline. It starts with the engine at the moment shown, which is rebuilt from the checkpoint
// before that moment if the timeline has advanced since. The user's actions in it are kept as injections: undo, redo and
// actions in its past repeat the injections from the fork's start, with the same result. Either the user makes the
// scheduling decisions, or a local kube-scheduler does. Loading one into a large cluster takes a quarter of a second, so
// Spare loads one in advance.
//
//	engine.go      apply events to the queue
//	timeline.go    execute, seek and step
//	checkpoint.go  rebuild an earlier engine
//	memory.go      limit the memory of a long history
//	fork.go        what-ifs, their actions, undo
//	whatif.go      the local scheduler of a what-if, previews of injections
//	spare.go       load a scheduler in advance
//	replay.go      run a recording to its end; live.go, follow a cluster
//
// A timeline belongs to one goroutine. The boards, moves and series that it returns are immutable.
package timeline
