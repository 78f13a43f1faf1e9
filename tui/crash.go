package tui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
)

// guard recovers a panic in its caller, which defers it, and ends the program in order.
func (m *model) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		m.crash = page.Recovered(r)
		*cmd = tea.Quit
	}
}

// reportCrash writes a crash log and returns one sentence with its path.
func reportCrash(c *page.Crash, now time.Time) error {
	said := fmt.Sprintf("internal error (%s)", firstWords(fmt.Sprint(c.What)))
	path, err := writeLog(c, now)
	if err != nil {
		return fmt.Errorf("%s; the crash log could not be written (%w):\n%s", said, err, c.Stack)
	}
	return fmt.Errorf("%s: please report it and attach %s", said, path)
}

// firstWords returns the start of any text, safe to show.
func firstWords(s string) string {
	s = format.Safe(s)
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:200]) + "…"
	}
	return s
}

// writeLog writes the crash log and returns its path.
func writeLog(c *page.Crash, now time.Time) (string, error) {
	dir, err := disk.StateFolder()
	if err != nil {
		return "", err
	}
	build := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		build = info.Main.Path + " " + info.Main.Version + " " + info.GoVersion
	}
	text := fmt.Sprintf("%s\n%s\n\npanic: %s\n\n%s", now.UTC().Format(time.RFC3339), build, format.Safe(fmt.Sprint(c.What)), c.Stack)
	ctx := context.Background() // the program's context may have ended
	if err := disk.Folder(ctx, dir); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := "crash-" + now.UTC().Format("20060102-150405")
		if n > 1 {
			name += fmt.Sprint("-", n) // another crash in the same second
		}
		path := filepath.Join(dir, name+".log")
		err := disk.WriteBytes(ctx, path, disk.Options{}, []byte(text))
		if n == 100 || !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}
