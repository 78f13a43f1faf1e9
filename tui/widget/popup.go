package widget

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Words is the popup after a leader: the keys that may follow, and what they do.
type Words struct {
	ui     *page.UI
	leader keymap.Leader
	words  []keymap.Word
	// pressed is called with the word whose second key was pressed.
	pressed func(keymap.Word)
}

// OpenWords opens the popup of l.
func OpenWords(d *page.UI, l keymap.Leader, pressed func(keymap.Word)) {
	d.Overlays.Open(&Words{ui: d, leader: l, words: d.Keys.Words(l.Key), pressed: pressed})
}

// AddWords adds the action that closes the popup.
func AddWords(d *page.UI, all page.Actions) {
	all[keymap.PopupClose] = page.Command(func() { d.Overlays.Close(d.Overlays.Top()) })
}

func (p *Words) Context() keymap.Context       { return keymap.Popup }
func (p *Words) Means(keymap.ID, string) bool  { return true }
func (p *Words) Refresh()                      {}
func (p *Words) Settle(int)                    {}
func (p *Words) Wheel(int)                     {}
func (p *Words) Caret(int) (x int, shown bool) { return 0, false }
func (p *Words) sequence(w keymap.Word) string { return p.leader.Key + " " + w.Key }

// Typed implements page.Overlay: the second key closes the popup and performs its action.
func (p *Words) Typed(msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	p.ui.Overlays.Close(p)
	for _, w := range p.words {
		if w.Key == key.String() {
			p.pressed(w)
			return p.ui.Press(w.ID, p.sequence(w))
		}
	}
	return p.ui.Refuse(keymap.Display(p.leader.Key+" "+format.Safe(key.String())) + " is not a key")
}

// The widths in the popup.
const (
	wordKey    = 3
	wordColumn = 28
)

// place returns the popup's rectangle at the bottom of w by h cells, and its number of columns.
func (p *Words) place(w, h int) (box canvas.Rect, columns int) {
	columns = max(1, min((w-4)/wordColumn, (len(p.words)+5)/6))
	rows := (len(p.words) + columns - 1) / columns
	width, height := columns*wordColumn+4, rows+2
	return canvas.At(max(0, (w-width)/2), max(0, h-height), width, height), columns
}

// spot returns where the i-th word is drawn within the popup.
func (p *Words) spot(i, columns int) (x, y int) {
	rows := (len(p.words) + columns - 1) / columns
	return 2 + i/rows*wordColumn, 1 + i%rows
}

// Draw implements page.Overlay.
func (p *Words) Draw(a, _ canvas.Area) {
	r, columns := p.place(a.W, a.H)
	box := a.Sub(r.X, r.Y, r.W, r.H)
	box.Fill(theme.Plain, " ")
	frame(box)
	box.Text(2, 0, theme.Accent|canvas.Bold, " "+keymap.Display(p.leader.Key)+" "+p.leader.Name+" ")
	for i, w := range p.words {
		x, y := p.spot(i, columns)
		item := box.Sub(x, y, wordColumn-1, 1)
		item.Text(0, 0, theme.Accent|canvas.Bold, keymap.Display(w.Key))
		item.Text(wordKey, 0, theme.Plain, canvas.Truncate(p.ui.Named(w.Binding).Name, item.W-wordKey))
		if p.ui.Actions[w.ID].Refusal() != "" {
			item.Restyle(theme.Dim)
		}
	}
}

// Click implements page.Overlay: a click on a word is its second key.
func (p *Words) Click(x, y, w, h int) (keymap.ID, bool) {
	r, columns := p.place(w, h)
	for i, word := range p.words {
		at, row := p.spot(i, columns)
		if canvas.At(r.X+at, r.Y+row, wordColumn-1, 1).Contains(x, y) {
			p.ui.Overlays.Close(p)
			return word.ID, true
		}
	}
	return "", false
}
