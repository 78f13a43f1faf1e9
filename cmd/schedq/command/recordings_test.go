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

// TestMakeRoom: the oldest recordings go first, and nothing else goes.
func TestMakeRoom(t *testing.T) {
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
	if err := makeRecordingRoom(t.Context(), dir, 250); err != nil {
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
		t.Errorf("left are %q, want %q", left, want)
	}
}

// still is a stream in which nothing happens.
type still struct{}

func (still) Name() sources.SafeText                  { return "still" }
func (still) Run(ctx context.Context) error           { <-ctx.Done(); return nil }
func (still) Take() ([]sources.Event, sources.Status) { return nil, sources.Status{} }

// TestRecordingsAreOnesOwn: the folder of automatic recordings is closed to others also if it was there, and a
// recording that is being written is not removed to make room.
func TestRecordingsAreOnesOwn(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	folder := filepath.Join(state, "schedq", "recordings")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r, path, err := beginRecording(t.Context(), still{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if again, other, err := beginRecording(t.Context(), still{}, now); err != nil || other == path {
		t.Errorf("two that begin at once write %s and %s, %v", path, other, err)
	} else if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]fs.FileMode{folder: fs.ModeDir | 0o700, path: 0o600} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", at, info.Mode(), err)
		}
	}
	for range 2 {
		if err := makeRecordingRoom(t.Context(), folder, 0); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(path)
		if gone := err != nil; gone != (r == nil) {
			t.Errorf("its being gone is %v", gone)
		}
		if r != nil {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			r = nil
		}
	}
}

// TestList: the newest recording comes first, and nothing else is listed; where nothing was recorded there is none.
func TestList(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if found, err := listRecordings(); err != nil || len(found) > 0 {
		t.Errorf("without a folder there are %q, %v", found, err)
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
		t.Errorf("listed are %q, %v, want %q", found, err, want)
	}
}
