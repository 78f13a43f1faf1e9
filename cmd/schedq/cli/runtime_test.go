package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestLimitMemory: the limit grows with the live heap, so that the program does not collect all the
// time, and shrinks again.
func TestLimitMemory(t *testing.T) {
	const budget = 64 << 20
	before := debug.SetMemoryLimit(-1)
	undo := LimitMemory(budget)
	if limit := debug.SetMemoryLimit(-1); limit != budget {
		t.Errorf("with a small heap the limit is %d MiB", limit>>20)
	}
	var kept [][]byte
	for range 100 {
		kept = append(kept, make([]byte, 1<<20))
	}
	waitForLimit(t, 160<<20, 224<<20)
	runtime.KeepAlive(kept)
	kept = nil
	waitForLimit(t, budget, budget)
	undo()
	if limit := debug.SetMemoryLimit(-1); limit != before {
		t.Errorf("after undo the limit is %d MiB", limit>>20)
	}
}

// waitForLimit collects garbage until the limit is between least and most.
func waitForLimit(t *testing.T, least, most int64) {
	t.Helper()
	for range 100 {
		runtime.GC()
		if limit := debug.SetMemoryLimit(-1); least <= limit && limit <= most {
			return
		}
	}
	t.Errorf("the limit is %d MiB, want %d to %d", debug.SetMemoryLimit(-1)>>20, least>>20, most>>20)
}

func TestLimitFor(t *testing.T) {
	for _, test := range []struct {
		u    usage
		want int64
	}{
		{usage{live: 10, rest: 5}, 1000},
		{usage{live: 500, rest: 100}, 1000},
		{usage{live: 1000, rest: 100}, 1700},
	} {
		if got := limitFor(1000, test.u); got != test.want {
			t.Errorf("with %+v the limit is %d, want %d", test.u, got, test.want)
		}
	}
}
