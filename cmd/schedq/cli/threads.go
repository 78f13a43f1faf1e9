package cli

import "runtime"

// busy is how many goroutines can be at work for long beside a person's screen: one that unpacks a file, one that reads it, one that
// plays it, and a worker of the garbage collector.
const busy = 4

// Responsive has what a person does be answered while others work, until undo is called. Who works can take all threads that Go
// runs goroutines on, and then Go lets whoever draws a key's screen wait for 10 ms at a time (runtime/proc.go of Go 1.26,
// forcePreemptNS), several times a key. With more threads than cores the system decides, which prefers those who slept.
func Responsive() (undo func()) {
	before := runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + busy)
	return func() { runtime.GOMAXPROCS(before) }
}
