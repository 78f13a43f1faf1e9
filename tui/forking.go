package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// addForking adds what is done with what-ifs as a whole.
func (m *model) addForking(all map[keymap.ID]action) {
	all[keymap.InjectEvent] = action{do: m.chooseInjection}
	all[keymap.Undo] = command(func() { m.session.Undo() }).unless(func() string {
		switch f := m.frame.Fork; {
		case f == nil:
			return "nothing was injected: this is the recording"
		case f.Undo == 0:
			return "nothing was injected in this what-if"
		}
		return ""
	})
	all[keymap.Redo] = command(func() { m.session.Redo() }).unless(func() string {
		if f := m.frame.Fork; f == nil || f.Redo == 0 {
			return "nothing was undone"
		}
		return ""
	})
	all[keymap.Branch] = command(func() { m.session.Branch() })
	noFork := func() string {
		if len(m.frame.Forks) == 0 {
			return "there is no what-if: w makes one"
		}
		return ""
	}
	inFork := func() string {
		if m.frame.Fork == nil {
			return "this is the recording: w makes a what-if of it"
		}
		return ""
	}
	all[keymap.Forks] = action{do: m.chooseFork}.unless(noFork)
	all[keymap.NameFork] = action{do: m.askForkName}.unless(inFork)
	all[keymap.CloseFork] = command(func() { m.session.CloseFork(m.frame.Fork.ID) }).unless(inFork)
	compare := action{do: m.compare}.unless(noFork)
	compare.name = func() string {
		if m.zoom == zoomCompare {
			return "close comparison"
		}
		return "compare"
	}
	all[keymap.Compare] = compare
}

// chooseInjection lists what can be injected, with what each would do, and injects the chosen one. Time stands
// still for so long, so that what is said holds.
func (m *model) chooseInjection() tea.Cmd {
	names := session.Injectables()
	m.session.Preview(names...)
	l := list{
		title:  "inject: what would move now",
		closed: func() { m.session.Preview() },
		choose: func(chosen []int) tea.Cmd {
			m.session.Inject(names[chosen[0]])
			return nil
		},
		refresh: func(l *list, f *session.Frame) {
			for i, p := range f.Previews {
				l.items[i].note = "It " + p.String() + "."
				l.items[i].aside = strings.TrimPrefix(p.String(), "would move ")
				l.items[i].off = p.Moved == 0
			}
		},
	}
	for _, name := range names {
		l.items = append(l.items, item{text: name, note: "…"})
	}
	m.openList(l)
	return nil
}

// chooseFork lists the recording and all what-ifs as a tree, and goes to the chosen one.
func (m *model) chooseFork() tea.Cmd {
	ids, items := m.forkItems(-1)
	l := list{title: "go to a what-if", items: items, choose: func(chosen []int) tea.Cmd {
		m.session.GoToFork(ids[chosen[0]])
		return nil
	}}
	m.openList(l)
	m.list.move(slices.Index(ids, m.line()))
	return nil
}

// forkItems returns an item for the recording and each what-if but the one with the ID without, and their IDs.
func (m *model) forkItems(without int) (ids []int, items []item) {
	depth := map[int]int{session.TheRecording: 0}
	add := func(id, depth int, text, note string, current bool) {
		if id == without {
			return
		}
		if current {
			text += " (here)"
		}
		ids = append(ids, id)
		items = append(items, item{text: strings.Repeat("  ", depth) + text, note: note})
	}
	add(session.TheRecording, 0, "the recording", "What was recorded, at the moment where it was left.", m.frame.Fork == nil)
	for _, f := range m.frame.Forks {
		depth[f.ID] = depth[f.Parent] + 1
		text := fmt.Sprintf("%s  from %s, now %s", safe(string(f.Name)), clockTime(f.From), clockTime(f.Now))
		note := "Nothing was injected in it."
		if len(f.Injected) > 0 {
			note = plural(len(f.Injected), "injection") + ": " + safe(strings.Join(f.Injected, ", "))
		}
		add(f.ID, depth[f.ID], text, note, f.Current)
	}
	return ids, items
}

// askForkName asks what the what-if is to be called.
func (m *model) askForkName() tea.Cmd {
	m.ask(prompt{
		title: "name",
		hint:  "what this what-if is called",
		accept: func(text string) string {
			m.session.NameFork(text)
			return ""
		},
	}, safe(string(m.frame.Fork.Name)))
	return nil
}

// compare asks which other timeline to show beside this one, unless there is but one, or ends that.
func (m *model) compare() tea.Cmd {
	if m.zoom == zoomCompare {
		m.zoom = zoomNone
		return nil
	}
	ids, items := m.forkItems(m.line())
	open := func(i int) {
		m.session.Compare(ids[i])
		m.zoom, m.under, m.offset = zoomCompare, zoomNone, 0
	}
	if len(ids) == 1 {
		open(0)
		return nil
	}
	m.openList(list{title: "compare with", items: items, choose: func(chosen []int) tea.Cmd {
		open(chosen[0])
		return nil
	}})
	return nil
}

// line is the ID of the timeline that is shown.
func (m *model) line() int {
	if f := m.frame.Fork; f != nil {
		return f.ID
	}
	return session.TheRecording
}
