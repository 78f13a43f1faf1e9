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

// pressed are the keys that a person presses who looks at everything, one after the other.
var pressed = slices.Concat(
	strings.Split("j j k 1 2 3 4 5 tab j", " "),
	[]string{"\r", "j", "j", "\x1b", "v", "j", "\x1b", "l", "j", "\x1b", "N", "\x1b", "#", "\r", "\x1b", "S", "j", "\r", "P", "\x1b", "?", "j", "\x1b"},
	[]string{":", "n", "o", "\x1b", "/", "p", "1", "\r", "/", "\x15", "\r", "'", "j", "\r", "\x1b", ".", ".", ",", ">", "<", "i", "I", "J", "K", "{", "}", "+", "+", "C", "\x1b", "\x1b"},
)

// unseen is what no screen may have, whatever else steers the terminal there.
var unseen = regexp.MustCompile("[\x00\x7f\u0080-\u009f\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u2028\u2029\U000e0000-\U000e007f]")

// steering are those of the payloads that the program never writes itself.
var steering = []string{"\x1b[2J\x1b[31mred", "\x1b]8;;http://example.com", "\x1b]52;c;UFdO", "\x1bP+q544e"}

// TestKeys: whoever looks at everything in a hostile recording sees nothing that steers the terminal, and leaves.
func TestKeys(t *testing.T) {
	path := program(t)
	for _, f := range texts() {
		everywhere := strings.HasSuffix(f.name, ", as it is") || strings.HasSuffix(f.name, ", escaped")
		if !everywhere || !f.among(*share/2) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "input")
			if err := os.WriteFile(name, f.content, 0o600); err != nil {
				t.Fatal(err)
			}
			s := sit(t, path, "replay", name, "--paused")
			s.until(altScreen)
			for _, key := range pressed {
				s.types(key)
				time.Sleep(keyPace)
				if key == "\x1b" { // else it belongs to the next
					time.Sleep(5 * keyPace)
				}
			}
			if code := s.leaves(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if said := s.damage(); said != "" {
				t.Errorf("the terminal is left with %s", said)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if at := unseen.FindIndex(s.written.Bytes()); at != nil {
				t.Errorf("the screen has %q", s.written.Bytes()[max(0, at[0]-80):min(s.written.Len(), at[1]+80)])
			}
			for _, text := range steering {
				if bytes.Contains(s.written.Bytes(), []byte(text)) {
					t.Errorf("the screen has %q", text)
				}
			}
		})
	}
}

// keyPace is how long a person takes for a key at the least: most of what keys show is drawn then.
const keyPace = 20 * time.Millisecond

// leaves presses ctrl+c, which closes what is open, until the program ends, and returns its exit code.
func (s *seat) leaves() int {
	s.Helper()
	select {
	case <-s.ended:
		s.Fatalf("it left before it was asked to: %q", s.written.String()[max(0, s.written.Len()-2000):])
	default:
	}
	for range int(patience / (25 * keyPace)) {
		s.types("\x03")
		select {
		case <-s.ended:
			return s.program.ProcessState.ExitCode()
		case <-time.After(25 * keyPace):
		}
	}
	return s.ends() // says what it is at
}
