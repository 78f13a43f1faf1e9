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

// Whatever options a served screen is given, what is about the machine is not there: not by key, not in the palette,
// not in the help.
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
		t.Errorf("the screen is given a way to the machine: %+v", o)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), o)
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
		for _, key := range []string{"A", "c", "C"} { // Apply's, Copy's and CopyMore's
			p.press(key)
			p.seesNot("FILE").seesNot("copied").seesNot("secret")
		}
	})
}

// A session that holds much is slowed and told so, and one that plays no faster than time does goes on.
func TestASlowedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{}.Served())
		p.goTo(moment)
		if p.model.Size() <= 0 {
			t.Error("the session holds nothing")
		}
		if p.model.Slow(); p.model.Notice().Text != "" {
			t.Errorf("it says %q though it plays at 1x", p.model.Notice().Text)
		}
		p.do(keymap.Faster, keymap.Faster)
		if p.model.Frame.Speed <= 1 {
			t.Fatal("it is no faster")
		}
		p.model.Slow()
		p.idle()
		if p.model.Frame.Speed != 1 || !strings.Contains(p.model.Notice().Text, "low memory") {
			t.Errorf("it plays at %v, and says %q", p.model.Frame.Speed, p.model.Notice().Text)
		}
	})
}

// forbidden is a memory that must not be asked.
type forbidden struct{ t *testing.T }

func (f forbidden) Recall(string) (View, bool) {
	f.t.Error("how it was looked at was recalled")
	return View{}, false
}

func (f forbidden) Keep(string, View) error {
	f.t.Error("how it was looked at was kept")
	return nil
}

// Of the files of the screen only two know the machine: the one that runs on its own terminal, and the one that
// then writes what went wrong.
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
