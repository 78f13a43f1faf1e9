package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/schedq/schedq/sources"
)

// Growing is a file that is written piece by piece. It is locked until it is closed: no other schedq writes or replaces
// it. It is not safe for concurrent use.
type Growing struct {
	w    writer
	path string // empty for a pipe or a device
}

// Create starts the file at path. The file contains what begin writes before it replaces another one, which stays if
// begin fails. A pipe or a device is written directly. Existing files are handled as by Write.
func Create(ctx context.Context, path string, opts Options, begin func(io.Writer) error) (*Growing, error) {
	ops := operations(ctx)
	through, err := inspect(ops, path, opts.Replace)
	if err != nil {
		return nil, err
	}
	if through {
		return growThrough(ctx, path, begin)
	}
	if opts.Replace {
		release, err := holdLock(ops, path)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if openStays {
		return growInPlace(ctx, path, opts, begin)
	}
	return growBeside(ctx, path, opts, begin)
}

// growing returns the file f at path, which can be written until it is closed, even after ctx has ended.
func growing(ctx context.Context, f File, path string) *Growing {
	return &Growing{writer{ctx: context.WithoutCancel(ctx), File: f}, path}
}

func growThrough(ctx context.Context, path string, begin func(io.Writer) error) (*Growing, error) {
	f, err := openThrough(ctx, path)
	if err != nil {
		return nil, err
	}
	g := growing(ctx, f, "")
	if err := g.w.filled(begin); err != nil {
		f.Close()
		return nil, cannotWrite(path, err)
	}
	return g, nil
}

// growBeside starts the file under another name and renames it to path.
func growBeside(ctx context.Context, path string, opts Options, begin func(io.Writer) error) (*Growing, error) {
	ops := operations(ctx)
	part, err := newPart(ops, filepath.Dir(path))
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	g := growing(ctx, part.File, path)
	err = g.w.filled(begin)
	if err == nil && opts.mode() != 0o600 {
		err = part.Chmod(opts.mode())
	}
	if err == nil {
		err = synced(part)
	}
	if err == nil {
		err = part.ensureName(ops)
		g.w.File = part.File
	}
	if err != nil {
		err = cannotWrite(path, err)
	} else {
		err = place(ops, part.name, path, opts.Replace)
	}
	if err != nil {
		part.Close()
		part.discard(ops)
		return nil, err
	}
	if err := syncFolder(ops, path); err != nil {
		part.Close()
		return nil, err
	}
	return g, nil
}

// growInPlace starts the file at path. An existing file is renamed until then.
func growInPlace(ctx context.Context, path string, opts Options, begin func(io.Writer) error) (*Growing, error) {
	ops := operations(ctx)
	old := ""
	if opts.Replace {
		var err error
		if old, err = putAside(ops, path); err != nil {
			return nil, err
		}
	}
	g, err := beginAt(ctx, ops, path, opts, begin)
	switch {
	case err == nil && old != "":
		if removing := ops.Remove(old); removing != nil {
			err = fmt.Errorf("%s is begun, but %s beside it, which is what was there before, can't be removed: %w", sources.Sanitize(path), filepath.Base(old), cause(removing))
			return nil, firstError(err, g.Close())
		}
	case old != "":
		if back := ops.Rename(old, path); back != nil {
			return nil, fmt.Errorf("%w; what was there before is in %s beside it", err, filepath.Base(old))
		}
	}
	return g, err
}

// putAside renames the file at path, if there is one, and returns the new name.
func putAside(ops Operations, path string) (string, error) {
	p, err := newNamedPart(ops, filepath.Dir(path))
	if err == nil {
		err = p.Close()
	}
	if err == nil {
		err = ops.Rename(path, p.name)
	}
	if err == nil {
		return p.name, nil
	}
	if p != nil {
		_ = ops.Remove(p.name) // it is empty
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return "", cannotWrite(path, err)
}

// beginAt creates the file at path, where none exists, and starts it.
func beginAt(ctx context.Context, ops Operations, path string, opts Options, begin func(io.Writer) error) (*Growing, error) {
	f, err := ops.Open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, opts.mode())
	if errors.Is(err, fs.ErrExist) {
		return nil, taken(ops, path)
	}
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	_ = f.Lock(false)
	g := growing(ctx, f, path)
	err = g.w.filled(begin)
	if err == nil {
		err = synced(f)
	}
	if err != nil {
		f.Close()
		_ = ops.Remove(path)
		return nil, cannotWrite(path, err)
	}
	return g, nil
}

// Write implements io.Writer. After an error every call returns it.
func (g *Growing) Write(p []byte) (int, error) { return g.w.Write(p) }

// Bytes counts what was written.
func (g *Growing) Bytes() int64 { return g.w.bytes }

// ErrLost means that a file was removed or renamed while it was written.
var ErrLost = errors.New("it was removed or renamed meanwhile")

// Lost returns ErrLost if the file is no longer at its path, and nil if it is or if that is unknown.
func (g *Growing) Lost() error {
	if g.path == "" {
		return nil
	}
	there, err := operations(g.w.ctx).Lstat(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrLost
	}
	mine, err2 := g.w.File.Stat()
	if err == nil && err2 == nil && !os.SameFile(there, mine) {
		return ErrLost
	}
	return nil
}

// Close syncs and closes the file. The error is ErrLost if the file is no longer at its path.
func (g *Growing) Close() error {
	err := g.w.err
	if err == nil {
		err = synced(g.w.File)
	}
	if err == nil {
		err = g.Lost()
	}
	return firstError(err, g.w.File.Close())
}
