//go:build linux

package hostile

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// keySequence opens most views, one after the other.
var keySequence = slices.Concat(
	strings.Split("j j k 1 2 3 4 5 tab j", " "),
	[]string{"\r", "j", "j", "\x1b", "v", "t", "j", "\x1b", "v", "l", "j", "\x1b", "v", "n", "\x1b", "v", "g", "\r", "\x1b", "v", "o", "j", "\r", "v", "p", "\x1b", "n", "\x1b", "?", "j", "\x1b"},
	[]string{":", "n", "o", "\x1b", "/", "p", "1", "\r", "/", "\x15", "\r", "g", "m", "j", "\r", "\x1b", ".", ".", ",", "i", "g", "i", "J", "K", "g", "s", "g", "e", "z", "z", "c", "\x1b", "\x1b", "e", "\x1b"},
)

// invisible matches characters that the screen must never contain.
var invisible = regexp.MustCompile("[\x00\x7f\u0080-\u009f\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u2028\u2029\U000e0000-\U000e007f]")

// escapes are the payloads' escape sequences that the program never writes.
var escapes = []string{"\x1b[2J\x1b[31mred", "\x1b]8;;http://example.com", "\x1b]52;c;UFdO", "\x1bP+q544e"}

// TestKeys: no view of a hostile recording writes its escape sequences to the terminal.
func TestKeys(t *testing.T) {
	path := program(t)
	for _, f := range texts() {
		inAllFields := strings.HasSuffix(f.name, ", raw") || strings.HasSuffix(f.name, ", escaped")
		if !inAllFields || !f.sampled(*share/2) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "input")
			if err := os.WriteFile(name, f.content, 0o600); err != nil {
				t.Fatal(err)
			}
			s := start(t, path, "replay", name, "--paused")
			s.waitFor(altScreen)
			for _, key := range keySequence {
				s.typeKeys(key)
				time.Sleep(keyPace)
				if key == "\x1b" { // or the next key is part of an escape sequence
					time.Sleep(5 * keyPace)
				}
			}
			if code := s.quit(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if said := s.changes(); said != "" {
				t.Errorf("the terminal is left changed: %s", said)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if at := invisible.FindIndex(s.written.Bytes()); at != nil {
				t.Errorf("the screen contains %q", s.written.Bytes()[max(0, at[0]-80):min(s.written.Len(), at[1]+80)])
			}
			for _, text := range escapes {
				if bytes.Contains(s.written.Bytes(), []byte(text)) {
					t.Errorf("the screen contains %q", text)
				}
			}
		})
	}
}

// keyPace is the time between keys, for the screen to be drawn in between.
const keyPace = 20 * time.Millisecond

// quit presses ctrl+c, which closes open pages first, until the program ends, and returns its exit
// code.
func (s *console) quit() int {
	s.Helper()
	select {
	case <-s.ended:
		s.Fatalf("the program ended early: %q", s.written.String()[max(0, s.written.Len()-2000):])
	default:
	}
	for range int(timeout / (25 * keyPace)) {
		s.typeKeys("\x03")
		select {
		case <-s.ended:
			return s.program.ProcessState.ExitCode()
		case <-time.After(25 * keyPace):
		}
	}
	return s.wait() // fails with a stack
}
