package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/page"
)

// TestPanicOutsideOfUpdateRestoresTheTerminal: a panic in a goroutine ends the program, which
// restores the terminal and then reports the panic.
func TestPanicOutsideOfUpdateRestoresTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := Options{Recordings: []Recording{{Name: "bad", Open: func(context.Context, func(float64)) (*session.Session, error) { panic("boom") }}}}
		p := sit(t, 80, 24, paused(t, sample), options)
		p.do(keymap.Recordings).press("enter")
		p.crashed("boom")
	})
}

// TestPanicInUpdateRestoresTheTerminal: a panic while handling a key or drawing restores the
// terminal too.
func TestPanicInUpdateRestoresTheTerminal(t *testing.T) {
	for name, mistake := range map[string]func(*model){
		"doing":   func(m *model) { m.Actions[keymap.Zoom] = page.Command(func() { panic("boom") }) },
		"drawing": func(m *model) { m.Frame = nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, 80, 24, paused(t, sample), Options{})
				mistake(p.model)
				b, _ := p.model.Keys.ByID(keymap.Zoom)
				p.program.Send(tea.KeyPressMsg{Code: rune(b.Keys[0][0]), Text: b.Keys[0]})
				p.crashed("")
			})
		})
	}
}

// crashed fails the test unless the program ended with a panic that contains text, and restored the
// terminal.
func (p *person) crashed(text string) {
	p.t.Helper()
	if err := <-p.over; err != nil || p.terminal.IsAltScreen() {
		p.t.Errorf("after the panic: %v, alternate screen: %t", err, p.terminal.IsAltScreen())
	}
	c := p.model.crash
	if c == nil {
		p.t.Fatal("the panic is not reported")
	}
	if said, ok := c.What.(string); ok && !strings.Contains(said, text) || !strings.Contains(string(c.Stack), "tui/") {
		p.t.Errorf("the panic is reported as %v\n%s", c.What, c.Stack)
	}
}

func TestCrashIsOneSentenceAndALog(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	c := &page.Crash{What: "index out of range\x1b]52;c;ZXZpbA==\a", Stack: []byte("goroutine 1\n")}
	said := reportCrash(c, time.Date(2026, 3, 1, 10, 36, 0, 0, time.UTC)).Error()
	path := filepath.Join(dir, "schedq", "crash-20260301-103600.log")
	if !strings.HasSuffix(said, "please report it and attach "+path) || strings.ContainsAny(said, "\n\x1b") {
		t.Errorf("the error is %q", said)
	}
	log, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(log), "goroutine 1") || strings.Contains(string(log), "\x1b") {
		t.Errorf("the log is %q, %v", log, err)
	}
}

func TestCrashWithoutAPlaceForItsLogIsToldInFull(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", file)
	if said := reportCrash(&page.Crash{What: "boom", Stack: []byte("goroutine 1")}, time.Now()).Error(); !strings.Contains(said, "goroutine 1") {
		t.Errorf("the error is %q", said)
	}
}
