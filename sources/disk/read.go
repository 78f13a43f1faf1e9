package disk

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/schedq/schedq/sources"
)

// Read returns the content of the small file at path. It refuses a file of more than most bytes, whatever size the file
// system reports. The checks run before the file is read; their errors are one sentence.
//
// An error is one sentence with the path. It is the context's as soon as that ends, even if the file is a pipe without a
// writer or the disk does not respond.
func Read(ctx context.Context, path string, most int64, checks ...func(fs.FileInfo) error) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	read := make(chan struct{})
	var data []byte
	go func() {
		defer close(read)
		defer f.Close()
		data, err = content(f, path, most, checks)
	}()
	select {
	case <-read:
		return data, err
	case <-ctx.Done():
		go f.Close() // ends a blocked read of a pipe; if the disk does not respond, Close blocks too
		return nil, stopped(path, ctx)
	}
}

func content(f File, path string, most int64, checks []func(fs.FileInfo) error) ([]byte, error) {
	name := sources.Sanitize(path)
	if len(checks) > 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, fmt.Errorf("%s: cannot be read: %w", name, cause(err))
		}
		for _, check := range checks {
			if err := check(info); err != nil {
				return nil, err
			}
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", name, cause(err))
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s is larger than %s, which is the most that is read of it", name, size(most))
	}
	return data, nil
}

// size formats a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// Open opens the file at path for reading, and waits until ctx ends at most. It refuses directories. The error is one
// sentence with the path.
func Open(ctx context.Context, path string) (File, error) {
	f, err := openWithin(ctx, path, os.O_RDONLY)
	switch {
	case ctx.Err() != nil:
		return nil, stopped(path, ctx)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", sources.Sanitize(path), cause(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory: name a file in it", sources.Sanitize(path))
	}
	return measured(ctx, f), nil
}

func stopped(path string, ctx context.Context) error {
	return fmt.Errorf("%s: reading was stopped: %w", sources.Sanitize(path), ctx.Err())
}

// openWithin opens an existing file. It waits for the other end of a pipe, or for a disk, in a goroutine that is
// abandoned when ctx ends.
func openWithin(ctx context.Context, path string, flag int) (File, error) {
	ops := operations(ctx)
	opened := make(chan struct{})
	var f File
	var err error
	go func() {
		defer close(opened)
		f, err = ops.Open(path, flag, 0)
	}()
	select {
	case <-opened:
		return f, err
	case <-ctx.Done():
		go func() {
			if <-opened; err == nil {
				f.Close()
			}
		}()
		return nil, ctx.Err()
	}
}
