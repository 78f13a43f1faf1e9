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

// guard has a panic of its caller, which defers it, end the program in order.
func (m *model) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		m.crash = page.Recovered(r)
		*cmd = tea.Quit
	}
}

// report writes what happened to a log and returns one sentence that says where that is.
func reportCrash(c *page.Crash, now time.Time) error {
	said := fmt.Sprintf("schedq stopped because of a mistake in it (%s)", firstWords(fmt.Sprint(c.What)))
	path, err := writeLog(c, now)
	if err != nil {
		return fmt.Errorf("%s; its log could not be written (%w), so here it is:\n%s", said, err, c.Stack)
	}
	return fmt.Errorf("%s: please report it with %s", said, path)
}

// firstWords is the beginning of text from anywhere, safe to show.
func firstWords(s string) string {
	s = format.Safe(s)
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:200]) + "…"
	}
	return s
}

// writeLog writes the log and returns its path.
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
	ctx := context.Background() // whatever has ended
	if err := disk.Folder(ctx, dir); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := "crash-" + now.UTC().Format("20060102-150405")
		if n > 1 {
			name += fmt.Sprint("-", n) // others crashed in the same second
		}
		path := filepath.Join(dir, name+".log")
		err := disk.WriteBytes(ctx, path, disk.Options{}, []byte(text))
		if n == 100 || !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}
