package tui

import (
	"fmt"
	"strings"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// drawStatus draws the line above the key bar.
func (m *model) drawStatus(a canvas.Area) {
	s := status{frame: m.Frame, keys: m.Keys, notice: m.Notice(), behind: m.NoticesBehind(), work: m.CurrentWork(), unused: m.pressed.key == ""}
	if m.Pages.Top() == page.Page(m.board) {
		s.legend = m.board.Legend()
	}
	s.Draw(a)
	if m.Projector {
		m.drawPressed(a)
	}
}

// status is the line above the key bar.
type status struct {
	frame  *session.Frame
	keys   *keymap.Map
	notice page.Notice
	behind int        // notices that wait
	work   *page.Work // running, or nil
	unused bool       // no key was pressed yet
	legend []board.Abbreviation
}

// Draw draws the most important message.
func (s status) Draw(a canvas.Area) {
	f := s.frame
	switch {
	case s.notice.Text != "" && s.notice.Refused:
		s.drawNotice(a, theme.Alarm|canvas.Bold, format.Safe(s.notice.Full()))
	case s.notice.Text != "":
		s.drawNotice(a, theme.Accent, format.Safe(s.notice.Text))
	case s.work != nil:
		s.drawWork(a)
	case f.Searching != "":
		a.Text(1, 0, theme.Accent, canvas.Truncate("looking for "+string(f.Searching)+s.keys.Say(": {back} stops"), a.W-2))
	case !f.Skipped.Empty():
		a.Text(1, 0, theme.Dim, fmt.Sprintf("skipped %s of quiet (%s → %s), "+s.keys.Say("{squeeze} plays it"),
			f.Skipped.To.Sub(f.Skipped.From).Round(1e9), f.Zone.Second(f.Skipped.From), f.Zone.Second(f.Skipped.To)))
	case f.Mark != "" && !(s.unused && len(s.legend) > 0):
		text := "» " + f.Zone.Second(f.MarkAt) + " " + format.Safe(string(f.Mark))
		a.Text(1, 0, theme.Accent, canvas.Truncate(text, a.W-2))
	default:
		s.drawLegend(a)
	}
}

// drawNotice draws a notice, and the key for more.
func (s status) drawNotice(a canvas.Area, style canvas.Style, text string) {
	more := ""
	switch {
	case s.behind > 0:
		more = fmt.Sprintf(" (%d more: %s)", s.behind, s.keys.Say("{messages}"))
	case s.notice.Open != nil || canvas.Width(text) > a.W-2:
		more = s.keys.Say(" ({messages} for more)")
		if a.W < 80 {
			more = s.keys.Say(" ({messages})")
		}
	}
	x := a.Text(1, 0, style, canvas.Truncate(text, a.W-2-canvas.Width(more)))
	a.Text(x, 0, theme.Dim, more)
}

// drawWork draws the progress of the work, and the key that stops it.
func (s status) drawWork(a canvas.Area) {
	x := a.Text(1, 0, theme.Accent, canvas.Truncate(format.Safe(s.work.Name), a.W/2)+" ")
	if share := s.work.Share(); share > 0 {
		heavy, light := format.Bar(share, 10)
		x = a.Text(a.Text(x, 0, theme.Accent, heavy), 0, theme.Dim, light)
		x = a.Text(x, 0, theme.Plain, fmt.Sprintf(" %d%%", int(share*100)))
	}
	a.Text(x+1, 0, theme.Dim, format.Span(s.work.Since())+s.keys.Say(", {back} stops it"))
}

// drawLegend draws the meaning of the board's abbreviations, as far as it fits.
func (s status) drawLegend(a canvas.Area) {
	x := 1
	for _, each := range s.legend {
		if x+canvas.Width(each.Word)+2+len(each.Means) >= a.W {
			return
		}
		x = a.Text(x, 0, theme.Plain, each.Word+":")
		x = a.Text(x+1, 0, theme.Dim, each.Means) + 2
	}
}

// drawPressed draws the last key and its name at the right of the status line.
func (m *model) drawPressed(a canvas.Area) {
	if m.pressed.key == "" || m.pressed.binding.ID == "" {
		return
	}
	text := " " + keymap.Display(format.Safe(m.pressed.key)) + " "
	name := " " + strings.TrimSpace(m.pressed.binding.Name) + " "
	x := a.W - canvas.Width(text) - canvas.Width(name) - 1
	if x < 0 {
		return
	}
	a.Sub(x-1, 0, a.W-x+1, 1).Fill(theme.Plain, " ")
	a.Text(a.Text(x, 0, theme.Accent|canvas.Bold|canvas.Reverse, text), 0, canvas.Bold, name)
}
