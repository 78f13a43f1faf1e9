// Package disk reads and writes the files of a person's disk. What it writes is there whole or not at all, takes
// the place of nothing unless that was asked for, follows no symbolic link, and is written by one program at a time;
// of what it reads it takes no more than it was told, and waits for nothing longer than its context lasts.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/schedq/schedq/sources"
)

// Operations are all that is done with files here. They are the operating system's, unless the context brings others
// (see With): tests bring some that fail. Errors are as those of package os.
type Operations interface {
	Open(path string, flag int, mode fs.FileMode) (File, error)
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	Link(from, to string) error
	Rename(from, to string) error
	Remove(path string) error
	MkdirAll(path string, mode fs.FileMode) error
	Chmod(path string, mode fs.FileMode) error
	ReadDir(path string) ([]fs.DirEntry, error)
}

// File is an open file.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	// Lock takes the file until it is closed, alone or together with all who share it, and does not wait: the error
	// is ErrLocked if somebody else has it, and another one if files can't be locked here. A lock binds only those
	// who ask for it, which is every schedq that writes.
	Lock(shared bool) error
	// Link gives the file, opened without one, a name.
	Link(path string) error
}

// ErrLocked is that a file is locked by somebody else.
var ErrLocked = errors.New("the file is locked")

type operationsKey struct{}

// With returns a context in which files are read and written by ops.
func With(ctx context.Context, ops Operations) context.Context {
	return context.WithValue(ctx, operationsKey{}, ops)
}

func operations(ctx context.Context) Operations {
	if ops, ok := ctx.Value(operationsKey{}).(Operations); ok {
		return ops
	}
	return system{}
}

// System are the operating system's operations.
func System() Operations { return system{} }

type system struct{}

type systemFile struct{ *os.File }

func (system) Open(path string, flag int, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

func (system) Lstat(path string) (fs.FileInfo, error)       { return os.Lstat(path) }
func (system) Stat(path string) (fs.FileInfo, error)        { return os.Stat(path) }
func (system) Link(from, to string) error                   { return os.Link(from, to) }
func (system) Rename(from, to string) error                 { return os.Rename(from, to) }
func (system) Remove(path string) error                     { return os.Remove(path) }
func (system) MkdirAll(path string, mode fs.FileMode) error { return os.MkdirAll(path, mode) }
func (system) Chmod(path string, mode fs.FileMode) error    { return os.Chmod(path, mode) }
func (system) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(path) }

// Lock implements File.
func (f systemFile) Lock(shared bool) error { return lock(f.File, shared) }

// Link implements File.
func (f systemFile) Link(path string) error { return link(f.File, path) }

// cause is err without the operation and the path: the sentences here name the file already.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// cannotWrite is the sentence about a file that can't be written.
func cannotWrite(path string, err error) error {
	return fmt.Errorf("%s can't be written: %w", sources.Sanitize(path), cause(err))
}

// unsupported reports whether a file system does not have an operation.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}
