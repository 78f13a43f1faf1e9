package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Write calls fill to write the file at path. When Write returns, the file is complete, or unchanged: the data goes to a
// file with another name, which is synced and then renamed. A pipe or a device is written directly.
//
// The error is one sentence with the path: the error of the disk or of fill, or that a file exists (fs.ErrExist). It is
// the context's if that has ended. After an error nothing is left behind.
func Write(ctx context.Context, path string, opts Options, fill func(io.Writer) error) error {
	ops := operations(ctx)
	through, err := inspect(ops, path, opts.Replace)
	if err != nil {
		return err
	}
	if through {
		return writeThrough(ctx, path, fill)
	}
	if opts.Replace {
		release, err := holdLock(ops, path)
		if err != nil {
			return err
		}
		defer release()
	}
	return writeBeside(ctx, path, opts, fill)
}

// WriteBytes is Write of data.
func WriteBytes(ctx context.Context, path string, opts Options, data []byte) error {
	return Write(ctx, path, opts, whole(data))
}

// whole returns a function that writes data.
func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

func writeBeside(ctx context.Context, path string, opts Options, fill func(io.Writer) error) error {
	ops := operations(ctx)
	part, err := newPart(ops, filepath.Dir(path))
	if err != nil {
		return cannotWrite(path, err)
	}
	w := &writer{ctx: ctx, File: part.File}
	err = w.filled(fill)
	if err == nil && opts.mode() != 0o600 {
		err = part.Chmod(opts.mode())
	}
	if err == nil {
		err = synced(part)
	}
	if err == nil {
		err = part.ensureName(ops)
	}
	if closing := part.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		err = cannotWrite(path, err)
	} else {
		err = place(ops, part.name, path, opts.Replace)
	}
	if err != nil {
		part.discard(ops)
		return err
	}
	return syncFolder(ops, path)
}

// writeThrough writes a pipe or a device.
func writeThrough(ctx context.Context, path string, fill func(io.Writer) error) error {
	f, err := openThrough(ctx, path)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { f.Close() }) // a pipe that nobody reads
	w := &writer{ctx: ctx, File: f}
	err = w.filled(fill)
	if stop() {
		err = firstError(err, f.Close())
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// openThrough opens a pipe or a device, and waits for the reader of a pipe until ctx ends at most.
func openThrough(ctx context.Context, path string) (File, error) {
	if f, ok := standard(path); ok {
		return kept{systemFile{f}}, nil
	}
	f, err := openWithin(ctx, path, os.O_WRONLY)
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		f.Close()
		return nil, exists(path) // it has become a plain file since it was inspected
	}
	return f, nil
}

// kept is a file that stays open.
type kept struct{ File }

// Close implements File.
func (kept) Close() error { return nil }

// writer counts the bytes written to a file, and stores the first error.
type writer struct {
	File
	ctx   context.Context
	bytes int64
	err   error
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.File.Write(p)
	w.bytes += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	w.err = err
	return n, err
}

// filled calls fill. It returns the error of the disk rather than the one that fill makes of it.
func (w *writer) filled(fill func(io.Writer) error) error {
	err := fill(w)
	return firstError(w.err, err)
}

// firstError returns a, or b if a is nil.
func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// partPrefix is the prefix of the names of incomplete files.
const partPrefix = ".part-"

// part is an incomplete file. It is locked, so that sweep does not remove it.
type part struct {
	File
	folder string
	name   string // empty if unnamed
}

// newPart creates a file in folder. It is unnamed if the file system supports that, so that nothing is left behind if the
// program is killed. Otherwise it has a unique name, and newPart removes the files that others left behind.
func newPart(ops Operations, folder string) (*part, error) {
	if unnamed != 0 {
		if f, err := ops.Open(folder, os.O_RDWR|unnamed, 0o600); err == nil {
			_ = f.Lock(false)
			sweep(ops, folder, time.Now(), true)
			return &part{f, folder, ""}, nil
		}
	}
	p, err := newNamedPart(ops, folder)
	if err != nil {
		return nil, err
	}
	sweep(ops, folder, time.Now(), p.Lock(false) == nil)
	return p, nil
}

func newNamedPart(ops Operations, folder string) (*part, error) {
	for {
		name := partName(folder)
		f, err := ops.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // O_EXCL does not follow links
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_ = f.Lock(false) // if files can't be locked, its age protects it from sweep
		return &part{f, folder, name}, nil
	}
}

func partName(folder string) string {
	return filepath.Join(folder, partPrefix+strings.ToLower(rand.Text()[:16]))
}

// ensureName names p if it is unnamed. If that fails, for example without /proc, p becomes a named copy.
func (p *part) ensureName(ops Operations) error {
	if p.name != "" {
		return nil
	}
	name := partName(p.folder)
	if p.Link(name) == nil {
		p.name = name
		return nil
	}
	named, err := newNamedPart(ops, p.folder)
	if err != nil {
		return err
	}
	info, err := p.Stat()
	if err == nil {
		_, err = p.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(named.File, p.File)
	}
	if err == nil {
		err = named.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = synced(named)
	}
	p.Close()
	*p = *named
	return err
}

// discard removes p. It ignores errors, because there was one before.
func (p *part) discard(ops Operations) {
	if p.name != "" {
		_ = ops.Remove(p.name)
	}
}

// place renames the file part to path atomically. It replaces an existing file only if replace is true. The error is a
// complete sentence.
func place(ops Operations, part, path string, replace bool) error {
	if !replace {
		err := ops.Link(part, path)
		switch {
		case errors.Is(err, fs.ErrExist):
			return taken(ops, path)
		case err == nil:
			if err := ops.Remove(part); err != nil {
				return fmt.Errorf("%s is written, but %s beside it can't be removed: %w", sources.Sanitize(path), filepath.Base(part), cause(err))
			}
			return nil
		}
		// Without hard links, an empty file reserves the name.
		if err := reserve(ops, path); err != nil {
			return err
		}
	}
	err := ops.Rename(part, path)
	if err == nil {
		return nil
	}
	if !replace {
		_ = ops.Remove(path)
	}
	return cannotWrite(path, err)
}

// reserve creates an empty file at path, where none exists.
func reserve(ops Operations, path string) error {
	f, err := ops.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return taken(ops, path)
	}
	if err == nil {
		if err = f.Close(); err != nil {
			_ = ops.Remove(path)
		}
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// taken returns the error for a file that has appeared at path.
func taken(ops Operations, path string) error {
	if writtenNow(ops, path) {
		return busy(path)
	}
	return exists(path)
}

// synced syncs f, if the file system supports it.
func synced(f File) error {
	if err := f.Sync(); err != nil && !unsupported(err) {
		return err
	}
	return nil
}

// foldersSync reports whether folders need a sync. On Windows they don't.
const foldersSync = runtime.GOOS != "windows"

// syncFolder syncs the folder of path.
func syncFolder(ops Operations, path string) error {
	if !foldersSync {
		return nil
	}
	f, err := ops.Open(filepath.Dir(path), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that can be written but not read
	}
	if err == nil {
		err = firstError(synced(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s is written, but may not outlast a power failure: its folder can't be synced: %w", sources.Sanitize(path), cause(err))
	}
	return nil
}
