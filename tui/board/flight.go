package board

import (
	"fmt"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// flight draws the pods in flight in one line.
type flight struct {
	frame    *session.Frame
	keys     *keymap.Map
	rows     *rows
	selected page.Selection
	focused  bool
	ends     bool // whether to show the number of bound pods at the end
}

// flightRows estimates how many pods fit in a strip of width w.
func flightRows(w int) int { return max(1, w/40) }

// Draw draws as many pods as fit, starting at the first visible one, and the number of the others.
func (s flight) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	b := s.frame.Board
	n := s.rows.len(b)
	x := rule(a, flightPane, s.focused, numbered(flightPane, " "+format.Number(b.Total(queue.InFlight))))
	if s.ends {
		a = s.end(a, x, n)
	}
	if n == 0 {
		text := " no attempt running (a pod is here from pop to bind or rejection) "
		if len(text) > a.W-x {
			text = " no attempt running "
		}
		if s.frame.Fork != nil && !s.frame.Fork.Scheduling {
			text = s.keys.Say(" {pop} pops the next pod, then you decide: {fits} it fits, {reject} reject ")
		}
		a.Text(x, 0, theme.Dim, text)
		return
	}
	s.pods(a.Sub(x, 0, a.W-x, 1), n)
}

// minPodWidth is the smallest useful width for a pod in flight. moreWidth is the width for the
// number of others.
const minPodWidth, moreWidth = 20, 12

// end draws the number of bound pods at the right of a, and returns the rest of a. It draws nothing
// if after x there would be no space for one of n pods and the number of the others.
func (s flight) end(a canvas.Area, x, n int) canvas.Area {
	text := " → ✓ bound " + format.Number(s.frame.Board.Bound()) + " "
	left, needed := a.W-canvas.Width(text)-1, minPodWidth
	if n > 1 {
		needed += moreWidth
	}
	if left-x < needed {
		return a
	}
	a.Text(left, 0, theme.Tier(queue.Scheduled), text)
	return a.Sub(0, 0, left, 1)
}

// flightForm is a form for pods in flight: the maximum name width, with or without the attempt.
type flightForm struct {
	name    int
	attempt bool
}

// pods draws the pods from the first visible one on. If not all fit, it shortens names, drops
// attempts and shows the number of the others.
func (s flight) pods(a canvas.Area, n int) {
	form := flightForm{max(12, min(40, a.W-28)), true}
	if s.fitting(a.W, n, form) < n {
		form = flightForm{14, false}
	}
	fit := s.fitting(a.W, n, form)
	others := func(n int) string { return fmt.Sprintf(" and %s more ", format.Number(n)) }
	behind := ""
	if s.rows.top+fit < n {
		if fit = s.fitting(a.W-len(others(n)), n, form); fit == 0 {
			fit = 1
		}
		behind = others(n - fit)
	}
	target := Target(s.frame, s.selected)
	x := 0
	for i := s.rows.top; i < s.rows.top+fit; i++ {
		if pod := s.rows.at(s.frame.Board, i); pod != nil {
			x += s.pod(a.Sub(x, 0, a.W-x, 1), pod, pod == target, form)
		}
	}
	a.Text(x, 0, theme.Dim, behind)
}

// fitting returns how many of n pods fit into w cells, from the first visible one on.
func (s flight) fitting(w, n int, form flightForm) int {
	fit, x := 0, 0
	for i := s.rows.top; i < n; i++ {
		pod := s.rows.at(s.frame.Board, i)
		if pod == nil {
			break
		}
		name, attempt, since := s.texts(pod, form)
		if x += flightPrefix + canvas.Width(name+attempt+since); x > w {
			break
		}
		fit++
	}
	return fit
}

// flightPrefix is the width before a pod's name: a space, the selection mark, the provenance and a
// space.
const flightPrefix = 4

// texts returns a pod's name and the texts after it.
func (s flight) texts(pod *board.Pod, form flightForm) (name, attempt, since string) {
	if form.attempt {
		attempt = " attempt " + pod.AttemptCount().String()
	}
	return story.RowName(s.frame.Board, pod, form.name), attempt, " " + format.Countdown(s.frame.Now.Sub(pod.Since)) + " "
}

func (s flight) pod(a canvas.Area, pod *board.Pod, target bool, form flightForm) int {
	marker, style := " ", theme.Plain
	if target && (s.frame.Fork != nil || s.selected.Is(pod)) {
		marker = theme.GlyphSelected
	}
	if s.selected.Row(s.frame, pod) {
		style |= canvas.Bold
		if s.focused {
			style |= canvas.Reverse
		}
	}
	name, attempt, since := s.texts(pod, form)
	a.Text(1, 0, canvas.Bold, marker)
	a.Text(2, 0, theme.InFlight, story.PodProvenance(pod)+" ")
	x := a.Text(flightPrefix, 0, style, name)
	x = a.Text(x, 0, theme.Plain, attempt)
	return a.Text(x, 0, theme.Dim, since)
}

// Target returns the pod in flight that a decision applies to: the selected one if it is in flight,
// or else the last one popped. It returns nil if no pod is in flight.
func Target(f *session.Frame, selected page.Selection) *board.Pod {
	if p := selected.Pod(f); p != nil && p.Tier == queue.InFlight {
		return p
	}
	return LastPopped(f)
}

// LastPopped returns the last popped pod in flight, regardless of the filter, or nil.
func LastPopped(f *session.Frame) *board.Pod {
	all := f.Board.Unfiltered()
	return all.At(queue.InFlight, all.Len(queue.InFlight)-1)
}
