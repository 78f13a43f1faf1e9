package lessons

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// recordings are those of which only lessons are made: traces, as `schedq convert` writes them. no-node is a control plane's
// whose nodes come late.
//
//go:embed recordings/*.jsonl.zst
var recordings embed.FS

// recording is what the lesson plays: its scenario or, of one on a recording, what of that is between its start and its end.
// The error is one sentence.
func (l *Lesson) recording(ctx context.Context) (*sources.Recording, error) {
	if l.Recorded == "" {
		return l.Scenario.Recording(), nil
	}
	rec, err := l.openRecorded(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: recording: %w", l.File, err)
	}
	if rec.Again != nil {
		return nil, fmt.Errorf("%s: recording: %s is too long for a lesson: cut what matters out of it", l.File, rec.Name)
	}
	end := l.Scenario.Start.Add(l.Scenario.End)
	if len(rec.Events) == 0 || rec.Events[0].Time.After(end) || rec.End.Before(end) {
		return nil, fmt.Errorf("%s: recording: %s is not all of %s from %s on", l.File, rec.Name, l.Scenario.End, l.Scenario.Start.Format("2006-01-02 15:04:05"))
	}
	last := len(rec.Events)
	if after := slices.IndexFunc(rec.Events, func(e sources.Event) bool { return e.Time.After(end) }); after >= 0 {
		last = after
	}
	rec.Events = slices.Clone(rec.Events[:last]) // and not the rest of them
	rec.End = end
	return rec, nil
}

// openRecorded opens one of the program's own recordings, or a file beside the lesson's.
func (l *Lesson) openRecorded(ctx context.Context) (*sources.Recording, error) {
	if text, err := recordings.ReadFile("recordings/" + l.Recorded + ".jsonl.zst"); err == nil {
		return files.Read(ctx, l.Recorded, bytes.NewReader(text))
	}
	for _, known := range embedded.All() {
		if known.Name == l.Recorded {
			return embedded.Open(ctx, l.Recorded)
		}
	}
	if !filepath.IsLocal(l.Recorded) {
		return nil, fmt.Errorf("%s is no recording of schedq's own, and no file beside the lesson", sources.Sanitize(l.Recorded))
	}
	return files.Open(ctx, []string{filepath.Join(filepath.Dir(l.path), l.Recorded)}, files.Options{})
}
