package travel

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// addMoments adds the actions that go further than the next move.
func (t timeActions) addMoments(all page.Actions) {
	all[keymap.NextAttempt] = page.Command(func() { t.Session.Find(board.AnyAttempt(), true) }).DisabledWhen(t.atTheEnd)
	all[keymap.LastAttempt] = page.Command(func() { t.Session.Find(board.AnyAttempt(), false) }).DisabledWhen(t.atTheStart)
	all[keymap.SecondOn] = page.Command(func() { t.Session.StepTime(time.Second) }).DisabledWhen(t.atTheEnd)
	all[keymap.SecondBack] = page.Command(func() { t.Session.StepTime(-time.Second) }).DisabledWhen(t.atTheFirst)
	selected := func(otherwise func() string) func() string {
		return func() string { return cmp.Or(t.NotSelected(), otherwise()) }
	}
	all[keymap.PodOn] = page.Command(func() { t.Session.Find(board.MovesOf(t.Selected.Key), true) }).DisabledWhen(selected(t.atTheEnd))
	all[keymap.PodBack] = page.Command(func() { t.Session.Find(board.MovesOf(t.Selected.Key), false) }).DisabledWhen(selected(t.atTheStart))
	all[keymap.Until] = page.Action{Do: func(string) tea.Cmd { return t.askUntil("until", true) }}.DisabledWhen(t.atTheEnd)
	all[keymap.BackUntil] = page.Action{Do: func(string) tea.Cmd { return t.askUntil("back until", false) }}.DisabledWhen(t.atTheStart)
}

// atTheEnd says why going forward is impossible.
func (t timeActions) atTheEnd() string {
	if t.Frame.AtEnd {
		return t.Keys.Say("this is the end: {step-back} goes back, {seek-start} to the start")
	}
	return ""
}

// atTheStart says why going back is impossible.
func (t timeActions) atTheStart() string {
	if t.Frame.Log.Len() == 0 {
		return "this is the start: nothing has moved yet"
	}
	return ""
}

// first returns the first moment that can be shown.
func (t timeActions) first() time.Time {
	if f := t.Frame.Fork; f != nil {
		return f.From
	}
	return t.Frame.Start
}

// atTheFirst says why no earlier moment can be shown.
func (t timeActions) atTheFirst() string {
	switch {
	case t.Frame.Now.After(t.first()):
		return ""
	case t.Frame.Fork != nil:
		return "the what-if starts here"
	}
	return "this is the start"
}

// askUntil asks for a condition and goes to where it is met.
func (t timeActions) askUntil(title string, forward bool) tea.Cmd {
	return widget.Ask(t.UI, widget.Prompt{
		Title:    title,
		History:  "until",
		Hint:     "web-1 enters backoff   leaves gated   active > 100   event NodeAdd   mark   any filter",
		Complete: func(text string) []string { return t.conditionWords(text) },
		Accept: func(text string) string {
			c, err := board.ParseCondition(text)
			if err != nil {
				return err.Error()
			}
			t.Until = c.String()
			t.Session.Find(c, forward)
			return ""
		},
	}, "")
}

// conditionWords returns completions for the last word of a condition.
func (t timeActions) conditionWords(text string) []string {
	words := strings.Fields(text)
	if len(words) > 0 && strings.HasSuffix(text, words[len(words)-1]) {
		words = words[:len(words)-1] // the last word is incomplete
	}
	if len(words) > 0 {
		switch words[len(words)-1] {
		case "event":
			return widget.Starting(text, queue.InjectableLabels())
		case "enters", "leaves":
			return widget.Starting(text, []string{"active", "backoff", "unschedulable", "gated", "in-flight", "bound", "deleted"})
		}
		return append(widget.Starting(text, []string{"enters", "leaves"}), widget.FilterWords(t.UI, text)...)
	}
	return append(widget.Starting(text, []string{"event", "mark"}), widget.FilterWords(t.UI, text)...)
}

func (t timeActions) addMarks(all page.Actions) {
	none := func() string {
		if len(t.Frame.Marks) == 0 {
			return t.Keys.Say("there are no marks: {set-mark} sets one")
		}
		return ""
	}
	all[keymap.SetMark] = page.Do(t.askMark)
	all[keymap.GoToMark] = page.Do(t.chooseMark).DisabledWhen(none)
	all[keymap.NextMark] = page.Command(func() { t.Session.FindMark(true) }).DisabledWhen(none)
	all[keymap.LastMark] = page.Command(func() { t.Session.FindMark(false) }).DisabledWhen(func() string {
		first, now := t.first(), t.Frame.Now
		if !slices.ContainsFunc(t.Frame.Marks, func(m timeline.Mark) bool { return !m.At.Before(first) && m.At.Before(now) }) {
			return cmp.Or(none(), "there is no earlier mark")
		}
		return ""
	})
	all[keymap.StopAtMarks] = page.Command(func() { t.Session.ToggleStops() }).NamedBy(func() string {
		if t.Frame.Stops {
			return "play past marks"
		}
		return "stop at marks"
	})
}

// askMark asks for the name of the current moment.
func (t timeActions) askMark() tea.Cmd {
	old := ""
	for _, mark := range t.Frame.Marks {
		if mark.Own && mark.At.Equal(t.Frame.Now) {
			old = string(mark.Text)
		}
	}
	return widget.Ask(t.UI, widget.Prompt{
		Title: "mark " + t.Frame.Zone.Precise(t.Frame.Now),
		Hint:  "a name for this moment; empty removes the mark",
		Accept: func(text string) string {
			t.Session.SetMark(text)
			return ""
		},
	}, old)
}

// chooseMark lists the marks and goes to the chosen one.
func (t timeActions) chooseMark() tea.Cmd {
	marks := t.Frame.Marks
	l := widget.List{Title: "go to a mark", Choose: func(chosen []int) tea.Cmd {
		t.Session.Pause()
		t.Session.Seek(marks[chosen[0]].At)
		return nil
	}}
	at := 0
	for i, mark := range marks {
		text := format.Safe(string(mark.Text))
		if mark.Own {
			text += " (yours)"
		}
		if !mark.At.After(t.Frame.Now) {
			at = i
		}
		l.Items = append(l.Items, widget.Item{Key: t.Frame.Zone.Precise(mark.At), Text: text})
	}
	return widget.OpenList(t.UI, l, at)
}
