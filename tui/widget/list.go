package widget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// List is a pop-up with items to choose from. Letters move in it until a search begins.
type List struct {
	ui    *page.UI
	Title string
	Items []Item
	// Typing is set if letters search. searched is set if that began while the list was open.
	Typing, searched bool
	query            string
	// shown are the indexes of the items that match the query, cursor is an index into shown, and top the first visible one.
	shown       []int
	cursor, top int
	height      int
	// NoteRows is the number of lines for an item's note. 0: two.
	NoteRows int
	// Marked are the indexes of the marked items. Nil: only one item can be chosen.
	Marked map[int]bool
	// Choose gets the indexes of the chosen items, at least one, after the list has closed.
	Choose func(chosen []int) tea.Cmd
	// OnFrame, if set, updates the items from a new frame. Closed, if set, is called when the list closes, before Choose.
	OnFrame func(l *List, f *session.Frame)
	Closed  func()
}

// Item is a line of a list.
type Item struct {
	// Key precedes the text in lists of keys. Note appears at the bottom while the cursor is on the item.
	Key, Text, Note string
	// Aside stands at the right, if it fits.
	Aside string
	// Keywords are searched but not shown.
	Keywords string
	// Disabled items cannot be chosen; the note says why.
	Disabled bool
	// Heading marks a heading. It is shown while an item below it is.
	Heading bool
}

// OpenList opens l with the cursor on an item. It always returns nil.
func OpenList(d *page.UI, l List, at int) tea.Cmd {
	l.ui = d
	l.search("")
	d.Overlays.Open(&l)
	l.Refresh()
	l.move(at)
	return nil
}

// AddLists adds the actions of an open list.
func AddLists(d *page.UI, all page.Actions) {
	in := func(do func(l *List)) page.Action { return page.Command(func() { do(d.Overlays.Top().(*List)) }) }
	all[keymap.ListDown] = in(func(l *List) { l.move(1) })
	all[keymap.ListUp] = in(func(l *List) { l.move(-1) })
	all[keymap.ListPageDown] = in(func(l *List) { l.move(max(1, l.height-1)) })
	all[keymap.ListPageUp] = in(func(l *List) { l.move(-max(1, l.height-1)) })
	all[keymap.ListFirst] = in(func(l *List) { l.move(-len(l.shown)) })
	all[keymap.ListLast] = in(func(l *List) { l.move(len(l.shown)) })
	all[keymap.ListSearch] = in(func(l *List) { l.Typing, l.searched = true, true })
	all[keymap.ListErase] = in((*List).erase)
	all[keymap.ListClear] = in(func(l *List) { l.search("") })
	all[keymap.ListMark] = in((*List).mark)
	all[keymap.ListClose] = in(func(l *List) {
		if l.searched {
			l.endSearch()
			return
		}
		l.close()
	})
	all[keymap.ListChoose] = page.Action{Do: func(string) tea.Cmd {
		l := d.Overlays.Top().(*List)
		chosen := l.chosen()
		if len(chosen) == 0 {
			return nil
		}
		l.close()
		return l.Choose(chosen)
	}}
}

func (l *List) Context() keymap.Context { return keymap.List }

// Means implements page.Overlay. A list with one choice has no marks, and letters are typed in a search.
func (l *List) Means(id keymap.ID, key string) bool {
	switch id {
	case keymap.ListMark:
		return l.Marked != nil
	case keymap.ListErase, keymap.ListClear:
		return l.Typing
	}
	return !l.Typing || utf8.RuneCountInString(key) != 1
}

// Refresh implements page.Overlay.
func (l *List) Refresh() {
	if l.OnFrame != nil {
		l.OnFrame(l, l.ui.Frame)
	}
}

func (l *List) close() {
	if l.Closed != nil {
		l.Closed()
	}
	l.ui.Overlays.Close(l)
}

// endSearch shows all items again, with the cursor on the same one.
func (l *List) endSearch() {
	at, any := l.current()
	l.Typing, l.searched = false, false
	l.search("")
	if any {
		l.cursor = slices.Index(l.shown, at)
	}
}

// Typed implements page.Overlay: it adds to the query of a search. Pasted text begins one.
func (l *List) Typed(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if l.Typing && msg.Text != "" {
			l.search(l.query + msg.Text)
		}
	case tea.PasteMsg:
		if !l.Typing {
			l.Typing, l.searched = true, true
		}
		l.search(l.query + msg.Content)
	}
	return nil
}

