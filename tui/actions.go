package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
)

// action is what a binding does.
type action struct {
	do func() tea.Cmd
	// cannot says why it cannot be done now, or is empty if it can. Nil: it always can.
	cannot func() string
	// name is what it is called at the moment, where that changes. Nil: as the binding says.
	name func() string
}

func (a action) refusal() string {
	if a.cannot == nil {
		return ""
	}
	return a.cannot()
}

// command is an action of the session.
func command(do func()) action {
	return action{do: func() tea.Cmd { do(); return nil }}
}

// unless gives a its reason for not being possible.
func (a action) unless(cannot func() string) action {
	a.cannot = cannot
	return a
}

// allActions returns what every binding of the board does.
func (m *model) allActions() map[keymap.ID]action {
	all := make(map[keymap.ID]action)
	m.addTime(all)
	m.addLooking(all)
	m.addInjecting(all)
	m.addScheduling(all)
	m.addAsking(all)
	m.addFinding(all)
	m.addFolding(all)
	m.addTravelling(all)
	m.addForking(all)
	m.addCharts(all)
	m.addComfort(all)
	m.addMouse(all)
	m.addCopying(all)
	all[keymap.Recordings] = action{do: m.chooseRecording, cannot: func() string {
		if len(m.options.Recordings) == 0 {
			return "there are no other recordings to choose from"
		}
		return ""
	}}
	all[keymap.Rerun] = action{do: m.chooseRelease}
	all[keymap.Palette] = action{do: m.showPalette}
	all[keymap.Help] = action{do: m.showHelp}
	all[keymap.Quit] = action{do: func() tea.Cmd { return tea.Quit }}
	all[keymap.Suspend] = action{do: func() tea.Cmd { return tea.Suspend }}
	return all
}

// speeds are the steps of faster and slower.
var speeds = [...]float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

func (m *model) addTime(all map[keymap.ID]action) {
	play := command(func() { m.session.TogglePlay() }).unless(m.atTheEnd)
	play.name = func() string {
		if m.frame.Playing {
			return "pause"
		}
		return "play"
	}
	all[keymap.Play] = play
	all[keymap.StepForward] = command(func() { m.session.Step(1) }).unless(m.atTheEnd)
	all[keymap.StepBack] = command(func() { m.session.Step(-1) }).unless(m.atTheStart)
	all[keymap.LeapForward] = command(func() { m.session.Step(10) }).unless(m.atTheEnd)
	all[keymap.LeapBack] = command(func() { m.session.Step(-10) }).unless(m.atTheStart)
	all[keymap.SeekStart] = command(func() { m.session.SeekStart() })
	all[keymap.SeekEnd] = command(func() { m.session.SeekEnd() })
	all[keymap.Squeeze] = command(func() { m.session.ToggleSqueeze() })
	all[keymap.Seek] = action{do: m.askTime}
	all[keymap.Faster] = command(func() { m.session.SetSpeed(m.nextSpeed(1)) }).unless(func() string {
		if m.frame.Speed >= session.MaxSpeed {
			return "it cannot play faster than this"
		}
		return ""
	})
	all[keymap.Slower] = command(func() { m.session.SetSpeed(m.nextSpeed(-1)) }).unless(func() string {
		if m.frame.Speed <= session.MinSpeed {
			return "it cannot play slower than this: , and . go move by move"
		}
		return ""
	})
}

// nextSpeed returns the step above or below the present speed.
func (m *model) nextSpeed(direction int) float64 {
	i, exact := slices.BinarySearch(speeds[:], m.frame.Speed)
	if direction > 0 && !exact {
		direction = 0
	}
	return speeds[min(max(i+direction, 0), len(speeds)-1)]
}

