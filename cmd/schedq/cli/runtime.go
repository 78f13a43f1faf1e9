package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// maxGarbage and minGarbage are GOGC, in percent of the heap in use: the first while there is memory
// left, the second once there is none.
const (
	maxGarbage = 400
	minGarbage = 60
)

// LimitMemory collects garbage only when Go's total memory would exceed budget bytes. A collection
// costs as much as the heap in use, whatever it frees: with a small budget the same work needs a third
// of the collections.
//
// With debug.SetMemoryLimit alone, a program whose live heap exceeds the limit does little but
// collect. Therefore the limit moves after each collection, until undo is called.
func LimitMemory(budget int64) (undo func()) {
	percent, limit := debug.SetGCPercent(maxGarbage), debug.SetMemoryLimit(budget)
	l := &movingLimit{budget: budget}
	l.follow()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// movingLimit is a memory limit that moves after each collection.
type movingLimit struct {
	budget int64
	mu     sync.Mutex
	over   bool
}

// follow moves the limit after each collection until l is over. The limit is rather too low than too
// high, because it misses what was allocated since.
func (l *movingLimit) follow() {
	collected := new(*movingLimit) // a pointer: the runtime may batch pointer-free objects with others
	runtime.AddCleanup(collected, func(l *movingLimit) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over {
			debug.SetMemoryLimit(limitFor(l.budget, readUsage()))
			l.follow()
		}
	}, l)
}

// usage is memory in use, in bytes: live heap objects as of the last collection, and the rest of Go.
type usage struct{ live, rest int64 }

// limitFor returns the memory limit for a budget.
func limitFor(budget int64, u usage) int64 { return max(budget, u.live+u.live*minGarbage/100+u.rest) }

func readUsage() usage {
	all := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(all)
	u := usage{live: int64(all[0].Value.Uint64()), rest: int64(all[1].Value.Uint64())}
	for _, heap := range all[2:] {
		u.rest -= int64(heap.Value.Uint64())
	}
	return u
}

// busyGoroutines is how many goroutines can keep a thread busy next to a screen: one that decompresses
// a file, one that reads it, one that plays it, and a worker of the garbage collector.
const busyGoroutines = 4

// AddThreads raises GOMAXPROCS until undo is called, to keep the screen responsive while others
// compute. When busy goroutines hold all threads, Go makes the goroutine that draws a key's screen
// wait 10 ms at a time (forcePreemptNS in runtime/proc.go of Go 1.26), several times per key. With more
// threads than cores the operating system decides, and it prefers threads that slept.
func AddThreads() (undo func()) {
	before := runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + busyGoroutines)
	return func() { runtime.GOMAXPROCS(before) }
}
