package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
		t.Errorf("commands: %v", c.Commands)
	}
	m := keymap.New(c.Bindings)
	for key, want := range map[string]keymap.ID{"l": keymap.StepForward, "0": keymap.Lanes, ",": keymap.StepBack} {
		if b, _ := m.Lookup(keymap.Board, key); b.ID != want {
			t.Errorf("%q is %q, want %s", key, b.ID, want)
		}
	}
	if _, bound := m.Lookup(keymap.Board, "N"); bound {
		t.Error("N is still bound")
	}
}

// TestOwnThemes: a theme can be named before it is defined, and inherits colours from its base.
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
		t.Error("an empty theme differs from auto")
	}
	base = theme.NewPalette(theme.ColorBlind, true, false, true)
	own = c.Themes.Palette("Night", true, false, true)
	for style, want := range map[canvas.Style]string{theme.Backoff: base[theme.Backoff], theme.Gated: "\x1b[93m", theme.Alarm: "\x1b[31m"} {
		if own[style] != want {
			t.Errorf("with 16 colours, style %d is %q, want %q", style, own[style], want)
		}
	}
}

// TestParseErrors: each error has file and line, in one sentence.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"theme: [dark":                                  "config.yaml, line 1: invalid YAML: ",
		"- theme":                                       "config.yaml, line 1: invalid configuration: use lines like theme: dark",
		"\n\ncolour: red":                               `config.yaml, line 3: unknown setting "colour": use one of theme, glyphs, projector`,
		"theme: dark\ntheme: light":                     "config.yaml, line 2: duplicate setting theme",
		"theme: pink":                                   "config.yaml, line 1: ",
		"theme: {a: b}":                                 "config.yaml, line 1: invalid theme (a mapping): use a word",
		"speed: fast":                                   `config.yaml, line 1: invalid speed "fast": use a number from 0.1 to 1000`,
		"speed: .nan":                                   `config.yaml, line 1: invalid speed ".nan": use a number from 0.1 to 1000`,
		"time-zone: Mars/Olympus":                       `config.yaml, line 1: unknown time zone "Mars/Olympus": use UTC, local`,
		"time-zone: [a]":                                "config.yaml, line 1: invalid time-zone (a list): use a word",
		"mouse: maybe":                                  `config.yaml, line 1: invalid mouse "maybe": use true or false`,
		"filter: \"attempts>\"":                         `config.yaml, line 1: invalid filter "attempts>": letter 10: value missing`,
		"filter: [a]":                                   "config.yaml, line 1: invalid filter (a list): use text",
		"keys: l":                                       `config.yaml, line 1: invalid keys "l": use actions with their keys`,
		"keys:\n  quit: {a: b}":                         "config.yaml, line 2: invalid keys of quit (a mapping): use a list",
		"keys:\n  quit: [[a]]":                          "config.yaml, line 2: invalid key of quit (a list): use a word",
		"keys:\n  quit: f7\n  quit: f8":                 "config.yaml, line 3: duplicate action quit",
		"keys:\n  play: q":                              `config.yaml, line 2: keys of play: "q" is also the key of quit (on the board)`,
		"keys:\n  plya: x":                              `config.yaml, line 2: keys of plya: unknown action "plya"`,
		"keys:\n  play: [ctrl+i, xyz]":                  `config.yaml, line 2: keys of play: "ctrl+i" is "tab" on most terminals: use that; `,
		"commands: [a]":                                 "config.yaml, line 1: invalid commands (a list): use a mapping of names to lists of words",
		"commands:\n  d: kubectl describe":              `config.yaml, line 2: invalid command d: use a list of words like [kubectl, describe`,
		"commands:\n  d: [kubectl, \"{pod}\"]":          "config.yaml, line 2: unknown field {pod}: use {namespace}, {name}, {node}",
		"commands:\n  d: {run: [a], shell: yes}":        `config.yaml, line 2: unknown command field "shell": use run and terminal`,
		"commands:\n  d: [a]\n  d: [b]":                 "config.yaml, line 3: duplicate command d",
		"commands:\n  d: {run: [a], terminal: often}":   `config.yaml, line 2: invalid terminal "often": use true or false`,
		"themes: dark":                                  `config.yaml, line 1: invalid themes "dark": use a mapping of names to themes`,
		"themes:\n  mine: red":                          `config.yaml, line 2: invalid theme mine: use lines like backoffQ: "#f2b155"`,
		"themes:\n  Dark: {}":                           `config.yaml, line 2: invalid theme name "Dark": use a name that is not built in`,
		"themes:\n  a: {}\n  a: {}":                     "config.yaml, line 3: duplicate theme a",
		"themes:\n  a:\n    base: pink":                 `config.yaml, line 3: invalid base "pink" of theme a: use one of auto, dark, light, high-contrast, colour-blind, none`,
		"themes:\n  a:\n    backoff: red":               `config.yaml, line 3: theme a: unknown colour role "backoff": use activeQ, backoffQ, `,
		"themes:\n  a:\n    gated: red\n    gated: red": "config.yaml, line 4: theme a: duplicate colour gated",
		"themes:\n  a:\n    gated: #ff0000":             "config.yaml, line 3: theme a: gated: invalid colour: use #rrggbb in quotes, or one of black, red, ",
		"themes:\n  a:\n    gated: \"#ff00\"":           "config.yaml, line 3: theme a: gated: invalid colour: use #rrggbb",
		"themes:\n  a:\n    gated: [red]":               "config.yaml, line 3: theme a: gated: invalid list: use two colours",
		"themes:\n  a:\n    gated: [red, \"#ff0000\"]":  "config.yaml, line 3: theme a: gated: invalid colour for sixteen-colour terminals: use black, red, ",
		"theme: b\nthemes:\n  a: {}":                    `config.yaml, line 1: unknown theme "b": use auto, dark, light, high-contrast, colour-blind, none, a`,
		"theme: \"\x1b]0;a\"":                           "config.yaml: invalid YAML: control characters are not allowed",
		"a: &a [*a]":                                    "config.yaml, line 1: ",
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

