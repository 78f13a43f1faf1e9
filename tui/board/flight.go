package board

import (
	"fmt"
	"strconv"

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
	ends     bool // whether it says at its end how many pods were bound, as the way of a pod elsewhere does
}

// flightRows is how many pods of a strip of width w are taken to be in sight.
func flightRows(w int) int { return max(1, w/40) }

// Draw draws as many pods as there is room for, from the oldest in sight on, and says how many more there are.
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
		text := " no attempt is under way: a pod is here from its popping until it is bound or rejected "
		if len(text) > a.W-x {
			text = " no attempt is under way "
		}
		if s.frame.Fork != nil && !s.frame.Fork.Scheduling {
			text = s.keys.Say(" {pop} pops the next pod, then you decide: {fits} it fits, {reject} reject ")
		}
		a.Text(x, 0, theme.Dim, text)
		return
	}
	s.pods(a.Sub(x, 0, a.W-x, 1), n)
}

// roomForOne is how many cells a pod in flight needs to be told apart, and roomForMore how many it takes beside it to say how many
// more there are.
const roomForOne, roomForMore = 20, 12

// end draws at the right of a what becomes of pods that fit, and returns the room that is left. Where behind x there would be no
// room for one of n pods, and for how many more there are, it draws nothing.
func (s flight) end(a canvas.Area, x, n int) canvas.Area {
	text := " → ✓ bound " + format.Number(s.frame.Board.Bound()) + " "
	left, needed := a.W-canvas.Width(text)-1, roomForOne
	if n > 1 {
		needed += roomForMore
	}
	if left-x < needed {
		return a
	}
	a.Text(left, 0, theme.Tier(queue.Scheduled), text)
	return a.Sub(0, 0, left, 1)
}

// flightForm is how a pod in flight is told: with a name of that many cells at the most, and with its attempt or without.
type flightForm struct {
	name    int
	attempt bool
}

// pods names the pods from the first in sight on: all of them if there is room, or with shorter names and without their
// attempts as many as there is room for, and how many more there are.
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

// fitting is how many of n pods, from the first in sight on, there is room for in w cells.
func (s flight) fitting(w, n int, form flightForm) int {
	fit, x := 0, 0
	for i := s.rows.top; i < n; i++ {
		pod := s.rows.at(s.frame.Board, i)
		if pod == nil {
			break
		}
		name, attempt, since := s.texts(pod, form)
		if x += beforeFlying + canvas.Width(name+attempt+since); x > w {
			break
		}
		fit++
	}
	return fit
}

// beforeFlying is the width of what stands before a pod's name: a blank, whether it is selected, where it comes from that
// it is here, and a blank.
const beforeFlying = 4

// texts are a pod's name and what stands behind it.
func (s flight) texts(pod *board.Pod, form flightForm) (name, attempt, since string) {
	if form.attempt {
		attempt = " attempt " + strconv.Itoa(pod.Attempts)
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
	x := a.Text(beforeFlying, 0, style, name)
	x = a.Text(x, 0, theme.Plain, attempt)
	return a.Text(x, 0, theme.Dim, since)
}

// Target is the pod in flight that a verdict is about: the selected one if it is in flight, and
// otherwise the one that was popped last. It is nil if none is.
func Target(f *session.Frame, selected page.Selection) *board.Pod {
	if p := selected.Pod(f); p != nil && p.Tier == queue.InFlight {
		return p
	}
	return LastPopped(f)
}

// LastPopped is the pod that was popped last of those in flight, whatever the filter, or nil.
func LastPopped(f *session.Frame) *board.Pod {
	all := f.Board.Unfiltered()
	return all.At(queue.InFlight, all.Len(queue.InFlight)-1)
}
