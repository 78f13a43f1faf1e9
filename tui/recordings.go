package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/memory"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// opening is a recording that was opened, or why it could not be.
type opening struct {
	name    string
	session *session.Session
	source  string
	view    *memory.View // how it was looked at last, or nil
	err     error
}

// chooseRecording lists the recordings and opens the chosen one.
func (m *model) chooseRecording() tea.Cmd {
	recordings := m.options.Recordings
	l := widget.List{Title: "recordings", Choose: func(chosen []int) tea.Cmd {
		r := recordings[chosen[0]]
		return tea.Batch(open(m, r), m.Answer("opening "+r.Name+" …"))
	}}
	for _, r := range recordings {
		l.Items = append(l.Items, widget.Item{Key: r.Name, Text: r.Title, Note: r.Description})
	}
	return widget.OpenList(m.Desk, l, 0)
}

// open opens a recording.
func open(m *model, r Recording) tea.Cmd {
	return page.Guarded(func() tea.Msg {
		s, err := r.Open()
		o := opening{r.Name, s, r.Source, m.options.recall(r.Source), err}
		return page.Ready(func() tea.Cmd { return m.opened(o) })
	})
}

// opened shows the recording that was opened.
func (m *model) opened(o opening) tea.Cmd {
	if o.err != nil {
		return m.Refuse("open " + o.name + ": " + o.err.Error())
	}
	keep := m.keepView()
	started := m.show(o.session)
	m.source = o.source
	m.remembered(o.view)
	return tea.Batch(keep, started)
}
