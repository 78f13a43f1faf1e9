package tui

import (
	"context"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/manifest"
)

// TestAServedScreenHasNothingOfTheMachine: with any options, a served screen has no keys, palette
// entries or help for files and programs of the machine.
func TestAServedScreenHasNothingOfTheMachine(t *testing.T) {
	read := func(string) (*manifest.Manifest, error) {
		t.Error("a file was read")
		return nil, nil
	}
	o := Options{
		ReadManifest: read, Keys: keymap.Default(), Source: "sample", Memory: forbidden{t},
		Recordings: []Recording{{Name: "secret", Open: func(context.Context, func(float64)) (*session.Session, error) {
			t.Error("another recording was opened")
			return nil, nil
		}}},
	}.Served()
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t.Context(), paused(t, sample), o)
		for _, id := range localOnlyActions {
			if _, ok := m.Keys.ByID(id); ok {
				t.Errorf("%s is bound", id)
			}
		}
		if m.Actions[keymap.Apply].Refusal() == "" {
			t.Error("a manifest can be applied")
		}
	})
	if o.ReadManifest != nil || o.Memory != nil || o.Recordings != nil {
		t.Errorf("the options give access to the machine: %+v", o)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), o)
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
		for _, key := range []string{"A", "c", "C"} { // the keys of Apply, Copy and CopyMore
			p.press(key)
			p.seesNot("FILE").seesNot("copied").seesNot("secret")
		}
	})
}

// TestASlowedSession: a session with much data is slowed to real time with a notice, and one at
// that speed already is not changed.
func TestASlowedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{}.Served())
		p.goTo(moment)
		if p.model.Size() <= 0 {
			t.Error("the session's size is 0")
		}
		if p.model.Slow(); p.model.Notice().Text != "" {
			t.Errorf("the notice is %q at speed 1", p.model.Notice().Text)
		}
		p.do(keymap.Faster, keymap.Faster)
		if p.model.Frame.Speed <= 1 {
			t.Fatal("the speed did not increase")
		}
		p.model.Slow()
		p.idle()
		if p.model.Frame.Speed != 1 || !strings.Contains(p.model.Notice().Text, "low memory") {
			t.Errorf("the speed is %v and the notice %q", p.model.Frame.Speed, p.model.Notice().Text)
		}
	})
}

// forbidden is a memory that must not be used.
type forbidden struct{ t *testing.T }

func (f forbidden) Recall(string) (View, bool) {
	f.t.Error("a view was recalled")
	return View{}, false
}

func (f forbidden) Keep(string, View) error {
	f.t.Error("a view was stored")
	return nil
}

// TestOnlyRunningOnATerminalKnowsTheMachine: only two files import packages that access the
// machine: the one that runs on a local terminal, and the one that writes crash logs.
func TestOnlyRunningOnATerminalKnowsTheMachine(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "run.go" || name == "crash.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if path == "os" || strings.HasPrefix(path, "os/") || slices.Contains([]string{"net", "net/http", "syscall"}, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
