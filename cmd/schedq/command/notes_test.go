package command

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedq/schedq/lessons"
)

// lockedBuffer is a buffer that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestNotesFollow: the notes are those of the step that is shown.
func TestNotesFollow(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	kept, err := OpenProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out lockedBuffer
	ended := make(chan error)
	go func() { ended <- followNotes(ctx, &out, kept, all) }()
	steps := []int{0, 1, 1, 2}
	for i, want := range []string{"Ask who has seen a pod Pending for an hour", "✗ backoff: Backoff is a penalty for a failed attempt", "Have everybody point at a pane", "✓ unschedulable: A plugin rejected it"} {
		kept.Tell(progressStage{Stage: lessons.Stage{Lesson: "three-places", Step: steps[i]}})
		for deadline := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the notes are\n%s\nwant %s", out.String(), want)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
