package whatif

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// addScheduling adds the user's scheduling decisions.
func (w whatIfs) addScheduling(all page.Actions) {
	all[keymap.Pop] = page.Command(func() {
		w.Popping = true
		w.Session.Pop()
	}).DisabledWhen(func() string {
		switch b := w.Frame.Board; {
		case w.Frame.Fork == nil:
			return w.onlyInWhatIf()
		case w.Frame.Fork.Scheduling:
			return w.schedulerDecides()
		case b.Total(queue.Active) > 0:
			return ""
		case !w.Frame.Options.PopFromBackoffQ:
			return "activeQ is empty and PopFromBackoffQ is off: the scheduler waits"
		case b.Total(queue.Backoff) == 0:
			return "activeQ and backoffQ are empty: the scheduler waits"
		}
		return ""
	})
	all[keymap.Fits] = page.Command(func() { w.Session.Fits(board.Target(w.Frame, w.Selected).Key) }).DisabledWhen(w.noneToJudge)
	all[keymap.Reject] = page.Do(w.choosePlugins).DisabledWhen(w.noneToJudge)
}

func (w whatIfs) schedulerDecides() string {
	return w.Keys.Say("the local scheduler makes the decisions: press {run-scheduler} to make them yourself")
}

func (w whatIfs) onlyInWhatIf() string {
	return w.Keys.Say("only in a what-if: press {what-if} to start one")
}

// noneToJudge says why there is nothing to decide.
func (w whatIfs) noneToJudge() string {
	switch {
	case w.Frame.Fork == nil:
		return w.onlyInWhatIf()
	case w.Frame.Fork.Scheduling:
		return w.schedulerDecides()
	case board.Target(w.Frame, w.Selected) == nil:
		return w.Keys.Say("no pod is in flight: {pop} pops one")
	}
	return ""
}

// choosePlugins lists the plugins; the chosen ones reject the pod in flight.
func (w whatIfs) choosePlugins() tea.Cmd {
	pod := board.Target(w.Frame, w.Selected).Key
	plugins := cluster.RejectorPlugins()
	const noPlugin = 0
	l := widget.List{Title: "which plugins reject " + format.Safe(pod.Name) + "?", Marked: make(map[int]bool), Choose: func(chosen []int) tea.Cmd {
		var names []string
		for _, i := range chosen {
			if i != noPlugin {
				names = append(names, plugins[i-1])
			}
		}
		if len(names) < len(chosen) && len(names) > 0 {
			return w.Refuse("choose either an error or plugins, not both")
		}
		w.Session.Reject(pod, names...)
		return nil
	}}
	l.Items = append(l.Items, widget.Item{Text: "error (no plugin)",
		Note: "The attempt fails with an error, as in a cluster without nodes: the pod backs off and is never popped early."})
	for _, name := range plugins {
		l.Items = append(l.Items, widget.Item{Text: name,
			Note: "The pod becomes unschedulable and waits for an event that " + name + " listens for."})
	}
	return widget.OpenList(w.UI, l, 1)
}
