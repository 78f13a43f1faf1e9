package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// list is a pop-up from which the person chooses. What is typed narrows it.
type list struct {
	title string
	items []item
	query string
	// shown are the items that match the query, by number; cursor is a number in it. top is the first
	// in sight.
	shown       []int
	cursor, top int
	height      int
	// marked are the items chosen so far, by number. It is nil where one item is all that can be chosen.
	marked map[int]bool
	// choose is told the numbers of the chosen items, at least one. The list is closed by then.
	choose func(chosen []int) tea.Cmd
	// refresh, if there is one, takes over what a newer frame says of the items, and closed is told when the
	// list closes, before choose.
	refresh func(l *list, f *session.Frame)
	closed  func()
}

// item is one line of a list.
type item struct {
	// key, if the list has keys, stands before the text; note is what the foot of the list says of it.
	key, text, note string
	// aside stands at the right, where there is room.
	aside string
	// other is searched, too, but not shown.
	other string
	// off is true if it cannot be done; the note says why.
	off bool
	// heading marks a line that cannot be chosen and that shows while any item below it does.
	heading bool
}

// openList shows l.
func (m *model) openList(l list) {
	l.search("")
	m.list = &l
	m.refreshList()
}

// refreshList takes over what the frame says of the items of the list that is open.
func (m *model) refreshList() {
	if m.list != nil && m.list.refresh != nil {
		m.list.refresh(m.list, m.frame)
	}
}

// closeList closes the list that is open.
func (m *model) closeList() {
	if l := m.list; l.closed != nil {
		l.closed()
	}
	m.list = nil
}

// search shows the items that contain every word of query.
func (l *list) search(query string) {
	l.query, l.shown, l.cursor, l.top = safe(query), l.shown[:0], 0, 0
	heading := -1
	for i, it := range l.items {
		switch {
		case it.heading:
			heading = i
		case it.matches(query):
			if heading >= 0 {
				l.shown = append(l.shown, heading)
				heading = -1
			}
			l.shown = append(l.shown, i)
		}
	}
	l.move(0)
}

