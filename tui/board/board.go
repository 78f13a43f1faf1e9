package board

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// Board is the base page: the panes of the queue, the pods in flight, the log, and the explanation
// of the selected pod.
type Board struct {
	*page.UI
	Why *story.Why
	focusState
	panes      [4]rows
	columns    [3][]*column
	important  [3][]string // column names, most important first
	held       [3]held
	fitted     [3][]fitted
	ownColumns [3]bool // whether the user chose the columns
	log        logRows
	matching   matching
	parts      parts
	titles     [unschedulablePane + 1]canvas.Rect // of the tabs
}

// New returns the board of d. Call Reset before use. The board opens why.
func New(d *page.UI, why *story.Why) *Board {
	b := &Board{UI: d, Why: why}
	for id := range b.columns {
		b.setColumns(paneID(id), nil)
	}
	return b
}

// Reset prepares the board for another session.
func (b *Board) Reset() {
	b.panes = [4]rows{
		activePane:        {tiers: []queue.Tier{queue.Active}},
		backoffPane:       {tiers: []queue.Tier{queue.Backoff}},
		unschedulablePane: {tiers: []queue.Tier{queue.Unschedulable, queue.Gated}},
		flightPane:        {tiers: []queue.Tier{queue.InFlight}},
	}
	b.log, b.held = logRows{}, [3]held{}
	b.focusState = focusState{}
	b.Pages.Uncover()
}

func (b *Board) Context() keymap.Context { return keymap.Board }

// Zoomed is the name of the zoomed layout in stored views.
const Zoomed = "zoomed"

func (b *Board) Layout() string {
	if b.Pages.Zoomed {
		return Zoomed
	}
	return ""
}

// Settle implements page.Page.
func (b *Board) Settle(w, h int) {
	if h == 0 {
		b.SettleParts(parts{spacing: 1})
		return
	}
	b.followLongest()
	b.SettleParts(b.Arrange(w, h, b.outline(h)))
}

// SettleParts updates cursors and scroll positions.
func (b *Board) SettleParts(p parts) {
	pod := b.Pod()
	for i, r := range p.panes {
		b.panes[i].settle(b.Frame.Board, pod, paneRows(r.H, p.spacing))
	}
	b.panes[flightPane].settle(b.Frame.Board, pod, flightRows(p.flight.W))
	b.matching.refresh(b.Frame)
	b.matching.reach(b.Frame, b.matching.wanted(b.log, p.log.H))
	b.log.settle(b.moves(), max(1, p.log.H-1))
	b.divide(&p)
	b.parts = p
}

// Draw implements page.Page.
func (b *Board) Draw(a canvas.Area) {
	part := func(r canvas.Rect) canvas.Area { return a.Sub(r.X, r.Y, r.W, r.H) }
	p := b.parts
	largeCounts{b.Frame}.Draw(part(p.counts))
	b.drawTabs(part(p.tabTitles))
	for i, r := range p.panes {
		b.pane(paneID(i)).Draw(part(r))
	}
	longest{b.Frame}.Draw(part(p.longest))
	flight{b.Frame, b.Keys, &b.panes[flightPane], b.Selected, b.focused(flightPane), small(b.Width)}.Draw(part(p.flight))
	b.logPart().Draw(part(p.log))
	b.Why.DrawBeside(part(p.detail))
	b.drawFrames(a)
}

func (b *Board) logPart() logPart {
	return logPart{b.Keys, b.Frame, b.moves(), &b.log, b.Selected, b.focused(logPane)}
}

// moves returns the moves that the log shows.
func (b *Board) moves() moves {
	if b.Frame.Filter == "" {
		return moves{b.Frame.Log, nil}
	}
	return moves{b.Frame.Log, &b.matching}
}

func (b *Board) pane(id paneID) pane {
	return pane{
		id: id, keys: b.Keys, spacing: b.parts.spacing, frame: b.Frame, rows: &b.panes[id], selected: b.Selected, focused: b.focused(id),
		columns: b.columns[id], important: b.important[id], fitted: b.fitted[id],
	}
}

