package tui

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/story"
)

// saying returns a recording with text in every field that can contain text.
func saying(text string) *sources.Recording {
	rec := &sources.Recording{Name: sources.Sanitize(text), Formats: []string{text}, Notices: []string{text}}
	at := zero
	add := func(fact sources.Fact) {
		at = at.Add(100 * time.Millisecond)
		rec.Events = append(rec.Events, sources.Event{Time: at, Fact: fact})
	}
	add(&sources.SchedulerStarted{Release: sources.Sanitize(text), Gates: map[string]bool{text: true}, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	for i, end := range []sources.Move{
		{To: sources.TierUnschedulable, Event: "ScheduleAttemptFailure", Plugins: []string{text}, Message: sources.Sanitize(text), Node: text},
		{To: sources.TierBackoff, Event: text}, {To: sources.TierActive, Event: text}, {To: sources.TierScheduled, Node: text},
		{To: sources.TierGated, Event: text, GatingPlugin: text, Message: sources.Sanitize(text)}, {To: sources.TierInFlight},
	} {
		key := types.NamespacedName{Namespace: text, Name: text + strings.Repeat("x", i)}
		add(&sources.ObjectChange{Verb: sources.Added, Object: &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, UID: types.UID(key.Name), Labels: map[string]string{text: text},
		}}})
		for _, move := range []sources.Move{{To: sources.TierActive, Event: text}, {To: sources.TierInFlight}, end} {
			move.Pod = key
			add(&move)
		}
	}
	add(&sources.Counts{Active: 1})
	add(&sources.Mark{Text: sources.Sanitize(text)})
	return rec
}

// fuzzed are the views that show outside text, and the keys that open them.
var fuzzed = [][]keymap.ID{
	{}, {keymap.Open}, {keymap.Zoom}, {keymap.Timeline}, {keymap.Timeline, keymap.RowUp}, {keymap.Lanes}, {keymap.Plots},
	{keymap.FocusLog, keymap.Zoom}, {keymap.CopyMore}, {keymap.Recordings}, {keymap.Help}, {keymap.Projector},
	{keymap.OpenGate}, {keymap.Activate}, {keymap.Palette}, {keymap.CountGroups}, {keymap.InjectEvent},
	{keymap.DeletePod}, {keymap.WhatIf, keymap.DeletePod, keymap.Compare}, {keymap.DeletePod, keymap.ListChoose, keymap.Branch, keymap.Forks},
	{keymap.WhatIf, keymap.Pop, keymap.Reject}, {keymap.GoToMark},
}

// FuzzScreen: whatever a recording contains, the screen, the window's title and the clipboard get
// only allowed characters, and every row has its width.
func FuzzScreen(f *testing.F) {
	for i, text := range hostile {
		for view := range fuzzed {
			f.Add(text, uint8(i+view), uint8(view))
		}
	}
	f.Fuzz(func(t *testing.T, text string, size, view uint8) {
		if len(text) > 5000 {
			t.Skip()
		}
		s := session.New(saying(text), timeline.Options{Paused: true})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Run(ctx)
		s.SeekEnd()
		s.Sync()
		options := Options{Recordings: []Recording{{Name: text, Title: text, Description: text}}}
		for _, pane := range []keymap.ID{keymap.FocusUnsched, keymap.FocusActive} {
			m := newModel(ctx, s, options)
			w, h := sizes[int(size)%len(sizes)][0], sizes[int(size)%len(sizes)][1]
			m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			keys := append([]keymap.ID{pane, keymap.RowDown}, fuzzed[int(view)%len(fuzzed)]...)
			for _, key := range keys {
				b, _ := m.Keys.ByID(key)
				for part := range strings.SplitSeq(b.Keys[0], " ") {
					m.Update(pressOf(part))
				}
				m.Update(frameMsg{s, s.Sync()}) // the session's response
			}
			if m.crash != nil {
				t.Fatalf("%v panics: %v\n%s", keys, m.crash.What, m.crash.Stack)
			}
			onlySafe(t, m.View().WindowTitle)
			rowsStand(t, m.View().Content, w, h)
			if m.Selected.Any {
				for _, c := range story.Copyable(m.UI) {
					onlySafe(t, strings.ReplaceAll(c.Text, "\n", ""))
				}
			}
		}
	})
}

// pressOf returns the message for a key.
func pressOf(key string) tea.KeyPressMsg {
	if k, named := keyCodes[key]; named {
		return tea.KeyPressMsg(k)
	}
	r, _ := utf8.DecodeRuneInString(key)
	return tea.KeyPressMsg{Code: r, Text: key}
}

// rowsStand fails the test unless content is as high as the screen, no row is wider, and apart from
// the screen's own styles it has no control sequences.
func rowsStand(t *testing.T, content string, w, h int) {
	t.Helper()
	rows := strings.Split(withoutStyles(content), "\n")
	if len(rows) != h {
		t.Fatalf("%d rows, want %d:\n%s", len(rows), h, content)
	}
	for _, row := range rows {
		onlySafe(t, row)
		if got := canvas.Width(row); got > w {
			t.Fatalf("a row is %d wide, want at most %d: %q", got, w, row)
		}
	}
	if bar := rows[len(rows)-1]; strings.TrimSpace(bar) == "" {
		t.Fatalf("the key bar is missing:\n%s", content)
	}
}

// withoutStyles removes the escape sequences that set styles, and no others.
func withoutStyles(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 || after[end] != 'm' {
			b.WriteString("\x1b[") // onlySafe reports it
			s = after
			continue
		}
		s = after[end+1:]
	}
}

func onlySafe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("invalid UTF-8: %q", s)
	}
	for _, r := range s {
		if !allowed(r) {
			t.Fatalf("%U is in the output: %q", r, s)
		}
	}
}
