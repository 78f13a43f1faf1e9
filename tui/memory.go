package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/filter"
)

// View is how a source was looked at.
type View struct {
	Filter string `json:"filter,omitempty"`
	// Sorts are the orders of tiers that are not sorted as the queue has them, by the tiers' names.
	Sorts map[string]session.Sort `json:"sorts,omitempty"`
	// Pane is the one in focus, Layout what had the whole screen, if anything had.
	Pane   string `json:"pane,omitempty"`
	Layout string `json:"layout,omitempty"`
}

// Memory keeps how sources were looked at. Its methods are called outside of the screen's own goroutine.
type Memory interface {
	// Recall returns how the source was looked at last.
	Recall(source string) (View, bool)
	// Keep remembers how it is looked at.
	Keep(source string, v View) error
}

// layoutNames are the layouts that are remembered. What is about one pod is not: the pod may be gone.
var layoutNames = map[zoom]string{zoomPane: "zoomed", zoomLanes: "lanes", zoomPlots: "plots"}

// lookedAt returns how the source is looked at now.
func (m *model) lookedAt() View {
	v := View{Filter: m.frame.Filter, Pane: paneTitles[m.focus], Layout: layoutNames[m.zoom]}
	for tier := queue.Active; tier <= queue.InFlight; tier++ {
		if s := m.frame.Board.Sort(tier); s != (session.Sort{}) {
			if v.Sorts == nil {
				v.Sorts = make(map[string]session.Sort)
			}
			v.Sorts[tier.String()] = s
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
	if f, err := filter.Parse(v.Filter); err == nil && m.frame.Filter == "" && !f.Empty() {
		m.session.SetFilter(f)
	}
	for name, s := range v.Sorts {
		if tier, err := queue.ParseTier(name); err == nil && s.Known() {
			m.session.SortBy(s, tier)
		}
	}
	for i, title := range paneTitles {
		if title == v.Pane {
			m.setFocus(paneID(i))
		}
	}
	for z, name := range layoutNames {
		if name == v.Layout {
			m.zoom = z
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

// keptMsg is what came of remembering a view.
type keptMsg struct{ err error }

// keepView remembers how the source that is left was looked at.
func (m *model) keepView() tea.Cmd {
	source, v, memory := m.source, m.lookedAt(), m.options.Memory
	if memory == nil || source == "" {
		return nil
	}
	return guarded(func() tea.Msg { return keptMsg{memory.Keep(source, v)} })
}

// leave remembers how the last source was looked at, once the screen is gone.
func (m *model) leave() error {
	if m.options.Memory == nil || m.source == "" {
		return nil
	}
	return m.options.Memory.Keep(m.source, m.lookedAt())
}
