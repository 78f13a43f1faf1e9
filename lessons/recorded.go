package lessons

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// recordings are traces used only by lessons, as `schedq convert` writes them. no-node is a control
// plane whose nodes come late. lost-pod is one with e2e/faulty-scheduler; its pods' labels are changed.
//
//go:embed recordings/*.jsonl.zst
var recordings embed.FS

// recording returns the recording to play: the scenario, or the lesson's part of a recording.
// Errors are one sentence.
func (l *Lesson) recording(ctx context.Context) (*sources.Recording, error) {
	if l.Recorded == "" {
		return l.Scenario.Recording(), nil
	}
	rec, err := l.openRecorded(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: recording: %w", l.File, err)
	}
	if rec.Reread != nil {
		return nil, fmt.Errorf("%s: recording: %s is too long for a lesson: cut out the part you need", l.File, rec.Name)
	}
	end := l.Scenario.Start.Add(l.Scenario.End)
	if len(rec.Events) == 0 || rec.Events[0].Time.After(end) || rec.End.Before(end) {
		return nil, fmt.Errorf("%s: recording: %s does not cover %s from %s", l.File, rec.Name, l.Scenario.End, l.Scenario.Start.Format("2006-01-02 15:04:05"))
	}
	last := len(rec.Events)
	if after := slices.IndexFunc(rec.Events, func(e sources.Event) bool { return e.Time.After(end) }); after >= 0 {
		last = after
	}
	rec.Events = slices.Clone(rec.Events[:last]) // drops the others from memory
	rec.End = end
	return rec, nil
}

// openRecorded opens a built-in recording, or a file in the lesson's folder.
func (l *Lesson) openRecorded(ctx context.Context) (*sources.Recording, error) {
	if text, err := recordings.ReadFile("recordings/" + l.Recorded + ".jsonl.zst"); err == nil {
		return files.Read(ctx, l.Recorded, text)
	}
	for _, known := range embedded.All() {
		if known.Name == l.Recorded {
			return embedded.Open(ctx, l.Recorded)
		}
	}
	if !filepath.IsLocal(l.Recorded) {
		return nil, fmt.Errorf("unknown recording %s: use a built-in one or a file in the lesson's folder", sources.Sanitize(l.Recorded))
	}
	return files.Open(ctx, []string{filepath.Join(filepath.Dir(l.path), l.Recorded)}, files.Options{})
}
