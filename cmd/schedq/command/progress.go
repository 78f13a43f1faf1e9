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

// maxProgress is how large the file of a learner may be, in bytes: a lesson takes some hundred. maxStage is the same
// of the file that says where a lesson is.
const (
	maxProgress = 1 << 20
	maxStage    = 64 << 10
)

// File keeps how far a learner has come, and where the lesson is that they are shown. It implements lessons.Progress
// and is safe for concurrent use.
type progressFile struct {
	ctx    context.Context // ends what is waited for; what is to be kept at the end still is
	folder string

	mu  sync.Mutex
	all map[string]lessons.Standing
}

// Open reads what is kept in the state folder: nothing, if nothing was kept yet. The end of ctx ends the
// reading; what is learned is kept all the same. The error is one sentence.
func OpenProgress(ctx context.Context) (*progressFile, error) {
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
	return maps.Clone(p.all)
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

// Stage is where a lesson is, for those who follow it in another terminal.
type progressStage struct {
	lessons.Stage
	// File is the path of the lesson's file, absolute, if it is none of the program's own.
	File string `json:"file,omitempty"`
}

// Tell tells those who follow, in other processes, where the lesson is. Nobody may be there: it is no matter if it can't be told.
func (p *progressFile) Tell(s progressStage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.write("stage.json", s)
}

// Told returns where the lesson is that was told of last. told is false if there is none, or if another version of
// the program told it.
func (p *progressFile) Told(ctx context.Context) (s progressStage, told bool, err error) {
	text, err := disk.Read(ctx, p.path("stage.json"), maxStage)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, false, nil
	case err != nil:
		return s, false, fmt.Errorf("where the lesson is can't be read: %w", err)
	}
	told = json.Unmarshal(text, &s) == nil
	return s, told, nil
}

// write writes a file that is there whole or not at all.
func (p *progressFile) write(name string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return disk.Keep(context.WithoutCancel(p.ctx), p.path(name), text)
}
