package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board/boardtest"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// handed is a stream that delivers what a test passes to it.
type handed struct {
	events []sources.Event
	status sources.Status
}

func (*handed) Name() sources.SafeText { return "handed" }

func (*handed) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (h *handed) Take() ([]sources.Event, sources.Status) {
	events := h.events
	h.events = nil
	return events, h.status
}

// breaking is a file that fails once broken is set.
type breaking struct {
	archive.File
	read error
}

func (f *breaking) ReadAt(p []byte, at int64) (int, error) {
	if f.read != nil {
		return 0, f.read
	}
	return f.File.ReadAt(p, at)
}

// labelled returns version version of a gated pod.
func labelled(pod, version int) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("p-", pod), UID: types.UID(fmt.Sprint(pod)),
			ResourceVersion: fmt.Sprint(version + 1), Labels: map[string]string{"version": fmt.Sprint(version)}},
		Spec:   v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, SchedulingGates: []v1.PodSchedulingGate{{Name: "hold"}}},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

// TestLivePast: a live session with an archive can show everything and keeps little in memory. A what-if
// can start where the engine is in memory. If the file fails, only the history in memory remains.
func TestLivePast(t *testing.T) {
	file := &breaking{}
	folder := t.TempDir()
	opts := timeline.Options{Memory: 1, OpenArchive: func() (archive.File, error) {
		f, err := disk.Scratch(t.Context(), folder)
		file.File = f
		return file, err
	}}
	start := time.Now().UTC()
	begin := func(opts timeline.Options) (*owner, *handed) {
		stream := &handed{}
		o := NewLive(stream, opts).owner
		o.playing = true
		t.Cleanup(o.close)
		return o, stream
	}
	o, stream := begin(opts)
	all, same := begin(timeline.Options{})
	poll := func(at time.Time, events []sources.Event) {
		for stream, o := range map[*handed]*owner{stream: o, same: all} {
			stream.events, stream.status.Attached = events, start
			o.poll(at)
		}
	}
	const pods, versions = 100, 400
	for v := range versions {
		at, verb := start.Add(time.Duration(v)*time.Second), sources.Updated
		if v == 0 {
			verb = sources.Added
		}
		var events []sources.Event
		for p := range pods {
			events = append(events, sources.Event{Time: at, Fact: &sources.ObjectChange{Verb: verb, Object: labelled(p, v)}})
		}
		if v == 0 {
			events = append(events, sources.Event{Time: at, Fact: &sources.Attached{}})
		}
		poll(at.Add(time.Second), events)
	}
	for i := range 100 {
		poll(start.Add(versions*time.Second+time.Duration(i)*time.Second), nil)
	}
	line := o.recording
	for line.HasEventBy(line.Feed.End) { // the file takes its time
		poll(start.Add((versions+100)*time.Second), nil)
	}
	if kept, _ := line.Kept(); line.ChangeCount() < pods*versions || line.ChangeCount() != all.recording.ChangeCount() || kept > history.MinInMemory+history.KeyframeEvery {
		t.Fatalf("%d of %d changes are in memory, where there are %d", kept, line.ChangeCount(), all.recording.ChangeCount())
	}
	for _, s := range []int{0, 3, 399, 200, 17} {
		at := start.Add(time.Duration(s)*time.Second + 1500*time.Millisecond)
		o.travel(at)
		all.travel(at)
		got, want := o.frame(), all.frame()
		if got, want := boardtest.Picture(got.Board), boardtest.Picture(want.Board); got != want || !strings.Contains(got, "p-7") {
			t.Fatalf("after %d seconds it shows\n%.300s\nwant\n%.300s", s, got, want)
		}
	}
	if o.forkHere(); o.fork != nil || !o.reply.Refused || !strings.Contains(o.reply.Text, "a what-if can start at") {
		t.Errorf("a what-if from long ago: %q", o.reply.Text)
	}

	file.read = errors.New("input/output error")
	o.travel(start.Add(100 * time.Second))
	f := o.frame()
	if !f.Reply.Refused || !strings.Contains(f.Reply.Text, "input/output error") || !f.Start.Equal(line.OldestAt()) || f.Now.Before(f.Start) {
		t.Errorf("at %s of a session from %s on got %q", f.Now, f.Start, f.Reply.Text)
	}
}
