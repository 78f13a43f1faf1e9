package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/export"
)

// tape is a recorded session that the project's site plays (site/static/player.js). Equal rows are
// stored once, and a frame has only the rows that changed.
type tape struct {
	p      *person
	last   []int // the rows of the previous frame
	styles map[tapeStyle]int
	rows   map[string]int // by their JSON
	reel
}

// reel is the JSON document of a tape.
type reel struct {
	Width  int               `json:"width"`
	Height int               `json:"height"`
	Styles []tapeStyle       `json:"styles"`
	Rows   []json.RawMessage `json:"rows"` // each [style, text, style, text ...]
	Frames []tapeFrame       `json:"frames"`
}

// tapeStyle is the text colour, the background, and "b" for bold and "u" for underlined. An empty
// colour is the default.
type tapeStyle [3]string

// showsBlanks reports whether a blank in this style is visible.
func (s tapeStyle) showsBlanks() bool { return s[1] != "" || strings.Contains(s[2], "u") }

type tapeFrame struct {
	Seconds float64  `json:"seconds"`
	Key     string   `json:"key,omitempty"` // the keys pressed since the previous frame
	Caption string   `json:"caption"`
	Rows    [][2]int `json:"rows"` // pairs of a screen row and a row of the reel; never null
}

// record begins a tape of p's screen.
func record(p *person) *tape {
	p.pressed = nil
	return &tape{p: p, styles: map[tapeStyle]int{}, rows: map[string]int{}, reel: reel{Width: p.terminal.Width(), Height: p.terminal.Height()}}
}

// shoot adds the current screen for that many seconds, with the keys pressed since the last frame.
func (t *tape) shoot(seconds float64, caption string) {
	t.p.t.Helper()
	frame := tapeFrame{Seconds: seconds, Key: strings.Join(t.p.pressed, " "), Caption: caption, Rows: [][2]int{}}
	t.p.pressed = nil
	if t.last == nil {
		t.last = slices.Repeat([]int{-1}, t.Height)
	}
	for y := range t.Height {
		row, err := json.Marshal(t.row(y))
		if err != nil {
			t.p.t.Fatal(err)
		}
		n, ok := t.rows[string(row)]
		if !ok {
			n = len(t.Rows)
			t.rows[string(row)], t.Rows = n, append(t.Rows, row)
		}
		if t.last[y] != n {
			t.last[y], frame.Rows = n, append(frame.Rows, [2]int{y, n})
		}
	}
	t.Frames = append(t.Frames, frame)
}

// row returns row y of the screen in the format of a reel.
func (t *tape) row(y int) []any {
	t.p.drawing.Lock()
	defer t.p.drawing.Unlock()
	runs := []any{}
	var style tapeStyle
	text := ""
	end := func() {
		if text != "" {
			runs = append(runs, t.style(style), text)
		}
		text = ""
	}
	for x := range t.Width {
		look, more := export.LookAt(t.p.terminal, x, y, export.Dark())
		next := tapeStyle{look.Ink, look.Background, ""}
		if look.Bold {
			next[2] += "b"
		}
		if look.Underline {
			next[2] += "u"
		}
		blank := more == " " && !next.showsBlanks() && !style.showsBlanks() // looks the same in every colour
		if more != "" && next != style && !blank {
			end()
			style = next
		}
		text += more
	}
	if !style.showsBlanks() {
		text = strings.TrimRight(text, " ")
	}
	end()
	return runs
}

// style returns the index of a style, and adds a new one.
func (t *tape) style(s tapeStyle) int {
	n, ok := t.styles[s]
	if !ok {
		n = len(t.Styles)
		t.styles[s], t.Styles = n, append(t.Styles, s)
	}
	return n
}

// text returns the tape as JSON, with one row or frame per line.
func (t *tape) text() string {
	lines := func(values ...any) string {
		var all []string
		for _, v := range values {
			text, err := json.Marshal(v)
			if err != nil {
				t.p.t.Fatal(err)
			}
			all = append(all, string(text))
		}
		return strings.Join(all, ",\n")
	}
	var rows, frames []any
	for _, row := range t.Rows {
		rows = append(rows, row)
	}
	for _, frame := range t.Frames {
		frames = append(frames, frame)
	}
	return fmt.Sprintf("{\"width\":%d,\"height\":%d,\"styles\":%s,\n\"rows\":[\n%s\n],\n\"frames\":[\n%s\n]}\n", t.Width, t.Height, lines(t.Styles), lines(rows...), lines(frames...))
}

// press presses the key of each action and adds a frame after each, the last one for that many
// seconds.
func (t *tape) press(caption string, seconds float64, ids ...keymap.ID) {
	for i, id := range ids {
		t.p.do(id)
		if i < len(ids)-1 {
			t.shoot(0.6, caption)
		}
	}
	t.shoot(seconds, caption)
}

// watch lets time pass and adds two frames per second.
func (t *tape) watch(seconds float64, caption string) {
	for range int(seconds * 2) {
		t.p.wait(500*time.Millisecond - drawn)
		t.shoot(0.5, caption)
	}
}

