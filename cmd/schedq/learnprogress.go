package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/schedq/schedq/config/xdg"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// maxProgress is how large the file of a learner may be, in bytes. A lesson takes some hundred.
const maxProgress = 1 << 20

// progressFile keeps how far a learner has come, in the state directory.
type progressFile struct {
	ctx    context.Context // what is learned until it ends is kept
	folder string

	mu  sync.Mutex
	all map[string]lessons.Standing
}

// keptProgress reads lessons.json in the state folder.
func keptProgress(ctx context.Context) (*progressFile, error) {
	folder, err := xdg.State()
	if err != nil {
		return nil, err
	}
	p := &progressFile{ctx: ctx, folder: folder, all: map[string]lessons.Standing{}}
	text, err := disk.Read(ctx, p.path("lessons.json"), maxProgress)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, fmt.Errorf("how far you came can't be read: %w", err)
	}
	if err := json.Unmarshal(text, &p.all); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): remove it to begin anew", sources.Sanitize(p.path("lessons.json")), err)
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
	all := make(map[string]lessons.Standing, len(p.all))
	for name, s := range p.all {
		all[name] = s
	}
	return all
}

// Keep implements lessons.Progress.
func (p *progressFile) Keep(lesson string, s lessons.Standing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[lesson] = s
	if err := p.write("lessons.json", p.all); err != nil {
		return fmt.Errorf("how far you came can't be kept: %w", err)
	}
	return nil
}

// stage tells those who follow with schedq notes where the lesson is. Nobody may be there: it is no matter if it
// can't be told.
func (p *progressFile) stage(s stageFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.write("stage.json", s)
}

// write writes a file that is there whole or not at all.
func (p *progressFile) write(name string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return disk.Keep(context.WithoutCancel(p.ctx), p.path(name), text)
}
