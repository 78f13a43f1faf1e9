package command

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/lessons"
)

// TestFollowNotes: the notes are those of the published step.
func TestFollowNotes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	progress, err := openProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- followNotes(ctx, w, progress, all)
		w.Close()
	}()
	var text strings.Builder
	steps := []int{0, 1, 1, 2}
	for i, want := range []string{"Ask who has seen a pod Pending for an hour", "✗ backoff: Backoff is a penalty for a failed attempt", "Have everybody point at a pane", "✓ unschedulable: A plugin rejected it"} {
		progress.Publish(publishedStage{Stage: lessons.Stage{Lesson: "three-places", Step: steps[i]}})
		for block := make([]byte, 4<<10); !strings.Contains(text.String(), want); {
			n, err := out.Read(block)
			if err != nil {
				t.Fatalf("%v: no %q in\n%s", err, want, text.String())
			}
			text.Write(block[:n])
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
