package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue"
	queueboard "github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/page"
)

// lookedAt returns how the source is looked at now.
func (m *model) lookedAt() View {
	v := View{Filter: m.Frame.Filter, Pane: m.board.InFocus(), Layout: m.Pages.Shown().Layout()}
	for tier := queue.Active; tier <= queue.InFlight; tier++ {
		if s := m.Frame.Board.Sort(tier); s != (queueboard.Sort{}) {
			if v.Sorts == nil {
				v.Sorts = make(map[string]queueboard.Sort)
			}
			v.Sorts[tier.String()] = s
		}
	}
	for _, mark := range m.Frame.OwnMarks {
		v.Marks = append(v.Marks, Mark{At: mark.At, Text: string(mark.Text)})
	}
	_, panes := board.PaneTitles()
	for _, pane := range panes {
		if names := m.board.ColumnsOf(pane); names != nil {
			if v.Columns == nil {
				v.Columns = make(map[string][]string)
			}
			v.Columns[pane] = names
		}
	}
	return v
}

// remembered looks at the source as it was looked at last, if that is known and as far as it still makes sense.
// A filter that was asked for now stays.
func (m *model) remembered(v *View) {
	if v == nil {
		return
	}
	if f, err := filter.Parse(v.Filter); err == nil && m.Frame.Filter == "" && !f.Empty() {
		m.Session.SetFilter(f)
	}
	var marks []timeline.Mark
	for _, mark := range v.Marks {
		marks = append(marks, timeline.Mark{At: mark.At, Text: sources.Sanitize(mark.Text)})
	}
	if len(marks) > 0 {
		m.Session.AddMarks(marks)
	}
	for name, s := range v.Sorts {
		if tier, err := queue.ParseTier(name); err == nil && s.Known() {
			m.Session.SortBy(s, tier)
		}
	}
	for pane, names := range v.Columns {
		m.board.ShowColumns(pane, names)
	}
	m.board.FocusOn(v.Pane)
	m.Pages.Zoomed = v.Layout == board.Zoomed
	for _, c := range m.charts {
		if v.Layout != "" && v.Layout == c.Layout() {
			m.Pages.Open(c)
		}
	}
}

// recall returns how a source was looked at last, or nil.
func (o Options) recall(source string) *View {
	if o.Memory == nil || source == "" {
		return nil
	}
	if v, ok := o.Memory.Recall(source); ok {
		return &v
	}
	return nil
}

// keepView remembers how the source that is left was looked at.
func (m *model) keepView() tea.Cmd {
	source, v, memory := m.source, m.lookedAt(), m.options.Memory
	if memory == nil || source == "" {
		return nil
	}
	return page.Guarded(func() tea.Msg {
		if err := memory.Keep(source, v); err != nil {
			return page.Ready(func() tea.Cmd { return m.Refuse(err.Error()) })
		}
		return nil
	})
}

// leave remembers how the last source was looked at, once the screen is gone.
func (m *model) leave() error {
	if m.options.Memory == nil || m.source == "" {
		return nil
	}
	return m.options.Memory.Keep(m.source, m.lookedAt())
}
