// Package leak checks in tests that nothing is left of what has ended.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

const (
	// warmUp is how many rounds create what all rounds share: caches, pools, connections.
	warmUp = 3
	// perRound and slack are how many bytes a round may leave on average, and all of them, since the heap is never
	// exactly the same. A session is larger than 100 KiB, so ten rounds show it.
	perRound = 16 << 10
	slack    = 512 << 10
)

// patience is how long Check waits for something to end before it counts the rest as left. Before the rounds it waits a
// twentieth, because nothing fails then.
var patience = 10 * time.Second

// Check calls round often, with numbers from 0, and fails the test if goroutines, open files or memory are left. A
// round may leave work that ends by itself soon. Nothing else may run in the process.
func Check(t testing.TB, rounds int, round func(n int)) {
	t.Helper()
	for n := range warmUp {
		round(n)
	}
	before := rest(patience/20, func(usage) bool { return false })
	for n := range rounds {
		round(warmUp + n)
	}
	after := rest(patience, func(u usage) bool { return !u.exceeds(before, rounds) })
	if !after.exceeds(before, rounds) {
		return
	}
	t.Errorf("after %d rounds: %s, before: %s", rounds, after, before)
	if after.goroutines > before.goroutines {
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		t.Logf("goroutines:\n%s", stacks.String())
	}
}

// usage is what the process uses.
type usage struct {
	goroutines, files int
	memory            int64 // bytes
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d open files, %d KiB", u.goroutines, u.files, u.memory>>10)
}

func (u usage) exceeds(before usage, rounds int) bool {
	return u.goroutines > before.goroutines || u.files > before.files || u.memory > before.memory+slack+int64(rounds)*perRound
}

// rest waits until nothing has ended for that long, or until enough reports true, and returns the usage.
func rest(quiet time.Duration, enough func(usage) bool) usage {
	u := measure()
	for since := time.Now(); time.Since(since) < quiet && !enough(u); {
		time.Sleep(20 * time.Millisecond)
		before := u
		if u = measure(); u.goroutines < before.goroutines || u.files < before.files {
			since = time.Now()
		}
	}
	return u
}

func measure() usage {
	runtime.GC()
	runtime.GC() // pools keep for one cycle what they hold
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{goroutines: runtime.NumGoroutine(), memory: int64(m.HeapAlloc + m.StackInuse)}
	if open, err := os.ReadDir("/dev/fd"); err == nil { // Windows has none
		u.files = len(open)
	}
	return u
}
