package config

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/tui"
)

// maxViews limits the number of remembered sources. The oldest are forgotten first.
const maxViews = 200

// maxView limits the size of one file, most of which may be a thousand marks.
const maxView = 512 << 10

// Views remembers the last view of each source, in one small file each.
type Views struct {
	ctx    context.Context // ends waits, but Keep still writes after it ends
	folder string
}

// RememberedViews returns the views in the folder "views" of the state folder. It fails if there is
// no state folder.
func RememberedViews(ctx context.Context) (Views, error) {
	dir, err := disk.StateFolder()
	return Views{ctx, filepath.Join(dir, "views")}, err
}

// remembered is the content of such a file.
type remembered struct {
	Source string   `json:"source"`
	View   tui.View `json:"view"`
}

// path returns the file for a source. The name is a hash because a source may have any name.
func (v Views) path(source string) string {
	return filepath.Join(v.folder, fmt.Sprintf("%x.json", sha256.Sum256([]byte(source)))[:24]+".json")
}

// Recall implements memory.Memory. It ignores unreadable files and files of other versions.
func (v Views) Recall(source string) (tui.View, bool) {
	text, err := disk.Read(v.ctx, v.path(source), maxView)
	if err != nil {
		return tui.View{}, false
	}
	var r remembered
	if err := json.Unmarshal(text, &r); err != nil || r.Source != source {
		return tui.View{}, false
	}
	return r.View, true
}

// Keep implements memory.Memory. It writes the file atomically.
func (v Views) Keep(source string, view tui.View) error {
	text, err := json.Marshal(remembered{source, view})
	if err == nil {
		err = disk.Keep(context.WithoutCancel(v.ctx), v.path(source), text)
	}
	if err != nil {
		return fmt.Errorf("can't remember the view of %s: %w", sources.Sanitize(source), err)
	}
	return v.forget()
}

// forget removes the oldest files if there are too many.
func (v Views) forget() error {
	entries, err := os.ReadDir(v.folder)
	if err != nil || len(entries) <= maxViews {
		return err
	}
	age := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{} // already removed
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[:len(entries)-maxViews] {
		if err := os.Remove(filepath.Join(v.folder, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
