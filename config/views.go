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

// maxViews is how many sources are remembered; of more, those that were looked at longest ago are forgotten.
const maxViews = 200

// maxView bounds the file of one, of which most may be a thousand marks.
const maxView = 512 << 10

// Views remembers how each source was looked at, a small file for each.
type Views struct {
	ctx    context.Context // ends what is waited for; what is to be remembered at the end still is
	folder string
}

// RememberedViews returns those in the folder views of the state folder. The error is that there is none.
func RememberedViews(ctx context.Context) (Views, error) {
	dir, err := disk.StateFolder()
	return Views{ctx, filepath.Join(dir, "views")}, err
}

// remembered is such a file.
type remembered struct {
	Source string   `json:"source"`
	View   tui.View `json:"view"`
}

// path names the file by what the source is called, which may be anything.
func (v Views) path(source string) string {
	return filepath.Join(v.folder, fmt.Sprintf("%x.json", sha256.Sum256([]byte(source)))[:24]+".json")
}

// Recall implements memory.Memory. A file that can't be read, or that another version wrote, is as none.
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

// Keep implements memory.Memory. The file is there whole or not at all, whoever else writes it.
func (v Views) Keep(source string, view tui.View) error {
	text, err := json.Marshal(remembered{source, view})
	if err == nil {
		err = disk.Keep(context.WithoutCancel(v.ctx), v.path(source), text)
	}
	if err != nil {
		return fmt.Errorf("how %s was looked at can't be remembered: %w", sources.Sanitize(source), err)
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
			return time.Time{} // it is gone already
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
