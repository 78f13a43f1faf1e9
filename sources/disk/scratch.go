package disk

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedq/schedq/sources"
)

// Scratch opens an empty unnamed file in a private folder, which it creates if necessary: see Folder. The file is removed
// when it is closed or the program ends in any way. The error is one sentence with the folder's path.
func Scratch(ctx context.Context, folder string) (File, error) {
	if err := Folder(ctx, folder); err != nil {
		return nil, err
	}
	return scratch(ctx, folder)
}

// Temporary is Scratch in the system's folder of temporary files.
func Temporary(ctx context.Context) (File, error) { return scratch(ctx, os.TempDir()) }

func scratch(ctx context.Context, folder string) (File, error) {
	ops := operations(ctx)
	path := filepath.Join(folder, partPrefix+strings.ToLower(rand.Text()[:16]))
	f, err := ops.Open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|goesWithClose, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create a file in %s: %w", sources.Sanitize(folder), cause(err))
	}
	if goesWithClose != 0 {
		return f, nil
	}
	if err := ops.Remove(path); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s can't be removed: %w", sources.Sanitize(path), cause(err))
	}
	return f, nil
}
