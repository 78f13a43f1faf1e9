package disk

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	"github.com/schedq/schedq/sources"
)

// leftBehind is how old a file that never became whole is before it is removed: where files can be locked, one that somebody writes is
// locked but for a moment at its begin and its end.
const (
	leftBehind        = time.Minute
	leftBehindUnknown = 24 * time.Hour // where they can't
)

// Keep writes a file of the program's own, over the one that was there, in a folder of its own: see Folder. The
// error is one sentence with the path.
func Keep(ctx context.Context, path string, data []byte) error {
	if err := Folder(ctx, filepath.Dir(path)); err != nil {
		return err
	}
	return writeBeside(ctx, path, Options{Replace: true}, whole(data))
}

// Folder makes a folder of the program's own, if there is none. Nobody but its owner looks into it, also if it was
// made otherwise. The error is one sentence with the path.
func Folder(ctx context.Context, path string) error {
	ops := operations(ctx)
	if err := ops.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("%s can't be made: %w", sources.Sanitize(path), cause(err))
	}
	// Of a link to a folder it is not known whose the folder is to be.
	if info, err := ops.Lstat(path); err == nil && info.IsDir() && ours(info) && info.Mode().Perm()&0o077 != 0 {
		_ = ops.Chmod(path, 0o700) // some file systems have no modes, and the files have their own
	}
	return nil
}

// partNamed matches the names of files that are not whole yet.
var partNamed = regexp.MustCompile(`^\.part-[a-z2-7]{16}$`)

// sweep removes files of this user that a program which was killed had not finished in a folder. locks is whether files can be locked
// there. What can't be removed does no harm.
func sweep(ops Operations, folder string, now time.Time, locks bool) {
	after := leftBehindUnknown
	if locks {
		after = leftBehind
	}
	entries, err := ops.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !partNamed.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		info, err := e.Info()
		if err != nil || !ours(info) && !openStays || now.Sub(info.ModTime()) < after || writtenNow(ops, path) {
			continue
		}
		_ = ops.Remove(path)
	}
}

// Remove removes a file of the program's own.
func Remove(ctx context.Context, path string) error { return operations(ctx).Remove(path) }
