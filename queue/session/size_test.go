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

// TestSizeIsWhatTheHeapHolds: what a session says that it holds is what the heap grew by, give or take a half.
func TestSizeIsWhatTheHeapHolds(t *testing.T) {
	rec, err := embedded.Open(context.Background(), "lively-nopop")
	if err != nil {
		t.Fatal(err)
	}
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	warm := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins}) // what all share made
	warm.seekEnd()
	warm.close()
	before := heap()
	o := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins})
	defer o.close()
	is := func(what string) {
		t.Helper()
		said, held := o.size(), heap()-before
		t.Logf("%s: it says %.2f MB, the heap holds %.2f MB; %d changes", what, float64(said)/(1<<20), float64(held)/(1<<20), o.shownLine().ChangeCount())
		if said < held/2 || said > 2*held {
			t.Errorf("%s: it says %d bytes, and the heap holds %d", what, said, held)
		}
	}
	o.seekEnd()
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

// TestSizeOfALongRecording: of a recording that is read as it is played, what was read counts, too.
func TestSizeOfALongRecording(t *testing.T) {
	open := func(ctx context.Context) *sources.Recording {
		rec, err := embedded.Open(ctx, "lively-nopop")
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	gist := cluster.NewGist()
	for ev := range open(t.Context()).All(t.Context()) {
		gist.Add(ev)
	}
	rec := &sources.Recording{Name: "long", Gist: gist.Events(), Again: func(ctx context.Context) iter.Seq2[sources.Event, error] { return open(ctx).All(ctx) }}
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	play := func() *owner {
		o := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins})
		o.seekEnd()
		o.finish(t.Context())
		return o
	}
	play().close() // what all share is made
	before := heap()
	o := play()
	defer o.close()
	said, held := o.size(), heap()-before
	t.Logf("it says %.2f MB, the heap holds %.2f MB; %d changes", float64(said)/(1<<20), float64(held)/(1<<20), o.shownLine().ChangeCount())
	if said < held/2 || said > held*3/2 {
		t.Errorf("it says %d bytes, and the heap holds %d", said, held)
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
