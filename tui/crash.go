package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
)

// crash is a mistake in the program: a panic, and where it was.
type crash struct {
	what  any
	stack []byte
}

// recovered makes a crash of what recover returned, in the function that was deferred.
func recovered(r any) *crash { return &crash{what: r, stack: debug.Stack()} }

// crashMsg is a panic outside of Update.
type crashMsg struct{ crash *crash }

// guarded has a panic in cmd arrive as a message, so that it can be told when the screen is gone. Left
// to bubbletea, it would be written onto the screen that is about to be closed.
func guarded(cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = crashMsg{recovered(r)}
			}
		}()
		return cmd()
	}
}

// guard has a panic of its caller, which defers it, end the program in order.
func (m *model) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		m.crash = recovered(r)
		*cmd = tea.Quit
	}
}

// report writes what happened to a log and returns one sentence that says where that is.
func (c *crash) report(now time.Time) error {
	said := fmt.Sprintf("schedq stopped because of a mistake in it (%s)", firstWords(fmt.Sprint(c.what)))
	path, err := c.write(now)
	if err != nil {
		return fmt.Errorf("%s; its log could not be written (%w), so here it is:\n%s", said, err, c.stack)
	}
	return fmt.Errorf("%s: please report it with %s", said, path)
}

// firstWords is the beginning of text from anywhere, safe to show.
func firstWords(s string) string {
	s = safe(s)
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:200]) + "…"
	}
	return s
}

// write writes the log and returns its path.
func (c *crash) write(now time.Time) (string, error) {
	dir, err := logDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	build := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		build = info.Main.Path + " " + info.Main.Version + " " + info.GoVersion
	}
	path := filepath.Join(dir, "crash-"+now.UTC().Format("20060102-150405")+".log")
	text := fmt.Sprintf("%s\n%s\n\npanic: %s\n\n%s", now.UTC().Format(time.RFC3339), build, safe(fmt.Sprint(c.what)), c.stack)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// logDir is where logs are kept: schedq's folder in XDG_STATE_HOME, which is ~/.local/state if it is not set.
func logDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "schedq"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "schedq"), nil
}
