package keymap_test

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/keymap"
)

func TestOverride(t *testing.T) {
	all, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{
		keymap.Play: {"x", "ctrl+space"}, keymap.Reject: {"f12"}, keymap.Needs: {},
	})
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	m := keymap.New(all)
	for key, want := range map[string]keymap.ID{"x": keymap.Play, "ctrl+space": keymap.Play, "f12": keymap.Reject, ".": keymap.StepForward} {
		if b, ok := m.Lookup(keymap.Board, key); !ok || b.ID != want {
			t.Errorf("%q is %q, want %s", key, b.ID, want)
		}
	}
	if b, ok := m.Lookup(keymap.Board, "space"); ok {
		t.Errorf("space is still %s", b.ID)
	}
	if b, _ := m.ByID(keymap.Needs); b.Key() != "" || b.AllKeys() != "" {
		t.Errorf("an action without a key shows %q", b.Key())
	}
}

// TestOverrideProblems: each problem names the action whose keys were configured.
func TestOverrideProblems(t *testing.T) {
	for _, c := range []struct {
		id   keymap.ID
		keys []string
		says string
	}{
		{"stepforward", []string{"l"}, `unknown action "stepforward"`},
		{"step-forwards", []string{"l"}, "did you mean step-forward, step-back"},
		{keymap.StepForward, []string{"q"}, `"q" is also the key of quit (on the board): use another key for one of them`},
		{keymap.ListUp, []string{"enter"}, `"enter" is also the key of list-choose`},
		{keymap.ListUp, []string{"g k"}, `invalid key "g k": only actions of the board can have two keys`},
		{keymap.Play, []string{"g spacebar"}, `invalid key "spacebar"`},
		{keymap.Play, []string{"g g g"}, `invalid key "g g"`},
		{keymap.Play, []string{"ctrl+m"}, `"ctrl+m" is "enter" on most terminals`},
		{keymap.Play, []string{" "}, `use "space"`},
		{keymap.Play, []string{""}, `invalid key ""`},
		{keymap.Play, []string{"spacebar"}, `invalid key "spacebar": use a letter or space, tab`},
		{keymap.Play, []string{"shift+k"}, "use the letter it types"},
		{keymap.Play, []string{"\x1b"}, "invalid key"},
		{keymap.Quit, nil, "quit needs a key"},
		{keymap.ListClose, nil, "list-close needs a key"},
	} {
		_, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{c.id: c.keys})
		if len(problems) != 1 || problems[0].ID != c.id || !strings.Contains(problems[0].Text, c.says) {
			t.Errorf("%s with %q: %v, want %q", c.id, c.keys, problems, c.says)
		}
	}
}

// TestConfiguredKeysTakePrecedence: a user's keys stay valid when defaults change: the default
// gives way.
func TestConfiguredKeysTakePrecedence(t *testing.T) {
	all, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{
		keymap.AddPod: {"n", "N"}, keymap.FirstRow: {"g", "home"}, keymap.Compare: {"u"}, keymap.Theme: {"W t"},
		"copy": {"Y"}, "leave-what-if": {"backspace"}, // of earlier versions
	})
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	m := keymap.New(all)
	for key, want := range map[string]keymap.ID{
		"n": keymap.AddPod, "N": keymap.AddPod, "g": keymap.FirstRow, "u": keymap.Compare, "W t": keymap.Theme, "W y": keymap.Redo,
		"c": keymap.CopyMore, "Y": keymap.CopyMore, "w": keymap.WhatIf, "backspace": keymap.WhatIf,
	} {
		if b, ok := m.Lookup(keymap.Board, key); !ok || b.ID != want {
			t.Errorf("%q is %q, want %s", key, b.ID, want)
		}
	}
	for _, key := range []string{"g p", "g g"} {
		if b, ok := m.Lookup(keymap.Board, key); ok {
			t.Errorf("%q is bound to %s although g is a key by itself", key, b.ID)
		}
	}
	if _, leads := m.Leader("g"); leads {
		t.Error("g is a leader although it is a key by itself")
	}
	if _, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{keymap.AddPod: {"n"}, keymap.Nodes: {"n"}}); len(problems) != 1 {
		t.Errorf("one key for two actions: %v", problems)
	}
	if _, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{keymap.AddPod: {"n"}, keymap.Nodes: {"n n"}}); len(problems) != 1 {
		t.Errorf("a key that is also the first of two: %v", problems)
	}
}