// drawTabs draws the titles of the three panes where only one is shown. If they fit, arrows between
// them show the way of a rejected pod.
func (b *Board) drawTabs(a canvas.Area) {
	b.titles = [unschedulablePane + 1]canvas.Rect{}
	if a.Empty() {
		return
	}
	way := " ← "
	width := 1 - canvas.Width(way)
	for id := activePane; id <= unschedulablePane; id++ {
		width += canvas.Width(way + b.pane(id).heading(tierSign))
	}
	brief := width > a.W
	if brief {
		way = "  "
	}
	x := 1
	for id := activePane; id <= unschedulablePane; id++ {
		if id > activePane {
			x = a.Text(x, 0, theme.Dim, way)
		}
		left := x
		style := theme.Dim
		if id == b.tab {
			style = canvas.Bold | canvas.Underline
		}
		text := b.pane(id).heading(tierSign)
		if brief {
			text = b.pane(id).briefHeading(a.W - x - 1)
		}
		x = a.Text(x, 0, style, text)
		if p := b.Pod(); p != nil && id != b.tab {
			if _, here := b.panes[id].index(b.Frame.Board, p); here {
				x = a.Text(x, 0, canvas.Bold, " "+theme.GlyphSelected)
			}
		}
		b.titles[id] = canvas.At(left, b.parts.tabTitles.Y, x-left, 1)
	}
}

// Move implements page.Page. It moves the cursor of the focused pane.
func (b *Board) Move(n int) {
	if b.focus == logPane {
		b.moveInLog(n)
		return
	}
	r := &b.panes[b.focus]
	b.selectRow(r, b.startOf(r, n)+n)
}

// startOf returns the row to count from. If no pod is selected in the pane, the first key selects
// the row at the cursor instead of skipping it.
func (b *Board) startOf(r *rows, n int) int {
	p := r.at(b.Frame.Board, r.cursor)
	if p == nil || b.Selected.Is(p) || n != 1 {
		return r.cursor
	}
	return r.cursor - 1
}

// selectRow selects the i-th pod of r, or the nearest.
func (b *Board) selectRow(r *rows, i int) {
	r.cursor = min(max(i, 0), max(r.len(b.Frame.Board)-1, 0))
	r.loose, b.chosen = false, true
	if p := r.at(b.Frame.Board, r.cursor); p != nil {
		b.Choose(p)
	}
}

// maxLogSteps limits how far one key moves in the log, where moves are counted one by one.
const maxLogSteps = 200

func (b *Board) moveInLog(n int) {
	log := b.moves()
	switch {
	case log.before(log.Len()) < 0:
		return
	case n > maxLogSteps:
		b.log = logRows{cursor: log.before(log.Len())}
	case n < -maxLogSteps:
		b.log = logRows{scrolled: true, cursor: max(log.after(-1), 0)}
	default:
		b.log.move(log, n)
	}
	b.Choose(log.At(b.log.cursor).Pod)
}

// Rows implements page.Page. It returns the number of rows in the focused pane.
func (b *Board) Rows() int {
	switch b.focus {
	case logPane:
		return max(1, b.parts.log.H-2)
	case flightPane:
		return flightRows(b.parts.flight.W)
	default:
		return max(1, paneRows(b.parts.panes[b.focus].H, b.parts.spacing)-1)
	}
}

// Enter implements page.Page. It explains the selected pod, or the one at the cursor if none is
// selected. In the log it goes to the moment of the selected move.
func (b *Board) Enter() tea.Cmd {
	if b.focus != logPane {
		if p := b.atCursor(); p != nil && !b.Selected.Any {
			b.Choose(p)
		}
		return b.OpenWhy()
	}
	t := b.Frame.Log.At(b.log.cursor)
	b.Choose(t.Pod)
	b.Session.Pause()
	b.Session.Seek(t.Time)
	b.log.scrolled = false
	return nil
}

// atCursor returns the pod at the cursor of the focused pane, or nil. The focused pane must not be
// the log.
func (b *Board) atCursor() *board.Pod {
	r := &b.panes[b.focus]
	return r.at(b.Frame.Board, r.cursor)
}

