package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// Maximum sizes, in bytes, of the file with a learner's progress, where a lesson takes some hundred, and
// of the file with the current step.
const (
	maxProgress = 1 << 20
	maxStage    = 64 << 10
)

// progressFile keeps a learner's progress and publishes the current step in the state folder. It
// implements lessons.Progress and is safe for concurrent use.
type progressFile struct {
	ctx    context.Context // its values, not its end, apply to writing
	folder string

	mu  sync.Mutex
	all map[string]lessons.Standing
}

// openProgress reads the progress from the state folder. Without a file there is none. Writing continues
// after the end of ctx.
func openProgress(ctx context.Context) (*progressFile, error) {
	folder, err := disk.StateFolder()
	if err != nil {
		return nil, err
	}
	p := &progressFile{ctx: ctx, folder: folder, all: map[string]lessons.Standing{}}
	text, err := disk.Read(ctx, p.path("lessons.json"), maxProgress)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, fmt.Errorf("can't read your progress: %w", err)
	}
	if err := json.Unmarshal(text, &p.all); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): remove it to start over", sources.Sanitize(p.path("lessons.json")), err)
	}
	if p.all == nil {
		p.all = map[string]lessons.Standing{}
	}
	return p, nil
}

func (p *progressFile) path(name string) string { return filepath.Join(p.folder, name) }

// Recall implements lessons.Progress.
func (p *progressFile) Recall() map[string]lessons.Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.all)
}

// Keep implements lessons.Progress.
func (p *progressFile) Keep(lesson string, s lessons.Standing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[lesson] = s
	if err := p.write("lessons.json", p.all); err != nil {
		return fmt.Errorf("can't save your progress: %w", err)
	}
	return nil
}

// publishedStage is the current step of a lesson, for schedq notes in another terminal.
type publishedStage struct {
	lessons.Stage
	// File is the absolute path of the lesson's file, or empty for an embedded lesson.
	File string `json:"file,omitempty"`
}

// Publish writes the current step for other processes. Errors are ignored: usually nobody reads it.
func (p *progressFile) Publish(s publishedStage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.write("stage.json", s)
}

// Published returns the step published last. found is false if there is none, or if another version of
// the program wrote it.
func (p *progressFile) Published(ctx context.Context) (s publishedStage, found bool, err error) {
	text, err := disk.Read(ctx, p.path("stage.json"), maxStage)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, false, nil
	case err != nil:
		return s, false, fmt.Errorf("can't read the lesson's current step: %w", err)
	}
	found = json.Unmarshal(text, &s) == nil
	return s, found, nil
}

// write writes a file of the state folder atomically.
func (p *progressFile) write(name string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return disk.Keep(context.WithoutCancel(p.ctx), p.path(name), text)
}
