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

// Write has fill write the file at path, which is there whole when Write returns, or as it was before: what is
// written goes to a file beside it with a name of its own, which takes the place at the end, when the disk has it. A
// pipe or a device is written as it comes.
//
// The error is one sentence with the path: what the disk said, or that something is in the way (fs.ErrExist), or
// what fill returned. It is the context's when that has ended; then nothing is left behind.
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

// WriteBytes is Write of what there is already.
func WriteBytes(ctx context.Context, path string, opts Options, data []byte) error {
	return Write(ctx, path, opts, whole(data))
}

// whole writes data.
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

// openThrough opens what is no plain file, and waits for a pipe's reader no longer than ctx lasts.
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
		return nil, exists(path) // it was none when it was looked at
	}
	return f, nil
}

// kept is a file that stays open.
type kept struct{ File }

// Close implements File.
func (kept) Close() error { return nil }

// writer counts what goes to a file, and remembers why no more could be written.
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

// filled calls fill, and returns what the disk said before what fill makes of it.
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

// partPrefix begins the names of files that are not whole yet.
const partPrefix = ".part-"

// part is a file that is not whole yet. It is locked, so that nobody takes it for left behind.
type part struct {
	File
	folder string
	name   string // empty while it has none
}

// newPart makes a file in folder, without a name if the file system has such files: then nothing of it is left behind if the program
// is killed. Where it has to have a name, it has one of its own; what others left behind is removed.
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
		f, err := ops.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // no link is followed where O_EXCL is
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_ = f.Lock(false) // where files can't be locked, it is young enough to be left alone
		return &part{f, folder, name}, nil
	}
}

func partName(folder string) string {
	return filepath.Join(folder, partPrefix+strings.ToLower(rand.Text()[:16]))
}

// ensureName gives p a name of its own, if it has none. Where that can't be done, such as without /proc, p becomes a copy that has one.
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

// discard removes p. If that fails, what went wrong before is still the reason.
func (p *part) discard(ops Operations) {
	if p.name != "" {
		_ = ops.Remove(p.name)
	}
}

// place gives the file part the name path, at once: over what is there if it is to be replaced, else only if
// nothing is. The error is a whole sentence.
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
		// Not every file system has links. There the name is taken by an empty file first.
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

// reserve makes an empty file at path, where there is none.
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

// taken says what is at path, where there was nothing before.
func taken(ops Operations, path string) error {
	if writtenNow(ops, path) {
		return busy(path)
	}
	return exists(path)
}

// synced has the disk take what was written, as far as it can.
func synced(f File) error {
	if err := f.Sync(); err != nil && !unsupported(err) {
		return err
	}
	return nil
}

// foldersSync is whether a folder can be synced: Windows does that by itself.
const foldersSync = runtime.GOOS != "windows"

// syncFolder has the disk take the name of the file at path.
func syncFolder(ops Operations, path string) error {
	if !foldersSync {
		return nil
	}
	f, err := ops.Open(filepath.Dir(path), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that one may write to and not read
	}
	if err == nil {
		err = firstError(synced(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s is written, but may not outlast a power failure: its folder can't be synced: %w", sources.Sanitize(path), cause(err))
	}
	return nil
}