// OpenWhy explains the selected pod, whichever pane has the focus.
func (b *Board) OpenWhy() tea.Cmd {
	b.Why.Open()
	b.Session.DiagnoseIfQuick(b.Selected.Key)
	return nil
}

func (b *Board) EnterName() string {
	if b.focus == logPane {
		return "go there"
	}
	return "why?"
}

func (b *Board) CannotEnter() string {
	switch {
	case b.focus != logPane:
		if b.atCursor() != nil {
			return ""
		}
		return b.NotSelected()
	case b.moves().before(b.Frame.Log.Len()) < 0:
		return "no pod has moved yet, or none matches the filter"
	}
	return ""
}

// podAt returns the pane and row at a position on the board.
func (b *Board) podAt(x, y int) (paneID, int, bool) {
	for i, r := range b.parts.panes {
		if r.Contains(x, y) {
			row := y - r.Y - (r.H - paneRows(r.H, 1))
			nth := row / b.parts.spacing
			return paneID(i), b.panes[i].top + nth, row >= 0 && nth < paneRows(r.H, b.parts.spacing)
		}
	}
	return 0, 0, false
}

// onHeadings reports whether x, y is on the column headings of a pane.
func (b *Board) onHeadings(x, y int) bool {
	for _, r := range b.parts.panes {
		if r.Contains(x, y) && paneHeadings(r.H) > 0 {
			return y == r.Y+1
		}
	}
	return false
}

// Click implements page.Page. It focuses a pane and selects a row; a click on the selected row
// opens it.
func (b *Board) Click(x, y int) tea.Cmd {
	for id, r := range b.titles {
		if r.Contains(x, y) {
			b.setFocus(paneID(id))
			return nil
		}
	}
	switch id, row, onRow := b.podAt(x, y); {
	case onRow:
		return b.clickPod(id, row)
	case b.onHeadings(x, y):
		b.setFocus(id)
		b.sortByHeading(id, x-b.parts.panes[id].X)
	case b.parts.panes[id].Contains(x, y):
		b.setFocus(id)
	case b.parts.longest.Contains(x, y):
		if p := b.Frame.Board.LongestWaiting(); p != nil {
			b.Show(p.Key)
		}
	case b.parts.flight.Contains(x, y):
		b.setFocus(flightPane)
	case b.parts.log.Contains(x, y):
		return b.clickLog(y - b.parts.log.Y - 1)
	case b.parts.detail.Contains(x, y) && b.Selected.Any:
		return b.Do(keymap.Open)
	}
	return nil
}

// clickPod selects the pod of a row, or opens it if it is already selected.
func (b *Board) clickPod(id paneID, row int) tea.Cmd {
	was := b.Selected
	b.setFocus(id)
	if row >= b.panes[id].len(b.Frame.Board) {
		return nil
	}
	b.selectRow(&b.panes[id], row)
	if was == b.Selected {
		return b.Do(keymap.Open)
	}
	return nil
}

// clickLog selects the i-th visible move, or goes to its moment if it is already selected.
func (b *Board) clickLog(i int) tea.Cmd {
	focused, was := b.focus == logPane, b.log.cursor
	b.setFocus(logPane)
	lines := b.logPart().visible(b.parts.log.H - 1)
	if i < 0 || i >= len(lines) {
		return nil
	}
	b.log.cursor, b.log.bottom, b.log.scrolled = lines[i], lines[len(lines)-1], true
	b.Choose(b.Frame.Log.At(lines[i]).Pod)
	if focused && was == lines[i] {
		return b.Do(keymap.Open)
	}
	return nil
}

// Wheel implements page.Page. It scrolls the part below the mouse and keeps the selection.
func (b *Board) Wheel(t page.Turn) {
	if t.Sideways {
		return
	}
	if b.parts.log.Contains(t.X, t.Y) {
		b.log.move(b.moves(), t.Rows)
	} else if id, _, ok := b.podAt(t.X, t.Y); ok {
		b.panes[id].top, b.panes[id].loose = b.panes[id].top+t.Rows, true
	}
}
