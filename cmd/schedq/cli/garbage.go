package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Of the heap that is in use garbage may be mostGarbage percent where there is room for it, and leastGarbage where there is none.
const (
	mostGarbage  = 400
	leastGarbage = 60
)

// Room has garbage collected only where the program's memory (all that Go has of the system) would be more than room bytes, and
// there often enough that it stays little more than what is in use. A collection takes as long as much is in use, whatever it
// frees: with a little room the same work needs a third of them.
//
// A limit alone (debug.SetMemoryLimit) would have a program that uses more than it do little else than collect. Until undo is
// called, the limit is therefore moved after each collection.
func LimitMemory(room int64) (undo func()) {
	percent, limit := debug.SetGCPercent(mostGarbage), debug.SetMemoryLimit(room)
	l := &limited{room: room}
	l.follow()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// limited is a limit that is moved after each collection.
type limited struct {
	room int64
	mu   sync.Mutex
	over bool
}

// follow moves the limit after the next collection, and after each from then on, until that is over. It is sooner too low meanwhile
// than too high: what came into use since the last one is not in it yet.
func (l *limited) follow() {
	collected := new(*limited) // a pointer, since what holds none can be kept together with others
	runtime.AddCleanup(collected, func(l *limited) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over {
			debug.SetMemoryLimit(limitFor(l.room, inUse()))
			l.follow()
		}
	}, l)
}

// used is memory in use, in bytes: by the heap's objects as of the last collection, and by the rest of Go.
type used struct{ live, rest int64 }

// limitFor is how much memory there may be where room bytes should do.
func limitFor(room int64, u used) int64 { return max(room, u.live+u.live*leastGarbage/100+u.rest) }

// inUse measures how much is in use.
func inUse() used {
	all := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(all)
	u := used{live: int64(all[0].Value.Uint64()), rest: int64(all[1].Value.Uint64())}
	for _, heap := range all[2:] {
		u.rest -= int64(heap.Value.Uint64())
	}
	return u
}
