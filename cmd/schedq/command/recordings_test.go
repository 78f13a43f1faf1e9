package command

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestPruneRecordings removes the oldest recordings and no other files.
func TestPruneRecordings(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var names []string
	for i := range 4 {
		names = append(names, recordingFileName("prod/\x1beu", at.Add(time.Duration(i)*time.Hour)))
	}
	for _, name := range append(names, "notes.txt") {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := pruneRecordings(t.Context(), dir, 250); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{names[2], names[3], "notes.txt"}; !slices.Equal(left, want) || names[2] != "20261121T140000.000Z-prod--eu.jsonl" {
		t.Errorf("left %q, want %q", left, want)
	}
}

// idleStream is a stream without events.
type idleStream struct{}

func (idleStream) Name() sources.SafeText                  { return "idle" }
func (idleStream) Run(ctx context.Context) error           { <-ctx.Done(); return nil }
func (idleStream) Take() ([]sources.Event, sources.Status) { return nil, sources.Status{} }

// TestStartRecording: only the owner can read recordings, even in an existing folder, and a
// recording that is being written is not removed.
func TestStartRecording(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	folder := filepath.Join(state, "schedq", "recordings")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r, path, err := startRecording(t.Context(), idleStream{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if again, other, err := startRecording(t.Context(), idleStream{}, now); err != nil || other == path {
		t.Errorf("two recordings of the same time: %s and %s, %v", path, other, err)
	} else if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]fs.FileMode{folder: fs.ModeDir | 0o700, path: 0o600} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", at, info.Mode(), err)
		}
	}
	for range 2 {
		if err := pruneRecordings(t.Context(), folder, 0); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(path)
		if gone := err != nil; gone != (r == nil) {
			t.Errorf("removed: %v", gone)
		}
		if r != nil {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			r = nil
		}
	}
}

// TestListRecordings lists recordings, the newest first, and no other files.
func TestListRecordings(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if found, err := listRecordings(); err != nil || len(found) > 0 {
		t.Errorf("without a folder: %q, %v", found, err)
	}
	folder := filepath.Join(state, "schedq", "recordings")
	if err := os.MkdirAll(filepath.Join(folder, "a folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	older, newer := recordingFileName("b", at), recordingFileName("a", at.Add(time.Hour))
	for _, name := range []string{newer, older, "notes.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := listRecordings()
	if want := []string{filepath.Join(folder, newer), filepath.Join(folder, older)}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v, want %q", found, err, want)
	}
}
