package tui

import (
	"context"

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
		return m.open(r)
	}}
	for _, r := range recordings {
		l.Items = append(l.Items, widget.Item{Key: r.Name, Text: r.Title, Note: r.Description})
	}
	return widget.OpenList(m.Desk, l, 0)
}

// open opens a recording, and shows it unless the person does something else by then.
func (m *model) open(r Recording) tea.Cmd {
	return m.Begin(m.ctx, "opening "+r.Name, func(ctx context.Context, _ *page.Work) func(late bool) tea.Cmd {
		s, err := r.Open(ctx)
		o := opening{r.Name, s, r.Source, m.options.recall(r.Source), err}
		return func(late bool) tea.Cmd {
			if late && err == nil {
				return m.Note(page.Notice{Text: r.Name + " is open", Open: func() tea.Cmd { return m.opened(o) }})
			}
			return m.opened(o)
		}
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
