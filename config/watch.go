package config

import (
	"context"
	"os"
	"time"
)

// lookEvery is how often the file is looked at: one stat, which reads nothing and wakes nobody else.
const lookEvery = time.Second

// Watch waits until the configuration file has changed. It is for one goroutine at a time.
type Watch struct {
	path string // empty: there can be no file
	// read is the file that was read last, and seen the one that was looked at last.
	read, seen stamp
}

// stamp tells a file from another of that name. That of no file is its zero.
type stamp struct{ modified, size int64 }

// NewWatch returns a watch of the file as it is now. Who calls Load afterwards misses no change.
func NewWatch() *Watch {
	path, err := File()
	if err != nil {
		return &Watch{}
	}
	now := stampOf(path)
	return &Watch{path: path, read: now, seen: now}
}

// Next waits until the file is another than the one that was read last, and reads it as Load does. A file that is gone is
// another, too. The error is the context's if that ends.
func (w *Watch) Next(ctx context.Context) (*Config, error) {
	tick := time.NewTicker(lookEvery)
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

// hasChanged looks at the file. A change counts once the file was the same at two looks: an editor that empties the file
// before it writes is not to be read between the two.
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
		return stamp{} // who reads it says why
	}
	return stamp{info.ModTime().UnixNano(), info.Size()}
}
