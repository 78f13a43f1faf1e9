package config

import (
	"context"
	"os"
	"time"
)

// pollInterval is how often the file is checked, with one stat call.
const pollInterval = time.Second

// Watch waits for changes of the configuration file. It is not safe for concurrent use.
type Watch struct {
	path string // empty if there can be no file
	// read is the version last read, seen the version at the last check.
	read, seen stamp
}

// stamp identifies a version of the file. The zero value means no file.
type stamp struct{ modified, size int64 }

// NewWatch returns a watch that starts with the current version of the file. A later Load misses no
// change.
func NewWatch() *Watch {
	path, err := File()
	if err != nil {
		return &Watch{}
	}
	now := stampOf(path)
	return &Watch{path: path, read: now, seen: now}
}

// Next waits until the file differs from the version last read, and loads it. A removed file counts
// as a change. Next returns the context's error if ctx ends first.
func (w *Watch) Next(ctx context.Context) (*Config, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		if w.hasChanged() {
			return Load(ctx)
		}
	}
}

// hasChanged checks the file. A change counts once two checks agree: editors may truncate a file
// before they write it.
func (w *Watch) hasChanged() bool {
	now := stampOf(w.path)
	settled := now == w.seen
	w.seen = now
	if !settled || now == w.read {
		return false
	}
	w.read = now
	return true
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{} // Load reports the error
	}
	return stamp{info.ModTime().UnixNano(), info.Size()}
}