// sessions are the tapes. Each has the name of the capture that it replaces on the site.
var sessions = []struct {
	name string
	act  func(t *tape)
}{
	{"board", func(t *tape) {
		t.watch(3, "A recording of a real cluster plays: every pod in its tier, with its countdown.")
		t.press("Time stops.", 2, keymap.Play)
		t.press("On to the next move; the log says what it was.", 1.5, keymap.StepForward, keymap.StepForward, keymap.StepForward)
		t.press("To backoffQ, and down: when is this one tried again, and who rejected it?", 2, keymap.FocusBackoff, keymap.RowDown, keymap.RowDown)
		t.press("The unschedulable pods wait for an event that could help.", 2.5, keymap.FocusUnsched)
		t.press("How many wait for what.", 3, keymap.CountGroups)
	}},
	{"detail", func(t *tape) {
		t.press("Stop, and choose an unschedulable pod.", 1.5, keymap.Play, keymap.FocusUnsched, keymap.RowDown)
		t.press("Why? Who rejected it, since when, and the arithmetic of when it is tried again.", 5, keymap.Open)
		t.press("Further down: which events may wake it.", 4, keymap.PageDown)
		t.press("Back, and on to the nodes: where it would fit, and what it lacks on the nearest.", 4, keymap.Back, keymap.Needs)
	}},
	{"timeline", func(t *tape) {
		t.press("Stop, and choose the pod of backoffQ that comes last.", 1.5, keymap.Play, keymap.FocusBackoff, keymap.LastRow)
		t.press("Its whole life, drawn to scale. Every bar is a tier that it was in.", 4, keymap.Timeline)
		t.press("An earlier move, and why it was made.", 2.5, keymap.RowUp, keymap.RowUp, keymap.RowUp)
		t.press("Closer.", 2.5, keymap.ChartCloser, keymap.ChartCloser)
		t.press("Back, and the lanes of all pods.", 3, keymap.Back, keymap.Back, keymap.Lanes)
		t.press("They go on while time passes.", 0.5, keymap.Play)
		t.watch(2, "They go on while time passes.")
	}},
	{"what-if", func(t *tape) {
		t.press("Out of the recording: from here on, you are the scheduler.", 2.5, keymap.Play, keymap.WhatIf)
		t.press("Inject a cluster event. Each line says whom it would wake.", 3, keymap.InjectEvent)
		t.p.enter("NodeAdd")
		t.p.pressed = []string{"NodeAdd", "enter"}
		t.shoot(3.5, "A node is added: these pods' plugins registered for it.")
		t.press("Pop the next pod.", 1.5, keymap.Pop)
		t.press("It fits.", 2, keymap.Fits)
		t.press("Take back what was done last.", 2, keymap.Undo)
		t.press("The what-if beside the recording.", 3.5, keymap.Compare)
		t.press("Back to the recording, as if nothing had been.", 2.5, keymap.Back, keymap.WhatIf)
	}},
}

// taught records the session of a lesson.
func taught(t *tape) {
	t.shoot(5, "The first lesson: the board above is the same as always.")
	t.press("On. The lesson stops before something happens, and asks.", 4, keymap.LessonNext)
	t.p.press("2")
	t.shoot(1, "backoffQ, for a queue should begin with a wait.")
	t.p.press("enter")
	t.p.come()
	t.shoot(6, "A wrong answer names what is behind it.")
	t.press("On, to a pod that does not fit.", 4, keymap.LessonNext)
	t.p.press("3")
	t.shoot(1, "Unschedulable.")
	t.p.press("enter")
	t.p.come()
	t.shoot(5, "Right: a plugin rejected it, and it waits for an event.")
	t.press("All about the pod, as on the board.", 4, keymap.LessonWhy)
}

// recordSessions writes the sessions next to the captures.
func recordSessions(t *testing.T, rec *sources.Recording, plugins *cycle.Plugins) {
	t.Helper()
	for _, s := range sessions {
		synctest.Test(t, func(t *testing.T) {
			tape := record(sit(t, 80, 24, session.New(rec, timeline.Options{StartOffset: 90 * time.Second, Plugins: plugins}), Options{}))
			s.act(tape)
			write(t, s.name+".json", tape.text())
		})
	}
	lesson := prepare(t, "three-places")
	synctest.Test(t, func(t *testing.T) {
		p := lesson.learn(t, &kept{})
		tape := record(p)
		taught(tape)
		write(t, "lesson.json", tape.text())
		write(t, "lesson.svg", p.svg(export.Dark()))
	})
}

// TestTape: playing a tape frame by frame yields the screens that were recorded, and each frame has
// the pressed keys.
func TestTape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment)
		film, seen := record(p), []string{}
		look := func() { film.shoot(1, "looking"); seen = append(seen, p.screen()) }
		look()
		p.do(keymap.FocusBackoff, keymap.RowDown)
		look()
		p.do(keymap.Lanes)
		look()
		var got reel
		if err := json.Unmarshal([]byte(film.text()), &got); err != nil {
			t.Fatal(err)
		}
		if keys := got.Frames[1].Key; keys != "2 j" {
			t.Errorf("the keys are %q", keys)
		}
		rows := make([]int, got.Height)
		for i, frame := range got.Frames {
			if i > 0 && len(frame.Rows) == got.Height {
				t.Errorf("frame %d has every row again", i)
			}
			for _, row := range frame.Rows {
				rows[row[0]] = row[1]
			}
			var screen strings.Builder
			for _, n := range rows {
				screen.WriteString(strings.TrimRight(textOf(t, got.Rows[n]), " ") + "\n")
			}
			if screen.String() != seen[i] {
				t.Errorf("frame %d is\n%s, and the screen was\n%s", i, screen.String(), seen[i])
			}
		}
	})
}

// textOf returns the text of a row of a reel.
func textOf(t *testing.T, row json.RawMessage) string {
	t.Helper()
	var runs []any
	if err := json.Unmarshal(row, &runs); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := 1; i < len(runs); i += 2 {
		b.WriteString(runs[i].(string))
	}
	return b.String()
}
