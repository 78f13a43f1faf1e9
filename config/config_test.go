package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

var update = flag.Bool("update", false, "write the schema and the example in docs")

func TestParse(t *testing.T) {
	c, err := config.Parse("config.yaml", []byte(`
theme: high-contrast
projector: true
mouse: false
speed: 2.5
paused: true
filter: "ns:shop !web"
remember: false
commands:
  describe: [kubectl, describe, pod, "{name}"]
  k9s: {run: [k9s], terminal: true}
keys:
  step-forward: [l, right]
  needs:
  lanes: "0"
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Theme != theme.HighContrast || !c.Projector || c.Mouse || c.Speed != 2.5 || !c.Paused || c.Filter.String() != "ns:shop !web" || c.Remember {
		t.Errorf("%+v", c)
	}
	if len(c.Commands) != 2 || c.Commands[0].Words[3] != "{name}" || c.Commands[0].Terminal || !c.Commands[1].Terminal {
		t.Errorf("the commands are %v", c.Commands)
	}
	m := keymap.New(c.Bindings)
	for key, want := range map[string]keymap.ID{"l": keymap.StepForward, "0": keymap.Lanes, ",": keymap.StepBack} {
		if b, _ := m.Lookup(keymap.Board, key); b.ID != want {
			t.Errorf("%q is %q, want %s", key, b.ID, want)
		}
	}
	if _, bound := m.Lookup(keymap.Board, "N"); bound {
		t.Error("N still does what needs no key")
	}
}

// A theme of one's own is known wherever in the file it is named, and has the other colours of its base.
func TestOwnThemes(t *testing.T) {
	c, err := config.Parse("config.yaml", []byte(`
theme: Night
themes:
  Night:
    base: colour-blind
    backoffQ: "#123456"
    gated: ["#654321", bright-yellow]
    alarm: red
  plain: {}
`))
	if err != nil {
		t.Fatal(err)
	}
	if all := c.Themes.All(); c.Theme != "Night" || all[len(all)-1] != "plain" || c.Themes.Next("plain") != theme.Auto || c.Themes.Next(theme.None) != "Night" {
		t.Errorf("theme %s of %v", c.Theme, all)
	}
	base := theme.NewPalette(theme.ColorBlind, true, false, false)
	own, plain := c.Themes.Palette("Night", true, false, false), c.Themes.Palette("plain", true, false, false)
	for style, want := range map[canvas.Style]string{
		theme.Backoff: "\x1b[38;2;18;52;86m", theme.Gated: "\x1b[38;2;101;67;33m", theme.Alarm: "\x1b[31m", theme.Active: base[theme.Active],
		theme.Backoff | canvas.Bold: "\x1b[38;2;18;52;86;1m",
	} {
		if own[style] != want {
			t.Errorf("style %d is %q, want %q", style, own[style], want)
		}
	}
	if *plain != *theme.NewPalette(theme.Auto, true, false, false) {
		t.Error("a theme that says nothing is not as auto")
	}
	base = theme.NewPalette(theme.ColorBlind, true, false, true)
	own = c.Themes.Palette("Night", true, false, true)
	for style, want := range map[canvas.Style]string{theme.Backoff: base[theme.Backoff], theme.Gated: "\x1b[93m", theme.Alarm: "\x1b[31m"} {
		if own[style] != want {
			t.Errorf("of sixteen colours, style %d is %q, want %q", style, own[style], want)
		}
	}
}

// Each mistake is told with file and line, in one sentence.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"theme: [dark":                                  "config.yaml, line 1: no YAML: ",
		"- theme":                                       "config.yaml, line 1: a configuration is made of lines like theme: dark",
		"\n\ncolour: red":                               `config.yaml, line 3: there is no setting "colour"; there are theme, glyphs, projector`,
		"theme: dark\ntheme: light":                     "config.yaml, line 2: theme is set twice",
		"theme: pink":                                   "config.yaml, line 1: ",
		"theme: {a: b}":                                 "config.yaml, line 1: theme is a word, not a mapping",
		"speed: fast":                                   `config.yaml, line 1: speed is a number from 0.1 to 1000, not "fast"`,
		"speed: .nan":                                   `config.yaml, line 1: speed is a number from 0.1 to 1000, not ".nan"`,
		"time-zone: Mars/Olympus":                       `config.yaml, line 1: unknown time zone "Mars/Olympus": use UTC, local`,
		"time-zone: [a]":                                "config.yaml, line 1: time-zone is a word, not a list",
		"mouse: maybe":                                  `config.yaml, line 1: mouse is true or false, not "maybe"`,
		"filter: \"attempts>\"":                         `config.yaml, line 1: filter "attempts>": letter 10: value missing`,
		"filter: [a]":                                   "config.yaml, line 1: filter is text, not a list",
		"keys: l":                                       "config.yaml, line 1: keys are actions with their keys",
		"keys:\n  quit: {a: b}":                         "config.yaml, line 2: the keys of quit are a list, not a mapping",
		"keys:\n  quit: [[a]]":                          "config.yaml, line 2: a key of quit is a word, not a list",
		"keys:\n  quit: x\n  quit: y":                   "config.yaml, line 3: quit is there twice",
		"keys:\n  play: q":                              `config.yaml, line 2: keys of play: "q" is the key of quit, too (on the board)`,
		"keys:\n  plya: x":                              `config.yaml, line 2: keys of plya: there is no action "plya"`,
		"keys:\n  play: [ctrl+i, xyz]":                  `config.yaml, line 2: keys of play: "ctrl+i" is "tab" on most terminals: use that (and 1 more)`,
		"commands: [a]":                                 "config.yaml, line 1: commands are names with the words of each, not a list",
		"commands:\n  d: kubectl describe":              `config.yaml, line 2: the command d is a list of words, as [kubectl, describe`,
		"commands:\n  d: [kubectl, \"{pod}\"]":          "config.yaml, line 2: a pod has no field {pod}; there are {namespace}, {name}, {node}",
		"commands:\n  d: {run: [a], shell: yes}":        `config.yaml, line 2: a command has no "shell"; it has run and terminal`,
		"commands:\n  d: [a]\n  d: [b]":                 "config.yaml, line 3: the command d is there twice",
		"commands:\n  d: {run: [a], terminal: often}":   `config.yaml, line 2: terminal is true or false, not "often"`,
		"themes: dark":                                  "config.yaml, line 1: themes are names with the colours of each, not ",
		"themes:\n  mine: red":                          `config.yaml, line 2: the theme mine is made of lines like backoffQ: "#f2b155"`,
		"themes:\n  Dark: {}":                           `config.yaml, line 2: "Dark" is no name for a theme of one's own`,
		"themes:\n  a: {}\n  a: {}":                     "config.yaml, line 3: the theme a is there twice",
		"themes:\n  a:\n    base: pink":                 `config.yaml, line 3: the base of a is one of auto, dark, light, high-contrast, colour-blind, none, not "pink"`,
		"themes:\n  a:\n    backoff: red":               `config.yaml, line 3: theme a: nothing is drawn in a colour called "backoff"; there are activeQ, backoffQ, `,
		"themes:\n  a:\n    gated: red\n    gated: red": "config.yaml, line 4: theme a: gated is there twice",
		"themes:\n  a:\n    gated: #ff0000":             "config.yaml, line 3: gated of the theme a: a colour is #rrggbb, in quotes, or one of black, red, ",
		"themes:\n  a:\n    gated: \"#ff00\"":           "config.yaml, line 3: gated of the theme a: a colour is #rrggbb",
		"themes:\n  a:\n    gated: [red]":               "config.yaml, line 3: gated of the theme a: a list has two colours",
		"themes:\n  a:\n    gated: [red, \"#ff0000\"]":  "config.yaml, line 3: gated of the theme a: on terminals of sixteen colours one is black, red, ",
		"theme: b\nthemes:\n  a: {}":                    `config.yaml, line 1: there is no theme "b", only auto, dark, light, high-contrast, colour-blind, none, a`,
		"theme: \"\x1b]0;a\"":                           "config.yaml is no YAML: control characters are not allowed",
		"a: &a [*a]\nb: *a":                             "config.yaml, line 1: ",
	} {
		_, err := config.Parse("config.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing", "---\n", "keys: {}"} {
		if c, err := config.Parse("config.yaml", []byte(text)); err != nil || c.Theme != theme.Auto {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhereTheFileIs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "relative")
	t.Setenv(config.FileVariable, "")
	if path, err := config.File(); err != nil || path != filepath.Join(dir, ".config", "schedq", "config.yaml") {
		t.Errorf("%s, %v", path, err)
	}
	if c, err := config.Load(t.Context()); err != nil || c.Speed != 1 {
		t.Errorf("without a file: %v", err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "c"))
	if path, _ := config.File(); path != filepath.Join(dir, "c", "schedq", "config.yaml") {
		t.Error(path)
	}
	own := filepath.Join(dir, "own.yaml")
	t.Setenv(config.FileVariable, own)
	if _, err := config.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "the configuration can't be read: "+own) {
		t.Errorf("one that is named must be there: %v", err)
	}
	if err := os.WriteFile(own, []byte("speed: 5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(t.Context()); err != nil || c.Speed != 5 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := os.WriteFile(own, bytes.Repeat([]byte("#"), 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("a large one: %v", err)
	}
}

// The example says what holds without it, and the schema knows each setting and action.
func TestSchemaAndExample(t *testing.T) {
	example, err := config.Parse("example", []byte(config.Example()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", example), fmt.Sprintf("%+v", config.Default()); got != want {
		t.Errorf("the example is\n%s\nthe default\n%s", got, want)
	}
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct {
			Examples   []string
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for name := range schema.Properties {
		if !strings.Contains(config.Example(), name+": ") {
			t.Errorf("the example lacks %s", name)
		}
	}
	if len(schema.Properties) != strings.Count(config.Example(), "\n\n") || len(schema.Properties["theme"].Examples) != len(theme.All()) {
		t.Errorf("the schema knows %d settings and %d themes", len(schema.Properties), len(schema.Properties["theme"].Examples))
	}
	if got := len(schema.Properties["keys"].Properties); got != len(keymap.Default()) {
		t.Errorf("the schema knows %d actions of %d", got, len(keymap.Default()))
	}
}

func TestDocsAreUpToDate(t *testing.T) {
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	const schemaPath, docPath = "../docs/reference/settings.schema.json", "../docs/reference/settings.md"
	doc, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(doc), "```yaml\n")
	_, after, _ := strings.Cut(rest, "```\n")
	want := before + "```yaml\n" + config.Example() + "```\n" + after
	if *update {
		for path, text := range map[string][]byte{schemaPath: schema, docPath: []byte(want)} {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if got, err := os.ReadFile(schemaPath); err != nil || !bytes.Equal(got, schema) || string(doc) != want {
		t.Errorf("%s or %s is stale (%v): run go test ./config -update", schemaPath, docPath, err)
	}
}

func TestViews(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	views, err := config.RememberedViews(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := views.Recall("a"); ok {
		t.Error("something is remembered of what was never looked at")
	}
	want := tui.View{Filter: "ns:shop", Pane: "log", Layout: "lanes", Sorts: map[string]board.Sort{"active": {By: board.ByName, Reverse: true}}}
	if err := views.Keep("a\n../../b", want); err != nil {
		t.Fatal(err)
	}
	if got, ok := views.Recall("a\n../../b"); !ok || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %t, want %+v", got, ok, want)
	}
	for i := range 230 {
		if err := views.Keep(fmt.Sprint("source ", i), tui.View{}); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(os.Getenv("XDG_STATE_HOME"), "schedq", "views")
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 200 {
		t.Errorf("%d files are kept, %v", len(entries), err)
	}
	for _, e := range entries { // whatever stands there, it is as if nothing did
		if err := os.WriteFile(filepath.Join(folder, e.Name()), []byte("{\"source\":"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := views.Recall("source 229"); ok {
		t.Error("a broken file is believed")
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := views.Keep("a", want); err == nil || !strings.Contains(err.Error(), "how a was looked at can't be remembered: ") {
		t.Errorf("with a file where the folder would be: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("theme: dark\nkeys: {quit: [q]}\nfilter: a")
	f.Add("a: &a [*a]\nkeys: *a")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := config.Parse("fuzzed", []byte(text)); err == nil && c.Bindings == nil {
			t.Error("no bindings")
		} else if err != nil && !strings.HasPrefix(err.Error(), "fuzzed") {
			t.Errorf("%v does not say which file", err)
		}
	})
}

func TestViewsOfOnesOwn(t *testing.T) {
	c, err := config.Parse("c.yaml", []byte("start: stuck\nviews:\n  stuck:\n    filter: waiting>1m\n    pane: unschedulable\n    columns: {unschedulable: [pod, waiting]}\n    sort: {unschedulable: next, backoffQ: -attempts}\n  other: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := tui.View{
		Filter: "waiting>1m", Pane: "unschedulable", Columns: map[string][]string{"unschedulable": {"pod", "waiting"}},
		Sorts: map[string]board.Sort{"unschedulable": {By: board.ByExpiry}, "backoffQ": {By: board.ByAttempts, Reverse: true}},
	}
	if c.Start != "stuck" || len(c.Views) != 2 || c.Views[0].Name != "stuck" || !reflect.DeepEqual(c.Views[0].View, want) {
		t.Errorf("%+v", c.Views)
	}
	// What was written for an earlier version is read: waiting was called age.
	if c, err := config.Parse("c.yaml", []byte("views:\n  a:\n    columns: {unschedulable: [pod, age]}\n    sort: {unschedulable: -age}\n")); err != nil ||
		c.Views[0].View.Sorts["unschedulable"] != (board.Sort{By: board.ByWaiting, Reverse: true}) {
		t.Errorf("%v, %+v", err, c.Views)
	}
	for text, want := range map[string]string{
		"start: nowhere":     `c.yaml, line 1: start: there is no view "nowhere"; there are board, last`,
		"views: []":          "c.yaml, line 1: views are names with what each shows, not a list",
		"views:\n  a: b":     `c.yaml, line 2: a view is made of filter, columns, sort and pane, not "b"`,
		"views:\n  last: {}": `c.yaml, line 2: "last" is no name for a view`,
		"views:\n  a: {columns: {activeQ: [age, waiting]}}": "c.yaml, line 2: the column waiting is there twice",
		"views:\n  a: {fiter: x}":                           `c.yaml, line 2: a view has no "fiter"; it has filter, columns, sort and pane`,
		"views:\n  a:\n    filter: \"colour:red\"":          `c.yaml, line 3: filter "colour:red": `,
		"views:\n  a: {pane: x}":                            `c.yaml, line 2: there is no pane "x"; there are activeQ, `,
		"views:\n  a: {columns: {log: [pod]}}":              `c.yaml, line 2: the pane "log" has no columns; those of activeQ, `,
		"views:\n  a: {columns: {activeQ: [pod, pod]}}":     "c.yaml, line 2: the column pod is there twice",
		"views:\n  a: {columns: {activeQ: pod}}":            `c.yaml, line 2: the columns of activeQ are a list of names, not "pod"`,
		"views:\n  a: {sort: {activeQ: size}}":              `c.yaml, line 2: there is no column "size" to sort by; there are pod, `,
	} {
		if _, err := config.Parse("c.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
