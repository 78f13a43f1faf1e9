package board

import (
	"strconv"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
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
}

// flightRows is how many pods of a strip of width w are taken to be in sight.
func flightRows(w int) int { return max(1, w/40) }

// Draw draws as many pods as there is room for, from the oldest in sight on.
func (s flight) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	b := s.frame.Board
	n := s.rows.len(b)
	x := rule(a, flightPane, s.focused, numbered(flightPane, " "+format.Number(b.Total(queue.InFlight))))
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
	target := Target(s.frame, s.selected)
	for i := s.rows.top; i < n && x < a.W-20; i++ {
		pod := s.rows.at(b, i)
		if pod == nil {
			break
		}
		x = s.pod(a.Sub(x, 0, a.W-x, 1), pod, pod == target) + x
	}
}

func (s flight) pod(a canvas.Area, pod *session.Pod, target bool) int {
	marker, name := " ", theme.Plain
	if target && (s.frame.Fork != nil || s.selected.Is(pod)) {
		marker = theme.GlyphSelected
	}
	if s.selected.Row(s.frame, pod) {
		name |= canvas.Bold
		if s.focused {
			name |= canvas.Reverse
		}
	}
	x := a.Text(1, 0, canvas.Bold, marker)
	x = a.Text(x, 0, theme.InFlight, story.PodProvenance(pod)+" ")
	room := max(12, min(40, a.W-28))
	x = a.Text(x, 0, name, story.RowName(s.frame.Board, pod, room))
	x = a.Text(x, 0, theme.Plain, " attempt "+strconv.Itoa(pod.Attempts))
	return a.Text(x, 0, theme.Dim, " "+format.Countdown(s.frame.Now.Sub(pod.Since))+" ")
}

// Target is the pod in flight that a verdict is about: the selected one if it is in flight, and
// otherwise the one that was popped last. It is nil if none is.
func Target(f *session.Frame, selected page.Selection) *session.Pod {
	if p := selected.Pod(f); p != nil && p.Tier == queue.InFlight {
		return p
	}
	return LastPopped(f)
}

// LastPopped is the pod that was popped last of those in flight, whatever the filter, or nil.
func LastPopped(f *session.Frame) *session.Pod {
	all := f.Board.Unfiltered()
	return all.At(queue.InFlight, all.Len(queue.InFlight)-1)
}