func (m *model) addInjecting(all map[keymap.ID]action) {
	whatIf := action{do: func() tea.Cmd {
		if m.frame.Fork != nil {
			m.session.LeaveFork()
		} else {
			m.session.Fork()
		}
		return nil
	}}
	whatIf.name = func() string {
		if m.frame.Fork != nil {
			return "leave what-if"
		}
		return "what-if"
	}
	all[keymap.WhatIf] = whatIf
	all[keymap.LeaveWhatIf] = command(func() { m.session.LeaveFork() }).unless(func() string {
		if m.frame.Fork == nil {
			return "this is the recording: w makes a what-if of it"
		}
		return ""
	})
	all[keymap.MoveAll] = command(func() { m.session.MoveAll() }).unless(m.noneToMove)
	all[keymap.AddPod] = action{do: m.askPod}
	all[keymap.Activate] = command(func() { m.session.Activate(m.selected.key) }).unless(m.notWaiting)
	all[keymap.DeletePod] = command(func() { m.session.DeletePod(m.selected.key) }).unless(m.notThere)
	all[keymap.OpenGate] = command(func() { m.session.OpenGate(m.selected.key) }).unless(m.notGated)
	all[keymap.FlushBackoff] = command(func() { m.session.FlushBackoff() }).unless(func() string {
		if m.frame.Board.Total(queue.Backoff) == 0 {
			return "backoffQ is empty"
		}
		return ""
	})
	all[keymap.FlushLeft] = command(func() { m.session.FlushLeftover() }).unless(m.noneUnschedulable)
}

func (m *model) addScheduling(all map[keymap.ID]action) {
	all[keymap.Pop] = command(func() {
		m.popping = true
		m.session.Pop()
	}).unless(func() string {
		switch b := m.frame.Board; {
		case m.frame.Fork == nil:
			return onlyInWhatIf
		case m.frame.Fork.Scheduling:
			return schedulerDecides
		case b.Total(queue.Active) > 0:
			return ""
		case !m.frame.Options.PopFromBackoffQ:
			return "activeQ is empty and PopFromBackoffQ is off: the scheduler would wait here"
		case b.Total(queue.Backoff) == 0:
			return "activeQ and backoffQ are empty: the scheduler would wait here"
		}
		return ""
	})
	all[keymap.Fits] = command(func() { m.session.Fits(flightTarget(m.frame, m.selected).Key) }).unless(m.noneToJudge)
	all[keymap.Reject] = action{do: m.choosePlugins}.unless(m.noneToJudge)
}

const schedulerDecides = "the local scheduler decides: s takes its place"

const onlyInWhatIf = "only in a what-if, where you are the scheduler: press w"

// noneToJudge is why no verdict can be given.
func (m *model) noneToJudge() string {
	switch {
	case m.frame.Fork == nil:
		return onlyInWhatIf
	case m.frame.Fork.Scheduling:
		return schedulerDecides
	case flightTarget(m.frame, m.selected) == nil:
		return "no pod is in flight: p pops one"
	}
	return ""
}

// noneToMove is why a move request would be of no use: pods in flight have it replayed.
func (m *model) noneToMove() string {
	if m.frame.Board.Total(queue.InFlight) > 0 {
		return ""
	}
	return m.noneUnschedulable()
}

func (m *model) noneUnschedulable() string {
	if m.frame.Board.Total(queue.Unschedulable)+m.frame.Board.Total(queue.Gated) == 0 {
		return "no pod is unschedulable or gated"
	}
	return ""
}

const nothingSelected = "no pod is selected: j and k select one"

// notThere is why nothing can be done to the selected pod.
func (m *model) notThere() string {
	p := m.selected.pod(m.frame)
	switch {
	case !m.selected.any:
		return nothingSelected
	case p == nil:
		return "the queue does not know " + m.selected.key.String() + " at this time"
	case p.Tier == queue.Scheduled:
		return m.selected.key.String() + " is scheduled: it has left the queue"
	case p.Tier == queue.Deleted:
		return m.selected.key.String() + " has left the queue"
	}
	return ""
}

// notWaiting is why the selected pod cannot be activated.
func (m *model) notWaiting() string {
	if why := m.notThere(); why != "" {
		return why
	}
	switch p := m.selected.pod(m.frame); p.Tier {
	case queue.Active:
		return m.selected.key.String() + " is in activeQ already"
	case queue.InFlight:
		return m.selected.key.String() + " is in flight: its attempt is under way"
	}
	return ""
}

// notGated is why the selected pod has no gate to open.
func (m *model) notGated() string {
	if why := m.notThere(); why != "" {
		return why
	}
	if m.selected.pod(m.frame).Tier != queue.Gated {
		return m.selected.key.String() + " is not gated"
	}
	return ""
}
