package board

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

// Panes and columns are as wide as their visible content needs.

// fitted is a visible column with its position in the pane.
type fitted struct {
	*column
	x, w int
}

// beforeColumns is the width before a pane's columns: the selection mark, the provenance and a
// space.
const beforeColumns = 3

// wish is the width a pane asks for: least fits the most important columns, want all visible
// content.
type wish struct{ least, want int }

// inSight calls see with each pod visible in height rows.
func (p pane) inSight(height int, see func(i int, pod *board.Pod)) {
	for i := p.rows.top; i < min(p.rows.top+height, p.rows.len(p.frame.Board)); i++ {
		if pod := p.rows.at(p.frame.Board, i); pod != nil {
			see(i, pod)
		}
	}
}

// needs returns the width of each column for all pods visible in height rows.
func (p pane) needs(height int) []int {
	widths := make([]int, len(p.columns))
	for i, c := range p.columns {
		text, _ := p.headingOf(c)
		widths[i] = max(c.least, canvas.Width(text))
	}
	p.inSight(height, func(_ int, pod *board.Pod) {
		for i, c := range p.columns {
			if c.most > c.least { // columns of fixed width need no measuring
				widths[i] = max(widths[i], c.width(p, pod))
			}
		}
	})
	for i, c := range p.columns {
		text, _ := p.headingOf(c)
		widths[i] = max(c.least, min(widths[i], max(c.most, canvas.Width(text))))
	}
	return widths
}

// leastPane is the smallest width of a pane, emptyPane of one that explains why it is empty, and
// leastTitle the part of a title that counts.
const leastPane, emptyPane, leastTitle = 18, 26, 30

// wish returns the wish of the pane with height rows.
func (p pane) wish(height int) wish {
	w := wish{least: leastPane, want: leastPane}
	if p.rows.len(p.frame.Board) == 0 {
		w.want = emptyPane
	} else {
		w.least, w.want = beforeColumns, beforeColumns
		for i, need := range p.needs(height) {
			w.want += need + 1
			if slices.Index(p.important, p.columns[i].name) < leastColumns(p.id) {
				w.least += p.columns[i].least + 1
			}
		}
	}
	title := canvas.Width(p.heading(theme.TierName)) + 3 + canvas.Width(p.order()) + canvas.Width(p.extent(height))
	w.least = max(w.least, min(title, leastTitle))
	w.want = max(w.want, w.least, title)
	return w
}

// leastColumns returns the number of columns in the narrowest pane.
func leastColumns(id paneID) int {
	if id == activePane {
		return 2
	}
	return 3
}

// share divides w cells between panes: each gets its least, and the rest goes by wishes.
func share(w int, wishes []wish) []int {
	least, want := 0, 0
	for _, each := range wishes {
		least, want = least+each.least, want+each.want
	}
	widths := make([]int, len(wishes))
	left := w
	for i, each := range wishes {
		switch {
		case w >= want: // spare cells are shared in proportion
			widths[i] = each.want + (w-want)*each.want/max(want, 1)
		case w > least:
			widths[i] = each.least + (w-least)*(each.want-each.least)/max(want-least, 1)
		default:
			widths[i] = w * each.least / max(least, 1)
		}
		left -= widths[i]
	}
	widths[len(widths)-1] += left
	return widths
}

// held keeps a wish for a while after the content shrinks. Panes that change width with every move
// are hard to read.
type held struct {
	wish
	at time.Time
}

// holdTime is how long a wish is held, at playback speed 1.
const holdTime = 10 * time.Second

// hold returns the wish in effect, given that the visible content asks for w.
func (h *held) hold(w wish, f *session.Frame) wish {
	passed := f.Now.Sub(h.at)
	if !f.Playing || w.want >= h.want || passed < 0 || passed > time.Duration(float64(holdTime)*f.Speed) {
		*h = held{w, f.Now}
	}
	return h.wish
}

// readableName is the width up to which a pod's name has priority over other columns.
const readableName = 14

// fit places columns in a pane of w cells with height rows. It drops the least important ones until
// the rest fit, and gives spare cells to the columns that are cut most.
func (p pane) fit(w, height int) []fitted {
	needs := p.needs(height)
	room := w - beforeColumns
	shown := make([]int, 0, len(p.columns)) // column indexes
	least := 0
	for i, c := range p.columns {
		shown = append(shown, i)
		least += c.least + 1
	}
	weight := func(i int) int { return slices.Index(p.important, p.columns[i].name) }
	for least > room+1 && len(shown) > 1 {
		heaviest := slices.MaxFunc(shown, func(a, b int) int { return weight(a) - weight(b) })
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == heaviest })
		least -= p.columns[heaviest].least + 1
	}
	widths := make([]int, len(needs))
	for _, i := range shown {
		widths[i] = p.columns[i].least
	}
	p.distributeSpare(shown, widths, needs, room+1-least)
	if i := slices.IndexFunc(shown, func(i int) bool { return p.columns[i].takes != nil }); i >= 0 {
		back := p.reclaim(shown[i], widths, height)
		p.distributeSpare(slices.Delete(slices.Clone(shown), i, i+1), widths, needs, back)
	}
	p.lengthenBar(shown, widths, room)
	all := make([]fitted, 0, len(shown))
	x := beforeColumns
	for _, i := range shown {
		all = append(all, fitted{p.columns[i], x, min(widths[i], max(w-x, 0))})
		x += widths[i] + 1
	}
	return all
}

// distributeSpare gives spare cells to columns, one at a time to the one that is cut most.
func (p pane) distributeSpare(columns, widths, needs []int, spare int) {
	for ; spare > 0 && len(columns) > 0; spare-- {
		neediest := slices.MinFunc(columns, func(a, b int) int { return widths[a]*needs[b] - widths[b]*needs[a] })
		if i := columns[0]; p.columns[i].name == "pod" && widths[i] < min(needs[i], readableName) {
			neediest = i
		}
		if widths[neediest] >= needs[neediest] {
			return
		}
		widths[neediest]++
	}
}

// reclaim takes the cells that column i does not use for visible pods, and returns their number.
func (p pane) reclaim(i int, widths []int, height int) int {
	c := p.columns[i]
	heading, _ := p.headingOf(c)
	taken := max(c.least, canvas.Width(heading))
	p.inSight(height, func(_ int, pod *board.Pod) { taken = max(taken, c.takes(pod, widths[i])) })
	back := max(0, widths[i]-taken)
	widths[i] -= back
	return back
}

// lengthenBar gives the remaining cells to the bar beside the next try.
func (p pane) lengthenBar(shown, widths []int, room int) {
	left := room + 1
	for _, i := range shown {
		left -= widths[i] + 1
	}
	for _, i := range shown {
		if c := p.columns[i]; c.name == "next" && (left == 1 || left >= leastBar) {
			widths[i] = min(c.most, widths[i]+left)
		}
	}
}
