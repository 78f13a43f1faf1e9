package keymap_test

import (
	"testing"

	"github.com/schedq/schedq/keymap"
)

// TestSay: a key in a sentence can't be taken for its punctuation.
func TestSay(t *testing.T) {
	m := keymap.New(keymap.Default())
	for text, want := range map[string]string{
		"{step-forward} goes to the first":  ". goes to the first",
		"step on with {step-forward}. Look": `step on with ".". Look`,
		"newest last. {step-forward} goes":  `newest last. "." goes`,
		"{step-back}, or {play}.":           `",", or space.`,
		"{squeeze} and {none}":              ": skip quiet time and {none}",
	} {
		if got := m.Say(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