func (l *List) erase() {
	if runes := []rune(l.query); len(runes) > 0 {
		l.search(string(runes[:len(runes)-1]))
	}
}

func (l *List) mark() {
	if i, any := l.current(); any {
		l.Marked[i] = !l.Marked[i]
		l.move(1)
	}
}

func (l *List) Caret(int) (int, bool) { return 0, false }

// Click implements page.Overlay.
func (l *List) Click(x, y, w, h int) (keymap.ID, bool) {
	inside := l.inside(w, h)
	if !inside.Contains(x, y) {
		return "", false
	}
	n := l.top + y - inside.Y
	if n >= len(l.shown) || l.Items[l.shown[n]].Heading {
		return "", false
	}
	l.cursor = n
	if l.Marked != nil {
		return keymap.ListMark, true
	}
	return keymap.ListChoose, true
}

func (l *List) Wheel(rows int) { l.move(rows) }

// search shows the items that match query, best first; without a query all, below their headings. It leaves out headings without
// items.
func (l *List) search(query string) {
	l.query, l.shown, l.cursor, l.top = format.Safe(query), l.shown[:0], 0, 0
	searched := strings.ToLower(strings.TrimSpace(l.query))
	heading := -1
	for i, it := range l.Items {
		switch {
		case it.Heading:
			heading = i
		case it.matches(searched):
			if heading >= 0 && searched == "" {
				l.shown = append(l.shown, heading)
			}
			heading = -1
			l.shown = append(l.shown, i)
		}
	}
	if searched != "" {
		slices.SortStableFunc(l.shown, func(a, b int) int { return l.Items[a].rank(searched) - l.Items[b].rank(searched) })
	}
	l.move(0)
}

