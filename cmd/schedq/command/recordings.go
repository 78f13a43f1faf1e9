package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/trace"
)

// Each has at most maxRecording bytes, and all together maxRecordings.
const (
	maxRecording  = 256 << 20
	maxRecordings = 1 << 30
)

// Begin begins a recording of stream, which is watched from now on, and returns it and the path of its file. The
// caller closes it. The oldest recordings are removed first, so that there is room.
func beginRecording(ctx context.Context, stream sources.Stream, now time.Time) (*trace.Recorder, string, error) {
	state, err := disk.StateFolder()
	if err != nil {
		return nil, "", err
	}
	folder := filepath.Join(state, "recordings")
	if err := disk.Folder(ctx, folder); err != nil {
		return nil, "", err
	}
	if err := makeRecordingRoom(ctx, folder, maxRecordings-maxRecording); err != nil {
		return nil, "", err
	}
	for {
		path := filepath.Join(folder, recordingFileName(stream.Name(), now))
		r, err := trace.Record(ctx, stream, path, maxRecording, disk.Options{})
		if !errors.Is(err, fs.ErrExist) {
			return r, path, err
		}
		now = now.Add(time.Millisecond) // another schedq began one of this cluster in the same
	}
}

// List returns the paths of all that Begin has begun, the newest first.
func listRecordings() ([]string, error) {
	state, err := disk.StateFolder()
	if err != nil {
		return nil, nil // who has no home has none
	}
	folder := filepath.Join(state, "recordings")
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("your recordings can't be listed: %w", err)
	}
	var paths []string
	for _, e := range slices.Backward(entries) { // their names begin with when they were begun
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, nil
}

// fileName is what a recording of the named cluster from start on is called. It is plain: a file that
// ends anywhere can be read.
func recordingFileName(cluster sources.SafeText, start time.Time) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, string(cluster))
	plain = strings.Trim(plain[:min(len(plain), 60)], ".-")
	return start.UTC().Format("20060102T150405.000Z") + "-" + cmp.Or(plain, "cluster") + ".jsonl"
}

// makeRoom removes the oldest recordings in folder until the others have at most limit bytes. Other files
// are left alone, and those that are being written.
func makeRecordingRoom(ctx context.Context, folder string, limit int64) error {
	names, err := filepath.Glob(filepath.Join(folder, "[0-9]*T[0-9]*Z-*.jsonl"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	slices.Reverse(names) // the newest first
	var total int64
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if total += info.Size(); total <= limit || disk.WrittenNow(ctx, name) {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("an old recording can't be removed: %w", err)
		}
	}
	return nil
}
