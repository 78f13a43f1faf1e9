// Package disk reads and writes the user's files. A written file is complete or absent, replaces another only on
// request, follows no symbolic link, and is written by one program at a time. Reads are limited in size, and end with
// their context.
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

// Operations are the file operations of this package. The default is the operating system's; a context may contain
// others (see With), such as failing ones in tests. Errors are like those of package os.
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
	// Lock locks the file, exclusively or shared, until it is closed. It does not wait: the error is ErrLocked if the
	// file is locked, and another one if files can't be locked here. Locks are advisory; every schedq that writes uses
	// them.
	Lock(shared bool) error
	// Link names a file that was opened without a name.
	Link(path string) error
}

// ErrLocked means that another process has locked the file.
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

// cause returns err without the operation and the path: the messages contain the path already.
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

// cannotWrite returns the error for a file that can't be written.
func cannotWrite(path string, err error) error {
	return fmt.Errorf("%s can't be written: %w", sources.Sanitize(path), cause(err))
}

// unsupported reports whether the file system lacks the operation.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}
