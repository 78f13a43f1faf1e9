package whatif

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// addForking adds the actions that manage what-ifs.
func (w whatIfs) addForking(all page.Actions) {
	all[keymap.WhatIf] = page.Command(func() {
		if w.Frame.Fork != nil {
			w.Session.LeaveFork()
		} else {
			w.Session.Fork()
		}
	}).NamedBy(func() string {
		if w.Frame.Fork != nil {
			return "leave what-if"
		}
		return "what-if"
	})
	all[keymap.Undo] = page.Command(func() { w.Session.Undo() }).DisabledWhen(func() string {
		switch f := w.Frame.Fork; {
		case f == nil:
			return "nothing was injected: this is the recording"
		case f.Undo == 0:
			return "nothing was injected in this what-if"
		}
		return ""
	})
	all[keymap.Redo] = page.Command(func() { w.Session.Redo() }).DisabledWhen(func() string {
		if f := w.Frame.Fork; f == nil || f.Redo == 0 {
			return "nothing was undone"
		}
		return ""
	})
	all[keymap.Branch] = page.Command(func() { w.Session.Branch() })
	noFork := func() string {
		if len(w.Frame.Forks) == 0 {
			return w.Keys.Say("there is no what-if: {what-if} starts one")
		}
		return ""
	}
	all[keymap.Forks] = page.Do(w.chooseFork).DisabledWhen(noFork)
	all[keymap.NameFork] = page.Do(w.askForkName).DisabledWhen(w.inRecording)
	all[keymap.CloseFork] = page.Command(func() { w.Session.CloseFork(w.Frame.Fork.ID) }).DisabledWhen(w.inRecording)
	all[keymap.Compare] = page.Do(w.compare).DisabledWhen(noFork).NamedBy(func() string {
		if w.compares() {
			return "close comparison"
		}
		return "compare"
	})
}

// inRecording says why actions on a what-if are unavailable: the recording is shown.
func (w whatIfs) inRecording() string {
	if w.Frame.Fork == nil {
		return w.Keys.Say("this is the recording: {what-if} starts a what-if")
	}
	return ""
}

// chooseFork lists the recording and all what-ifs as a tree, and goes to the chosen one.
func (w whatIfs) chooseFork() tea.Cmd {
	ids, items := w.forkItems(-1)
	l := widget.List{Title: "go to a what-if", Items: items, Choose: func(chosen []int) tea.Cmd {
		w.Session.GoToFork(ids[chosen[0]])
		return nil
	}}
	return widget.OpenList(w.UI, l, slices.Index(ids, w.TimelineID()))
}

// forkItems returns an item for the recording and each what-if, except the one with the ID without,
// and their IDs.
func (w whatIfs) forkItems(without int) (ids []int, items []widget.Item) {
	depth := map[int]int{session.TheRecording: 0}
	add := func(id, depth int, text, note string, current bool) {
		if id == without {
			return
		}
		if current {
			text += " (here)"
		}
		ids = append(ids, id)
		items = append(items, widget.Item{Text: strings.Repeat("  ", depth) + text, Note: note})
	}
	add(session.TheRecording, 0, "the recording", "The recording, at the moment you left it.", w.Frame.Fork == nil)
	for _, f := range w.Frame.Forks {
		depth[f.ID] = depth[f.Parent] + 1
		text := fmt.Sprintf("%s  from %s, now %s", format.Safe(string(f.Name)), w.Frame.Zone.Precise(f.From), w.Frame.Zone.Precise(f.Now))
		note := "Nothing was injected in it."
		if len(f.Injected) > 0 {
			note = format.Plural(len(f.Injected), "injection") + ": " + format.Safe(strings.Join(f.Injected, ", "))
		}
		add(f.ID, depth[f.ID], text, note, f.Current)
	}
	return ids, items
}

// askForkName asks for a name for the what-if.
func (w whatIfs) askForkName() tea.Cmd {
	return widget.Ask(w.UI, widget.Prompt{
		Title: "name",
		Hint:  "a name for this what-if",
		Accept: func(text string) string {
			w.Session.NameFork(text)
			return ""
		},
	}, format.Safe(string(w.Frame.Fork.Name)))
}

// compares reports whether the comparison is on top.
func (w whatIfs) compares() bool { return w.Pages.Top() == page.Page(w.comparison) }

// compare opens the comparison with another timeline, asking which if there are several, or closes
// it.
func (w whatIfs) compare() tea.Cmd {
	if w.compares() {
		w.Pages.CloseTop()
		return nil
	}
	ids, items := w.forkItems(w.TimelineID())
	if len(ids) == 1 {
		w.comparison.open(ids[0])
		return nil
	}
	return widget.OpenList(w.UI, widget.List{Title: "compare with", Items: items, Choose: func(chosen []int) tea.Cmd {
		w.comparison.open(ids[chosen[0]])
		return nil
	}}, 0)
}
