package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue"
	queueboard "github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/page"
)

// View is how a source is viewed.
type View struct {
	Filter string `json:"filter,omitempty"`
	// Sorts are the sort orders of tiers that differ from the queue's, by tier.
	Sorts map[string]queueboard.Sort `json:"sorts,omitempty"`
	// Columns are the columns that the user chose for panes, by their titles.
	Columns map[string][]string `json:"columns,omitempty"`
	// Pane is the focused pane. Layout is the page with the whole screen, or "".
	Pane   string `json:"pane,omitempty"`
	Layout string `json:"layout,omitempty"`
	// Marks are the user's marks in a recording.
	Marks []Mark `json:"marks,omitempty"`
}

// Mark is a named moment.
type Mark struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// NamedView is a user-defined view. Its sorts are by pane titles.
type NamedView struct {
	Name string
	View View
}

// Memory remembers how sources are viewed. Its methods are called outside of Update.
type Memory interface {
	// Recall returns the last view of a source.
	Recall(source string) (View, bool)
	// Keep saves the view of a source.
	Keep(source string, v View) error
}

// currentView returns how the source is viewed.
func (m *model) currentView() View {
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

// restoreView restores a remembered view, as far as it still makes sense. A filter from the command line stays.
func (m *model) restoreView(v *View) {
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

// recall returns the remembered view of a source, or nil.
func (o Options) recall(source string) *View {
	if o.Memory == nil || source == "" {
		return nil
	}
	if v, ok := o.Memory.Recall(source); ok {
		return &v
	}
	return nil
}

// saveView remembers how the source that is left was viewed.
func (m *model) saveView() tea.Cmd {
	source, v, memory := m.source, m.currentView(), m.options.Memory
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

// leave remembers how the last source was viewed, after the screen is closed.
func (m *model) leave() error {
	if m.options.Memory == nil || m.source == "" {
		return nil
	}
	return m.options.Memory.Keep(m.source, m.currentView())
}
