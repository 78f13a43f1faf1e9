package disk

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// leftBehind is how old a file that never became whole is before it is removed.
const leftBehind = 24 * time.Hour

// Keep writes a file of the program's own, over the one that was there, in a folder of its own: see Folder. The
// error is one sentence with the path.
func Keep(ctx context.Context, path string, data []byte) error {
	if err := Folder(ctx, filepath.Dir(path)); err != nil {
		return err
	}
	return writeBeside(ctx, path, Options{Replace: true}, whole(data))
}

// Folder makes a folder of the program's own, if there is none. Nobody but its owner looks into it, also if it was
// made otherwise; and what a program that was killed had not finished in it is removed. The error is one sentence with
// the path.
func Folder(ctx context.Context, path string) error {
	ops := operations(ctx)
	if err := ops.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("%s can't be made: %w", sources.Sanitize(path), cause(err))
	}
	// Of a link to a folder it is not known whose the folder is to be.
	if info, err := ops.Lstat(path); err == nil && info.IsDir() && ours(info) && info.Mode().Perm()&0o077 != 0 {
		_ = ops.Chmod(path, 0o700) // some file systems have no modes, and the files have their own
	}
	sweep(ops, path, time.Now())
	return nil
}

// sweep removes what was left behind in a folder of the program's own. What can't be removed does no harm.
func sweep(ops Operations, folder string, now time.Time) {
	entries, err := ops.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < leftBehind || writtenNow(ops, path) {
			continue
		}
		_ = ops.Remove(path)
	}
}

// Remove removes a file of the program's own.
func Remove(ctx context.Context, path string) error { return operations(ctx).Remove(path) }
