package disk

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	"github.com/schedq/schedq/sources"
)

// leftBehind is the age at which an incomplete file is removed. If files can be locked, an incomplete file in use is
// locked, except for a moment at its start and its end.
const (
	leftBehind        = time.Minute
	leftBehindUnknown = 24 * time.Hour // if files can't be locked
)

// Keep writes a file of the program, replacing an existing one, in a private folder: see Folder. The error is one
// sentence with the path.
func Keep(ctx context.Context, path string, data []byte) error {
	if err := Folder(ctx, filepath.Dir(path)); err != nil {
		return err
	}
	return writeBeside(ctx, path, Options{Replace: true}, whole(data))
}

// Folder creates a folder that only its owner can read, or makes an existing one private. The error is one sentence with
// the path.
func Folder(ctx context.Context, path string) error {
	ops := operations(ctx)
	if err := ops.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("%s can't be made: %w", sources.Sanitize(path), cause(err))
	}
	// The owner of a linked folder may want other permissions.
	if info, err := ops.Lstat(path); err == nil && info.IsDir() && ours(info) && info.Mode().Perm()&0o077 != 0 {
		_ = ops.Chmod(path, 0o700) // some file systems have no modes, and the files have their own
	}
	return nil
}

// partNamed matches the names of incomplete files.
var partNamed = regexp.MustCompile(`^\.part-[a-z2-7]{16}$`)

// sweep removes this user's incomplete files in a folder, left by killed programs. locks reports whether files can be
// locked there. Errors are ignored.
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

// Remove removes a file of the program.
func Remove(ctx context.Context, path string) error { return operations(ctx).Remove(path) }