// matches reports whether the item contains each word of query, which is in lower case.
func (it Item) matches(query string) bool {
	text := strings.ToLower(it.Key + " " + it.Text + " " + it.Note + " " + it.Keywords)
	for word := range strings.FieldsSeq(query) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// rank returns how well a matching item fits query; 0, the best, is its name or key.
func (it Item) rank(query string) int {
	name := strings.ToLower(it.Text)
	switch {
	case name == query, it.Key == query:
		return 0
	case strings.HasPrefix(name, query):
		return 1
	case strings.Contains(" "+name, " "+query):
		return 2
	case strings.Contains(name, query):
		return 3
	}
	return 4 // in its note
}

// move moves the cursor by n items and skips headings.
func (l *List) move(n int) {
	last := len(l.shown) - 1
	l.cursor = max(min(l.cursor+n, last), 0)
	step := 1
	if n < 0 {
		step = -1
	}
	for l.cursor >= 0 && l.cursor <= last && l.Items[l.shown[l.cursor]].Heading {
		if l.cursor == 0 {
			step = 1
		}
		l.cursor += step
	}
}

// current returns the index of the item at the cursor.
func (l *List) current() (int, bool) {
	if len(l.shown) == 0 {
		return 0, false
	}
	return l.shown[l.cursor], true
}

// chosen returns the marked items, or the one at the cursor if none is marked.
func (l *List) chosen() []int {
	var chosen []int
	for i := range l.Items {
		if l.Marked[i] {
			chosen = append(chosen, i)
		}
	}
	if i, any := l.current(); any && len(chosen) == 0 {
		chosen = []int{i}
	}
	return chosen
}

// noteRows is the default of List.NoteRows.
const noteRows = 2

func (l *List) noteRows() int { return cmp.Or(l.NoteRows, noteRows) }

// frameRows returns how many lines of the box hold no items: the border, the search line and, if any item has a note, the notes.
func (l *List) frameRows() int {
	if slices.ContainsFunc(l.Items, func(it Item) bool { return it.Note != "" }) {
		return 3 + 1 + l.noteRows()
	}
	return 3
}

// Settle implements page.Overlay: it keeps the cursor visible.
func (l *List) Settle(room int) {
	l.height = min(room-l.frameRows(), len(l.Items))
	l.top = max(0, min(max(l.top, l.cursor-l.height+1), l.cursor, max(0, len(l.shown)-l.height)))
	if l.cursor == 1 {
		l.top = 0 // with the first heading
	}
}

// box returns where the list is drawn within w by h cells.
func (l *List) box(w, h int) canvas.Rect {
	width, height := min(w-4, 100), l.height+l.frameRows()
	return canvas.At((w-width)/2, (h-height)/2, width, height)
}

// inside returns where the items are drawn within w by h cells.
func (l *List) inside(w, h int) canvas.Rect {
	b := l.box(w, h)
	return canvas.At(b.X+2, b.Y+2, b.W-4, l.height)
}

// Draw implements page.Overlay: it draws a box in the middle of the screen.
func (l *List) Draw(a, _ canvas.Area) {
	r := l.box(a.W, a.H)
	w, h := r.W, r.H
	box := a.Sub(r.X, r.Y, w, h)
	box.Fill(theme.Plain, " ")
	frame(box)
	box.Text(2, 0, theme.Accent|canvas.Bold, " "+l.Title+" ")
	if l.Typing {
		x := box.Text(2, 1, theme.Dim, "search: ")
		x = box.Text(x, 1, theme.Plain, l.query)
		box.Text(x, 1, canvas.Reverse, " ")
	} else {
		box.Text(2, 1, theme.Dim, l.ui.Keys.Say("{list-down} {list-up} move, {list-search} searches"))
	}

	inside := box.Sub(2, 2, w-4, l.height)
	for y := range min(inside.H, len(l.shown)-l.top) {
		l.row(inside.Row(y), l.top+y)
	}
	switch {
	case len(l.shown) == 0:
		inside.Text(0, 0, theme.Dim, l.ui.Keys.Say("nothing matches: {list-erase} deletes the last letter"))
	case len(l.shown) > inside.H:
		box.Right(w-2, 1, theme.Dim, fmt.Sprintf("%d–%d of %d", l.top+1, min(l.top+inside.H, len(l.shown)), len(l.shown)))
	}
	if i, any := l.current(); any {
		for y, text := range canvas.Wrap(l.Items[i].Note, w-4) {
			if rows := l.noteRows(); y < rows {
				box.Text(2, h-1-rows+y, theme.Dim, text)
			}
		}
	}
}

// The widths of the first columns in a list with keys.
const (
	keyWidth  = 15
	nameWidth = 19
)

func (l *List) row(a canvas.Area, n int) {
	it := l.Items[l.shown[n]]
	if it.Heading {
		a.Text(0, 0, canvas.Bold, canvas.Truncate(it.Text, a.W))
		return
	}
	x := 2
	if l.Marked != nil {
		mark := "[ ] "
		if l.Marked[l.shown[n]] {
			mark = "[x] "
		}
		x = a.Text(x, 0, theme.Plain, mark)
	}
	if it.Key != "" {
		a.Text(x, 0, theme.Accent, canvas.Truncate(it.Key, keyWidth-1))
		x += keyWidth
	}
	end := a.Text(x, 0, theme.Plain, canvas.Truncate(it.Text, a.W-x))
	if x = max(x+nameWidth, end+2); it.Key != "" && a.W-x > 20 && !strings.HasPrefix(it.Note, it.Text) {
		a.Text(x, 0, theme.Dim, canvas.Truncate(it.Note, a.W-x))
	}
	if x = end + 2; it.Aside != "" && a.W-x > 0 {
		text := canvas.Truncate(it.Aside, a.W-x)
		a.Right(a.W, 0, theme.Accent, text)
	}
	if it.Disabled {
		a.Restyle(theme.Dim)
	}
	if n == l.cursor {
		a.Text(0, 0, canvas.Bold, theme.GlyphSelected)
		a.Restyle(theme.Chosen)
	}
}

// frame draws a border around a.
func frame(a canvas.Area) {
	a.Row(0).Fill(theme.Accent, "─")
	a.Row(a.H-1).Fill(theme.Accent, "─")
	a.Sub(0, 0, 1, a.H).Fill(theme.Accent, "│")
	a.Sub(a.W-1, 0, 1, a.H).Fill(theme.Accent, "│")
	a.Text(0, 0, theme.Accent, "╭")
	a.Text(a.W-1, 0, theme.Accent, "╮")
	a.Text(0, a.H-1, theme.Accent, "╰")
	a.Text(a.W-1, a.H-1, theme.Accent, "╯")
}