func (it item) matches(query string) bool {
	text := strings.ToLower(it.key + " " + it.text + " " + it.note + " " + it.other)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// move moves the cursor by n items and off the headings.
func (l *list) move(n int) {
	last := len(l.shown) - 1
	l.cursor = max(min(l.cursor+n, last), 0)
	step := 1
	if n < 0 {
		step = -1
	}
	for l.cursor >= 0 && l.cursor <= last && l.items[l.shown[l.cursor]].heading {
		if l.cursor == 0 {
			step = 1
		}
		l.cursor += step
	}
}

// key moves, marks, chooses, closes or searches.
func (l *list) key(m *model, msg tea.KeyPressMsg) tea.Cmd {
	b, ok := m.keys.Lookup(keymap.List, msg.String())
	if !ok || b.ID == keymap.ListMark && l.marked == nil {
		if msg.Text != "" {
			l.search(l.query + msg.Text)
		}
		return nil
	}
	return l.do(m, b.ID)
}

// do does what a binding of lists means.
func (l *list) do(m *model, id keymap.ID) tea.Cmd {
	switch id {
	case keymap.ListDown:
		l.move(1)
	case keymap.ListUp:
		l.move(-1)
	case keymap.ListPageDown:
		l.move(max(1, l.height-1))
	case keymap.ListPageUp:
		l.move(-max(1, l.height-1))
	case keymap.ListErase:
		if runes := []rune(l.query); len(runes) > 0 {
			l.search(string(runes[:len(runes)-1]))
		}
	case keymap.ListMark:
		if i, any := l.current(); any {
			l.marked[i] = !l.marked[i]
			l.move(1)
		}
	case keymap.ListClose:
		m.closeList()
	case keymap.ListChoose:
		if chosen := l.chosen(); len(chosen) > 0 {
			m.closeList()
			return l.choose(chosen)
		}
	}
	return nil
}

// current returns the item at the cursor.
func (l *list) current() (int, bool) {
	if len(l.shown) == 0 {
		return 0, false
	}
	return l.shown[l.cursor], true
}

// chosen returns the marked items, or if none is, the one at the cursor.
func (l *list) chosen() []int {
	var chosen []int
	for i := range l.items {
		if l.marked[i] {
			chosen = append(chosen, i)
		}
	}
	if i, any := l.current(); any && len(chosen) == 0 {
		chosen = []int{i}
	}
	return chosen
}

// onBar returns the keys of l that the bar shows.
func (l *list) onBar(keys *keymap.Map) []keymap.Binding {
	return slices.DeleteFunc(keys.OnBar(keymap.List), func(b keymap.Binding) bool {
		return b.ID == keymap.ListMark && l.marked == nil
	})
}

// noteRows is how many lines at the foot tell about the item at the cursor.
const noteRows = 2

// frameRows is how many lines of the box hold no item: the border, the search and, if any item has a
// note, the foot.
func (l *list) frameRows() int {
	if slices.ContainsFunc(l.items, func(it item) bool { return it.note != "" }) {
		return 3 + 1 + noteRows
	}
	return 3
}

// settle makes l fit into room lines and keeps the cursor in sight.
func (l *list) settle(room int) {
	l.height = min(room-l.frameRows(), len(l.items))
	l.top = max(0, min(max(l.top, l.cursor-l.height+1), l.cursor, max(0, len(l.shown)-l.height)))
	if l.cursor == 1 {
		l.top = 0 // with the first heading
	}
}

// box is where in a room of w by h cells l is drawn.
func (l *list) box(w, h int) rect {
	width, height := min(w-4, 100), l.height+l.frameRows()
	return rect{(w - width) / 2, (h - height) / 2, width, height}
}

// inside is where on the screen the entries are, if l is drawn in the middle of room.
func (l *list) inside(room rect) rect {
	b := l.box(room.w, room.h)
	return rect{room.x + b.x + 2, room.y + b.y + 2, b.w - 4, l.height}
}

// Draw draws l as a box in the middle of a.
func (l *list) Draw(a canvas.Area) {
	r := l.box(a.W, a.H)
	w, h := r.w, r.h
	box := a.Sub(r.x, r.y, w, h)
	box.Fill(plain, " ")
	frame(box)
	box.Text(2, 0, accent|canvas.Bold, " "+l.title+" ")
	x := box.Text(2, 1, dim, "search: ")
	x = box.Text(x, 1, plain, l.query)
	box.Text(x, 1, canvas.Reverse, " ")

	inside := box.Sub(2, 2, w-4, l.height)
	for y := range min(inside.H, len(l.shown)-l.top) {
		l.row(inside.Row(y), l.top+y)
	}
	switch {
	case len(l.shown) == 0:
		inside.Text(0, 0, dim, "nothing matches: backspace erases")
	case len(l.shown) > inside.H:
		box.Right(w-2, 1, dim, fmt.Sprintf("%d–%d of %d", l.top+1, min(l.top+inside.H, len(l.shown)), len(l.shown)))
	}
	if i, any := l.current(); any {
		for y, text := range canvas.Wrap(l.items[i].note, w-4) {
			if y < noteRows {
				box.Text(2, h-1-noteRows+y, dim, text)
			}
		}
	}
}

// keyWidth and nameWidth are the widths of the first columns in a list with keys.
const (
	keyWidth  = 15
	nameWidth = 19
)

func (l *list) row(a canvas.Area, n int) {
	it := l.items[l.shown[n]]
	if it.heading {
		a.Text(0, 0, canvas.Bold, canvas.Truncate(it.text, a.W))
		return
	}
	x := 2
	if l.marked != nil {
		mark := "[ ] "
		if l.marked[l.shown[n]] {
			mark = "[x] "
		}
		x = a.Text(x, 0, plain, mark)
	}
	if it.key != "" {
		a.Text(x, 0, accent, canvas.Truncate(it.key, keyWidth-1))
		x += keyWidth
	}
	end := a.Text(x, 0, plain, canvas.Truncate(it.text, a.W-x))
	if x = max(x+nameWidth, end+2); it.key != "" && a.W-x > 20 {
		a.Text(x, 0, dim, canvas.Truncate(it.note, a.W-x))
	}
	if x = end + 2; it.aside != "" && a.W-x > 0 {
		text := canvas.Truncate(it.aside, a.W-x)
		a.Right(a.W, 0, accent, text)
	}
	if it.off {
		a.Restyle(dim)
	}
	if n == l.cursor {
		a.Text(0, 0, canvas.Bold, glyphSelected)
		a.Restyle(chosen)
	}
}

// frame draws a border around a.
func frame(a canvas.Area) {
	a.Row(0).Fill(accent, "─")
	a.Row(a.H-1).Fill(accent, "─")
	a.Sub(0, 0, 1, a.H).Fill(accent, "│")
	a.Sub(a.W-1, 0, 1, a.H).Fill(accent, "│")
	a.Text(0, 0, accent, "╭")
	a.Text(a.W-1, 0, accent, "╮")
	a.Text(0, a.H-1, accent, "╰")
	a.Text(a.W-1, a.H-1, accent, "╯")
}
