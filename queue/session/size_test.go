package session

import (
	"context"
	"iter"
	"runtime"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
)

// TestSizeIsWhatTheHeapHolds: a session's Size is within half of the heap's growth.
func TestSizeIsWhatTheHeapHolds(t *testing.T) {
	rec, err := embedded.Open(context.Background(), "lively-nopop")
	if err != nil {
		t.Fatal(err)
	}
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	warm := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins}) // creates shared data
	warm.seek(warm.recording.End)
	warm.close()
	before := heap()
	o := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins})
	defer o.close()
	is := func(what string) {
		t.Helper()
		size, used := o.size(), heap()-before
		t.Logf("%s: Size is %.2f MB, the heap uses %.2f MB; %d changes", what, float64(size)/(1<<20), float64(used)/(1<<20), o.shownTimeline().ChangeCount())
		if size < used/2 || size > 2*used {
			t.Errorf("%s: Size is %d bytes, and the heap uses %d", what, size, used)
		}
	}
	o.seek(o.recording.End)
	is("the recording, played to its end")
	o.forkHere()
	o.toggleScheduler()
	is("a what-if with a scheduler")
	o.playing, o.speed = true, MaxSpeed
	for range 6 {
		o.advance(time.Second)
	}
	is("the same, hours later")
	for range 2 {
		o.injectNamed("NodeAdd")
		o.branchHere()
		o.advance(time.Second)
	}
	is("three what-ifs")
	runtime.KeepAlive(rec)
}

// TestSizeOfALongRecording: Size includes what was read of a recording that is read as it is played.
func TestSizeOfALongRecording(t *testing.T) {
	open := func(ctx context.Context) *sources.Recording {
		rec, err := embedded.Open(ctx, "lively-nopop")
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	gist := cluster.NewSummary()
	for ev := range open(t.Context()).All(t.Context()) {
		gist.Add(ev)
	}
	rec := &sources.Recording{Name: "long", Events: gist.Events(), Reread: func(ctx context.Context) iter.Seq2[sources.Event, error] { return open(ctx).All(ctx) }}
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	play := func() *owner {
		o := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins})
		o.seek(o.recording.End)
		o.finish(t.Context())
		return o
	}
	play().close() // creates shared data
	before := heap()
	o := play()
	defer o.close()
	size, used := o.size(), heap()-before
	t.Logf("Size is %.2f MB, the heap uses %.2f MB; %d changes", float64(size)/(1<<20), float64(used)/(1<<20), o.shownTimeline().ChangeCount())
	if size < used/2 || size > used*3/2 {
		t.Errorf("Size is %d bytes, and the heap uses %d", size, used)
	}
	runtime.KeepAlive(rec)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
