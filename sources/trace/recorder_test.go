package trace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/trace"
)

// endless is a stream that tells a mark each time it is asked.
type endless struct{ told int }

func (*endless) Name() sources.SafeText { return "endless" }

func (*endless) Run(ctx context.Context) error { <-ctx.Done(); return nil }

func (e *endless) Take() ([]sources.Event, sources.Status) {
	e.told++
	at := time.Date(2026, 11, 21, 12, 0, 0, e.told, time.UTC)
	return []sources.Event{{Time: at, Fact: &sources.Mark{Text: sources.SafeText(fmt.Sprint("mark ", e.told))}}}, sources.Status{}
}

// readMarks reads a trace as it is on the disk.
func readMarks(t *testing.T, path string) (marks int, notices []string) {
	t.Helper()
	r, err := lines.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	part, err := trace.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return len(part.Events), part.Notices
}

// TestRecorderIsSafeToKill: what was taken is on the disk within a second, while the recording goes on,
// plain and compressed. So a process that is killed loses no more.
func TestRecorderIsSafeToKill(t *testing.T) {
	for _, name := range []string{"plain.jsonl", "packed.jsonl.gz", "packed.jsonl.zst"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			r, err := trace.Record(t.Context(), &endless{}, path, 0, disk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() { ended <- r.Run(ctx) }()
			for range 3 {
				r.Take()
			}
			taken := time.Now()
			for {
				if marks, _ := readMarks(t, path); marks == 3 {
					break
				}
				if time.Since(taken) > 10*time.Second {
					t.Fatal("what was taken is not on the disk")
				}
				time.Sleep(20 * time.Millisecond)
			}
			if late := time.Since(taken); late > time.Second {
				t.Errorf("it took %s", late)
			}
			r.Take()
			stop()
			<-ended
			if err := r.Close(); err != nil || r.Written() != 4 {
				t.Errorf("%v, %d were written", err, r.Written())
			}
			if marks, notices := readMarks(t, path); marks != 4 || len(notices) > 0 {
				t.Errorf("%d marks are in the trace, %q", marks, notices)
			}
		})
	}
}

// TestRecorderEnds: at its full size, or on a disk that is full, the recording ends and says so; the stream
// goes on.
func TestRecorderEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.jsonl")
	r, err := trace.Record(t.Context(), &endless{}, path, 100, disk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Take()
	for range 100_000 {
		r.Take()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	events, status := r.Take()
	if len(events) != 1 || len(status.Notices) != 1 || !strings.Contains(status.Notices[0], "has its full size") {
		t.Errorf("%d events, %q", len(events), status.Notices)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 200_000 {
		t.Errorf("%v, the trace has %d bytes", err, info.Size())
	}

	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("/dev/full does not exist")
	}
	_, err = trace.Record(t.Context(), &endless{}, "/dev/full", 0, disk.Options{})
	if err == nil || !strings.Contains(err.Error(), "/dev/full can't be written: no space left on device") {
		t.Errorf("%v", err)
	}
}

// TestBeforeTheRecording: what a live cluster's recording begins with is read as it was written.
func TestBeforeTheRecording(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pod := types.NamespacedName{Namespace: "default", Name: "web-1"}
	want := &sources.Tried{Pod: pod, UID: "u", Attempts: 4, First: at.Add(-time.Hour), Failed: at.Add(-time.Minute), Message: "0/1 nodes are available"}
	var b strings.Builder
	w, err := trace.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []sources.Fact{want, &sources.Tried{Pod: pod, Attempts: 1}, &sources.Attached{}} {
		if err := w.Write(sources.Event{Time: at, Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := lines.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	part, err := trace.Read(r)
	if err != nil || len(part.Events) != 3 || len(part.Notices) > 0 {
		t.Fatalf("%v, %d events, %q", err, len(part.Events), part.Notices)
	}
	if got := part.Events[0].Fact.(*sources.Tried); *got != *want {
		t.Errorf("read %+v, want %+v", got, want)
	}
	if _, ok := part.Events[2].Fact.(*sources.Attached); !ok {
		t.Errorf("read %T", part.Events[2].Fact)
	}
}