// TestMistakes: all mistakes are reported at once, and the valid settings apply.
func TestMistakes(t *testing.T) {
	c, err := config.Parse("config.yaml", []byte(`theme: pink
speed: 5
colour: red
paused: often
start: nowhere
themes:
  night: {base: pink}
  day: {base: light}
keys:
  plya: x
  quit: [f9]
  play: hello
a: &a [*a]
b: *a
`))
	lines := strings.Split(fmt.Sprint(err), "\n")
	var at []string
	for _, line := range lines {
		number, _, _ := strings.Cut(strings.TrimPrefix(line, "config.yaml, line "), ":")
		at = append(at, number)
	}
	if got, want := strings.Join(at, " "), "1 3 4 5 7 10 12 13 14"; got != want {
		t.Errorf("mistakes in lines %s, want %s:\n%v", got, want, err)
	}
	if c.Theme != theme.Auto || c.Speed != 5 || c.Paused || c.Start != tui.StartBoard || len(c.Themes) != 1 || c.Themes[0].Name != "day" {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(c.Bindings, func(b keymap.Binding) bool { return b.ID == "quit" && slices.Contains(b.Keys, "f9") }) {
		t.Error("the right key does not apply")
	}
	if summary := config.Summary(err); summary != "9 mistakes (schedq config lists them), first "+lines[0] {
		t.Error(summary)
	}
}

func TestFile(t *testing.T) {
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
	if _, err := config.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "can't read the configuration: "+own) {
		t.Errorf("with a missing file in SCHEDQ_CONFIG: %v", err)
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
		t.Errorf("with a large file: %v", err)
	}
}

// TestSchemaAndExample: the example equals the defaults, and the schema has all settings and
// actions.
func TestSchemaAndExample(t *testing.T) {
	example, err := config.Parse("example", []byte(config.Example()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", example), fmt.Sprintf("%+v", config.Default()); got != want {
		t.Errorf("the example is\n%s\nwant\n%s", got, want)
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
		t.Errorf("the schema has %d settings and %d themes", len(schema.Properties), len(schema.Properties["theme"].Examples))
	}
	if got := len(schema.Properties["keys"].Properties); got != len(keymap.Default()) {
		t.Errorf("the schema has %d actions of %d", got, len(keymap.Default()))
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
		t.Error("an unknown source has a view")
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
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	for _, e := range entries {
		if err := os.WriteFile(filepath.Join(folder, e.Name()), []byte("{\"source\":"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := views.Recall("source 229"); ok {
		t.Error("a broken file has a view")
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := views.Keep("a", want); err == nil || !strings.Contains(err.Error(), "can't remember the view of a: ") {
		t.Errorf("with a file in place of the folder: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("theme: dark\nkeys: {quit: [q]}\nfilter: a")
	f.Add("a: &a [*a]\nkeys: *a")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := config.Parse("fuzzed", []byte(text)); err == nil && c.Bindings == nil {
			t.Error("no bindings")
		} else if err != nil && !strings.HasPrefix(err.Error(), "fuzzed") {
			t.Errorf("%v does not name the file", err)
		}
	})
}

func TestOwnViews(t *testing.T) {
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
	// An earlier version called the column waiting "age".
	if c, err := config.Parse("c.yaml", []byte("views:\n  a:\n    columns: {unschedulable: [pod, age]}\n    sort: {unschedulable: -age}\n")); err != nil ||
		c.Views[0].View.Sorts["unschedulable"] != (board.Sort{By: board.ByWaiting, Reverse: true}) {
		t.Errorf("%v, %+v", err, c.Views)
	}
	for text, want := range map[string]string{
		"start: nowhere":     `c.yaml, line 1: invalid start "nowhere": use one of board, last`,
		"views: []":          "c.yaml, line 1: invalid views (a list): use a mapping of names to views",
		"views:\n  a: b":     `c.yaml, line 2: invalid view "b": use filter, columns, sort and pane`,
		"views:\n  last: {}": `c.yaml, line 2: invalid view name "last"`,
		"views:\n  a: {columns: {activeQ: [age, waiting]}}": "c.yaml, line 2: duplicate column waiting",
		"views:\n  a: {fiter: x}":                           `c.yaml, line 2: unknown view field "fiter": use filter, columns, sort and pane`,
		"views:\n  a:\n    filter: \"colour:red\"":          `c.yaml, line 3: invalid filter "colour:red": `,
		"views:\n  a: {pane: x}":                            `c.yaml, line 2: invalid pane "x": use one of activeQ, `,
		"views:\n  a: {columns: {log: [pod]}}":              `c.yaml, line 2: invalid pane "log": only activeQ, `,
		"views:\n  a: {columns: {activeQ: [pod, pod]}}":     "c.yaml, line 2: duplicate column pod",
		"views:\n  a: {columns: {activeQ: pod}}":            `c.yaml, line 2: invalid columns of activeQ "pod": use a list of names`,
		"views:\n  a: {sort: {activeQ: size}}":              `c.yaml, line 2: unknown column "size": sort by one of pod, `,
	} {
		if _, err := config.Parse("c.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
