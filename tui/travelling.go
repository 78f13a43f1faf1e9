package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// addTravelling adds what goes to other moments than the next move.
func (m *model) addTravelling(all map[keymap.ID]action) {
	all[keymap.NextAttempt] = command(func() { m.session.Find(session.AnyAttempt(), true) }).unless(m.atTheEnd)
	all[keymap.LastAttempt] = command(func() { m.session.Find(session.AnyAttempt(), false) }).unless(m.atTheStart)
	all[keymap.SecondOn] = command(func() { m.session.StepTime(time.Second) }).unless(m.atTheEnd)
	all[keymap.SecondBack] = command(func() { m.session.StepTime(-time.Second) })
	selected := func(otherwise func() string) func() string {
		return func() string {
			if !m.selected.any {
				return nothingSelected
			}
			return otherwise()
		}
	}
	all[keymap.PodOn] = command(func() { m.session.Find(session.MovesOf(m.selected.key), true) }).unless(selected(m.atTheEnd))
	all[keymap.PodBack] = command(func() { m.session.Find(session.MovesOf(m.selected.key), false) }).unless(selected(m.atTheStart))
	all[keymap.Until] = action{do: func() tea.Cmd { return m.askUntil("until", true) }}.unless(m.atTheEnd)
	all[keymap.BackUntil] = action{do: func() tea.Cmd { return m.askUntil("back until", false) }}.unless(m.atTheStart)
	m.addMarks(all)
}

// atTheEnd is why one cannot go forward.
func (m *model) atTheEnd() string {
	if m.frame.AtEnd {
		return "nothing is left to play: , goes back, { to the start"
	}
	return ""
}

// atTheStart is why one cannot go back.
func (m *model) atTheStart() string {
	if m.frame.Log.Len() == 0 {
		return "this is the start: nothing has moved yet"
	}
	return ""
}

// askUntil asks for a condition and goes to where it is met. It offers the one that was asked for last.
func (m *model) askUntil(title string, forward bool) tea.Cmd {
	m.ask(prompt{
		title: title,
		hint:  "web-1 enters backoff   leaves gated   active > 100   event NodeAdd   mark   any filter",
		accept: func(text string) string {
			c, err := session.ParseCondition(text)
			if err != nil {
				return err.Error()
			}
			m.until = text
			m.session.Find(c, forward)
			return ""
		},
	}, m.until)
	return nil
}

func (m *model) addMarks(all map[keymap.ID]action) {
	none := func() string {
		if len(m.frame.Marks) == 0 {
			return `there is no mark: " sets one`
		}
		return ""
	}
	all[keymap.SetMark] = action{do: m.askMark}
	all[keymap.GoToMark] = action{do: m.chooseMark}.unless(none)
	all[keymap.NextMark] = command(func() { m.session.FindMark(true) }).unless(none)
	all[keymap.LastMark] = command(func() { m.session.FindMark(false) }).unless(none)
	stops := command(func() { m.session.ToggleStops() })
	stops.name = func() string {
		if m.frame.Stops {
			return "play past marks"
		}
		return "stop at marks"
	}
	all[keymap.StopAtMarks] = stops
}

// askMark asks for the name of the moment shown.
func (m *model) askMark() tea.Cmd {
	old := ""
	for _, mark := range m.frame.Marks {
		if mark.Own && mark.At.Equal(m.frame.Now) {
			old = string(mark.Text)
		}
	}
	m.ask(prompt{
		title: "mark " + clockTime(m.frame.Now),
		hint:  "a name for this moment; empty takes it away",
		accept: func(text string) string {
			m.session.SetMark(text)
			return ""
		},
	}, old)
	return nil
}

// chooseMark lists the marks and goes to the chosen one.
func (m *model) chooseMark() tea.Cmd {
	marks := m.frame.Marks
	l := list{title: "go to a mark", choose: func(chosen []int) tea.Cmd {
		m.session.Pause()
		m.session.Seek(marks[chosen[0]].At)
		return nil
	}}
	at := 0
	for i, mark := range marks {
		text := safe(string(mark.Text))
		if mark.Own {
			text += " (yours)"
		}
		if !mark.At.After(m.frame.Now) {
			at = i
		}
		l.items = append(l.items, item{key: clockTime(mark.At), text: text})
	}
	m.openList(l)
	m.list.move(at)
	return nil
}
