package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// What is in use may be more than the room there is: then there is as much garbage as ever, and not a collection after the other.
func TestRoomIsMoreForWhatIsInUse(t *testing.T) {
	const room = 64 << 20
	before := debug.SetMemoryLimit(-1)
	undo := LimitMemory(room)
	if limit := debug.SetMemoryLimit(-1); limit != room {
		t.Errorf("with little in use the limit is %d MiB", limit>>20)
	}
	var kept [][]byte
	for range 100 {
		kept = append(kept, make([]byte, 1<<20))
	}
	limitWithin(t, 160<<20, 224<<20)
	runtime.KeepAlive(kept)
	kept = nil
	limitWithin(t, room, room) // and is moved more than once
	undo()
	if limit := debug.SetMemoryLimit(-1); limit != before {
		t.Errorf("after undo the limit is %d MiB", limit>>20)
	}
}

// limitWithin collects garbage until the limit is within least and most.
func limitWithin(t *testing.T, least, most int64) {
	t.Helper()
	for range 100 {
		runtime.GC()
		if limit := debug.SetMemoryLimit(-1); least <= limit && limit <= most {
			return
		}
	}
	t.Errorf("the limit is %d MiB, not %d to %d", debug.SetMemoryLimit(-1)>>20, least>>20, most>>20)
}

func TestLimit(t *testing.T) {
	for _, test := range []struct {
		u    used
		want int64
	}{
		{used{live: 10, rest: 5}, 1000},
		{used{live: 500, rest: 100}, 1000},
		{used{live: 1000, rest: 100}, 1700},
	} {
		if got := limitFor(1000, test.u); got != test.want {
			t.Errorf("with %+v in use the limit is %d, not %d", test.u, got, test.want)
		}
	}
}
