package board

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

// A pane is as wide as what it shows needs, and so is a column in it. Only what is in sight is looked at.

// fitted is a column that is shown, and where in the pane.
type fitted struct {
	*column
	x, w int
}

// beforeColumns is the width of what stands before a pane's columns: whether the pod is selected, where it comes from
// that it is here, and a blank.
const beforeColumns = 3

// wish is how wide a pane should be: least says the most important of each pod, want all of what is in sight.
type wish struct{ least, want int }

// inSight calls see with each pod that the pane shows in height rows.
func (p pane) inSight(height int, see func(i int, pod *board.Pod)) {
	for i := p.rows.top; i < min(p.rows.top+height, p.rows.len(p.frame.Board)); i++ {
		if pod := p.rows.at(p.frame.Board, i); pod != nil {
			see(i, pod)
		}
	}
}

// needs returns how wide each column would have to be to tell all of the pods in height rows.
func (p pane) needs(height int) []int {
	widths := make([]int, len(p.columns))
	for i, c := range p.columns {
		text, _ := p.headingOf(c)
		widths[i] = max(c.least, canvas.Width(text))
	}
	p.inSight(height, func(_ int, pod *board.Pod) {
		for i, c := range p.columns {
			if c.most > c.least { // what takes as much for any pod need not be asked
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

// leastPane is how wide a pane is at least, and leastTitle how much of a title is; emptyPane one without pods, which says what would come
// there.
const leastPane, emptyPane, leastTitle = 18, 26, 30

// wish is how wide the pane should be that shows height rows.
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

// leastColumns is how many columns the narrowest pane has.
func leastColumns(id paneID) int {
	if id == activePane {
		return 2
	}
	return 3
}

// share divides w cells between panes: each gets its least, and what is left goes to those that wish for more.
func share(w int, wishes []wish) []int {
	least, want := 0, 0
	for _, each := range wishes {
		least, want = least+each.least, want+each.want
	}
	widths := make([]int, len(wishes))
	left := w
	for i, each := range wishes {
		switch {
		case w >= want: // what nobody needs goes to who has most to show
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

// held is a wish that is kept for a while when what is in sight needs less: panes that breathe with every move are hard
// to read.
type held struct {
	wish
	at time.Time
}

// holds is for how long, at the speed of life.
const holds = 10 * time.Second

// hold returns the wish that holds now that w is what is in sight.
func (h *held) hold(w wish, f *session.Frame) wish {
	passed := f.Now.Sub(h.at)
	if !f.Playing || w.want >= h.want || passed < 0 || passed > time.Duration(float64(holds)*f.Speed) {
		*h = held{w, f.Now}
	}
	return h.wish
}

// readableName is up to how many cells a name comes before all else.
const readableName = 14

// fit places columns in a pane of w cells that shows height rows. What there is no room for is left out, the least
// important first; what is left over goes where most is cut.
func (p pane) fit(w, height int) []fitted {
	needs := p.needs(height)
	room := w - beforeColumns
	shown := make([]int, 0, len(p.columns)) // columns, by number
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
	p.enrich(shown, widths, needs, room+1-least)
	if i := slices.IndexFunc(shown, func(i int) bool { return p.columns[i].takes != nil }); i >= 0 {
		back := p.giveBack(shown[i], widths, height)
		p.enrich(slices.Delete(slices.Clone(shown), i, i+1), widths, needs, back)
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

// enrich gives spare cells to columns, one by one to where most is cut.
func (p pane) enrich(columns, widths, needs []int, spare int) {
	for ; spare > 0 && len(columns) > 0; spare-- {
		poorest := slices.MinFunc(columns, func(a, b int) int { return widths[a]*needs[b] - widths[b]*needs[a] })
		if i := columns[0]; p.columns[i].name == "pod" && widths[i] < min(needs[i], readableName) {
			poorest = i
		}
		if widths[poorest] >= needs[poorest] {
			return
		}
		widths[poorest]++
	}
}

// giveBack takes from column i the cells that nothing in sight of it takes, and returns how many those are.
func (p pane) giveBack(i int, widths []int, height int) int {
	c := p.columns[i]
	heading, _ := p.headingOf(c)
	taken := max(c.least, canvas.Width(heading))
	p.inSight(height, func(_ int, pod *board.Pod) { taken = max(taken, c.takes(pod, widths[i])) })
	back := max(0, widths[i]-taken)
	widths[i] -= back
	return back
}

// lengthenBar gives the bar beside the next try what the columns leave of room.
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
