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

// Maximum sizes, in bytes, of a recording that attach makes and of all of them together.
const (
	maxRecording  = 256 << 20
	maxRecordings = 1 << 30
)

// recordingsFolder returns the folder of the recordings that attach makes.
func recordingsFolder() (string, error) {
	state, err := disk.StateFolder()
	return filepath.Join(state, "recordings"), err
}

// startRecording starts to record stream and returns the recorder and the path of its file. The caller
// closes the recorder. It removes the oldest recordings to stay below maxRecordings.
func startRecording(ctx context.Context, stream sources.Stream, now time.Time) (*trace.Recorder, string, error) {
	folder, err := recordingsFolder()
	if err != nil {
		return nil, "", err
	}
	if err := disk.Folder(ctx, folder); err != nil {
		return nil, "", err
	}
	if err := pruneRecordings(ctx, folder, maxRecordings-maxRecording); err != nil {
		return nil, "", err
	}
	for {
		path := filepath.Join(folder, recordingFileName(stream.Name(), now))
		r, err := trace.Record(ctx, stream, path, maxRecording, disk.Options{})
		if !errors.Is(err, fs.ErrExist) {
			return r, path, err
		}
		now = now.Add(time.Millisecond) // another schedq attached to this cluster in the same millisecond
	}
}

// listRecordings returns the paths of the recordings that attach made, the newest first.
func listRecordings() ([]string, error) {
	folder, err := recordingsFolder()
	if err != nil {
		return nil, nil // without a home there are none
	}
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("can't list your recordings: %w", err)
	}
	var paths []string
	for _, e := range slices.Backward(entries) { // names begin with the time
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, nil
}

// recordingFileName returns the name of a recording of the cluster that starts at start. The file is
// uncompressed, so that it can be read wherever it ends.
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

// pruneRecordings removes the oldest recordings in folder until the others have at most limit bytes. It
// keeps other files and recordings that are being written.
func pruneRecordings(ctx context.Context, folder string, limit int64) error {
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
			return fmt.Errorf("can't remove an old recording: %w", err)
		}
	}
	return nil
}
