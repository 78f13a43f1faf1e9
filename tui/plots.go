package tui

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
)

// plotsView is what happened to the queue as a whole, through time.
type plotsView struct {
	window
	// What is plotted, a value for each column. NaN: nothing is known.
	sizes, says   [queue.InFlight + 1][]float64
	attempts, age []float64
	arrivals      []arrivals // by how many there were
	measured      bool       // says holds something
	perSecond     int        // attempts in the last second
}

// arrivals are the pods that an event sent to activeQ, backoffQ or the unschedulable pods.
type arrivals struct {
	event string
	total int
	rates []float64
}

// plotsSpan is how much time the plots show unless the person chose another scale.
const plotsSpan = 2 * time.Minute

// plotNames and plotValues are the widths of what stands before and after a plot.
const (
	plotNames  = 22
	plotValues = 12
)

// plotColumns is in how many columns plots stand side by side.
func plotColumns(w int) int {
	if w >= 120 {
		return 2
	}
	return 1
}

// settle puts the window in its place and works out what is plotted.
func (v *plotsView) settle(f *session.Frame, w int) {
	cells := max(w/plotColumns(w)-plotNames-plotValues, 1)
	v.least = time.Second // seconds are counted
	v.window.settle(cells, f.Now, scaleFor(sinceStart(f, plotsSpan), cells, v.least))
	blank := func(values []float64) []float64 {
		values = slices.Grow(values[:0], cells)[:cells]
		for x := range values {
			values[x] = math.NaN()
		}
		return values
	}
	for tier := range v.sizes {
		v.sizes[tier], v.says[tier] = blank(v.sizes[tier]), blank(v.says[tier])
	}
	v.attempts, v.age = blank(v.attempts), blank(v.age)
	v.arrivals = v.arrivals[:0]
	v.count(f, blank)
	v.measure(f)
}

// count takes in the seconds in sight.
func (v *plotsView) count(f *session.Frame, blank func([]float64) []float64) {
	p, s := v.shown, f.Series
	perSecond := 1 / p.cell.Seconds()
	i := s.Since(p.from)
	var before *session.Tally
	if i > 0 {
		before = s.At(i - 1)
	}
	if v.perSecond = 0; s.Len() > 0 && f.Now.Sub(s.At(s.Len()-1).End) < time.Second {
		v.perSecond = int(s.At(s.Len() - 1).Attempts)
	}
	present := p.column(f.Now)
	for x := range min(p.cells, present+1) {
		end := p.at(x + 1)
		if end.After(f.Now) {
			end = f.Now
		}
		if before != nil {
			v.holds(x, before)
		}
		if before != nil || i < s.Len() && !s.At(i).End.After(end) {
			v.attempts[x] = 0
		}
		for ; i < s.Len() && !s.At(i).End.After(end); i++ {
			before = s.At(i)
			v.holds(x, before)
			v.attempts[x] += float64(before.Attempts) * perSecond
			for _, a := range before.Arrivals {
				rates := v.arrivalsOf(a.Event, int(a.Pods), blank)
				if math.IsNaN(rates[x]) {
					rates[x] = 0
				}
				rates[x] += float64(a.Pods) * perSecond
			}
		}
		if before != nil && !before.Oldest.IsZero() {
			v.age[x] = max(0, end.Sub(before.Oldest).Seconds())
		}
	}
	if present >= 0 && present < p.cells {
		for tier := queue.Active; tier <= queue.InFlight; tier++ {
			v.sizes[tier][present] = float64(f.Board.Total(tier))
		}
	}
	slices.SortStableFunc(v.arrivals, func(a, b arrivals) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.event, b.event))
	})
}

// holds takes in the sizes that the tiers had within column x: of several, the largest.
func (v *plotsView) holds(x int, t *session.Tally) {
	for tier := range v.sizes {
		if n := float64(t.Sizes[tier]); !(v.sizes[tier][x] > n) {
			v.sizes[tier][x] = n
		}
	}
}

func (v *plotsView) arrivalsOf(event string, pods int, blank func([]float64) []float64) []float64 {
	for i := range v.arrivals {
		if v.arrivals[i].event == event {
			v.arrivals[i].total += pods
			return v.arrivals[i].rates
		}
	}
	var spare []float64 // memory of a frame before
	if n := len(v.arrivals); n < cap(v.arrivals) {
		spare = v.arrivals[:n+1][n].rates
	}
	v.arrivals = append(v.arrivals, arrivals{event, pods, blank(spare)})
	return v.arrivals[len(v.arrivals)-1].rates
}

// measure takes in the scheduler's own counts.
func (v *plotsView) measure(f *session.Frame) {
	p, m := v.shown, f.Measured
	v.measured = m.Len() > 0
	i := max(m.Since(p.from)-1, 0)
	var says *sources.Counts
	for x := range min(p.cells, p.column(f.Now)+1) {
		for ; i < m.Len(); i++ {
			at, counts, _ := m.At(i)
			if !at.Before(p.at(x + 1)) {
				break
			}
			says = counts
		}
		if says != nil {
			v.says[queue.Active][x], v.says[queue.Backoff][x] = float64(says.Active), float64(says.Backoff)
			v.says[queue.Unschedulable][x], v.says[queue.Gated][x] = float64(says.Unschedulable), float64(says.Gated)
		}
	}
}

// plot is one series of values with its name.
type plot struct {
	name   string
	style  canvas.Style
	values []float64
	// top is what fills the height. peak is that, and now the newest value, in words.
	top       float64
	peak, now string
	rows      int
}

// plotsPane draws the plots.
type plotsPane struct {
	frame *session.Frame
	view  *plotsView
}

// Draw draws the plots below each other or in two columns, each below an axis of its own.
func (d plotsPane) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	d.view.title(a.Row(0), "plots", "")
	body := a.Sub(0, 1, a.W, a.H-1)
	if d.frame.Series.Len() == 0 {
		teach(body, "Nothing to plot yet: the tiers' sizes, the attempts and arrivals a second and the oldest pod's age are counted as time passes. space plays, } goes to the end.")
		return
	}
	tiers, rest := d.tiers(), d.rest()
	if plotColumns(a.W) == 2 {
		half := a.W / 2
		d.column(body.Sub(0, 0, half, body.H), tiers)
		d.column(body.Sub(half, 0, a.W-half, body.H), rest)
		return
	}
	d.column(body, append(tiers, rest...))
}

// tiers are the plots of the tiers' sizes, each with the scheduler's own count below it where there is one.
func (d plotsPane) tiers() []plot {
	var all []plot
	for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
		values, says := d.view.sizes[tier], d.view.says[tier]
		top := max(highest(values), highest(says))
		all = append(all, plot{name: tierName(tier), style: tierStyle(tier), values: values, top: top, peak: number(int(top)), now: number(d.frame.Board.Total(tier)), rows: 1})
		if d.view.measured && tier != queue.InFlight {
			all = append(all, plot{name: scheduler, style: dim, values: says, top: top, now: number(int(newest(says)))})
		}
	}
	return all
}

// scheduler is the name of the plots of the scheduler's own counts. They give way first.
const scheduler = "  scheduler says"

// rest are the plots of what happened.
func (d plotsPane) rest() []plot {
	v := d.view
	age := "none"
	if oldest := d.frame.Board.OldestArrival(); !oldest.IsZero() {
		age = countdown(d.frame.Now.Sub(oldest))
	}
	all := []plot{
		{name: "attempts", style: inFlight, values: v.attempts, top: highest(v.attempts), peak: figure(highest(v.attempts)) + " a second", now: number(v.perSecond) + " a second", rows: 1},
		{name: "oldest pod's age", style: alarm, values: v.age, top: highest(v.age), peak: countdown(time.Duration(highest(v.age) * float64(time.Second))), now: age, rows: 1},
	}
	for i, a := range v.arrivals {
		p := plot{name: safe(a.event), style: accent, values: a.rates, top: highest(a.rates), now: number(a.total) + " in all"}
		if i == 0 {
			p.rows = 1 // the others are shown where there is room
		}
		all = append(all, p)
	}
	return all
}

// column draws an axis and plots below each other, as tall as there is room.
func (d plotsPane) column(a canvas.Area, plots []plot) {
	d.view.shown.axis(a.Sub(plotNames, 0, d.view.shown.cells, 1), d.frame.Now)
	heights(plots, a.H-1)
	y := 1
	for _, p := range plots {
		if p.rows == 0 {
			continue
		}
		area := a.Sub(0, y, a.W, p.rows)
		y += p.rows
		area.Text(1, 0, p.style, canvas.Truncate(p.name, plotNames-2))
		if p.rows >= 3 {
			area.Text(1, 1, dim, "up to "+p.peak)
		}
		spark(area.Sub(plotNames, 0, d.view.shown.cells, p.rows), p)
		area.Text(plotNames+d.view.shown.cells+1, p.rows-1, canvas.Bold, canvas.Truncate(p.now, plotValues-2))
	}
}

// heights shares rows among plots. Those with a row of their own keep it; the others get one from the first
// on while there is room, and what is left then makes the former taller.
func heights(plots []plot, rows int) {
	first := 0
	for i := range plots {
		first += plots[i].rows
	}
	for i := range plots {
		if plots[i].rows == 0 && first < rows {
			plots[i].rows, first = 1, first+1
		}
	}
	const tallest = 7
	for grown := true; grown; {
		grown = false
		for i := range plots {
			if p := &plots[i]; p.name != scheduler && p.style != accent && p.rows > 0 && p.rows < tallest && first < rows {
				p.rows, first, grown = p.rows+1, first+1, true
			}
		}
	}
}

// spark draws values as bars, to an eighth of a cell. What is not 0 shows.
func spark(a canvas.Area, p plot) {
	for x, value := range p.values {
		switch {
		case math.IsNaN(value):
			continue
		case value <= 0 || p.top <= 0:
			a.Text(x, a.H-1, dim, "_")
			continue
		}
		eighths := max(1, int(math.Round(value/p.top*float64(8*a.H))))
		for y := a.H - 1; eighths > 0; y-- {
			a.Text(x, y, p.style, blocks(eighths))
			eighths -= 8
		}
	}
}

// blocks draws up to eight eighths of a cell.
func blocks(eighths int) string { return level(float64(min(eighths, 8)-1)/8 + 1.0/16) }

// highest returns the greatest value, or 0.
func highest(values []float64) float64 {
	top := 0.0
	for _, v := range values {
		if v > top {
			top = v
		}
	}
	return top
}

// newest returns the last value that is known, or 0.
func newest(values []float64) float64 {
	for i := len(values) - 1; i >= 0; i-- {
		if !math.IsNaN(values[i]) {
			return values[i]
		}
	}
	return 0
}

// figure writes a value to three digits or so.
func figure(v float64) string {
	if v >= 100 || v == math.Trunc(v) {
		return number(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// trendCells is how many columns of trendCell a trend has.
const (
	trendCells = 10
	trendCell  = 6 * time.Second
)

// drawTrend draws how a tier's size went in the last minute, and returns how many columns that took.
func drawTrend(a canvas.Area, f *session.Frame, tier queue.Tier) int {
	var values [trendCells]float64
	s := f.Series
	first := f.Now.Add(-trendCells * trendCell)
	i, size := s.Since(first), math.NaN()
	if i > 0 {
		size = float64(s.At(i - 1).Sizes[tier])
	}
	for x := range values {
		values[x] = size
		for end := first.Add(time.Duration(x+1) * trendCell); i < s.Len() && !s.At(i).End.After(end); i++ {
			size = float64(s.At(i).Sizes[tier])
			if !(values[x] > size) {
				values[x] = size
			}
		}
	}
	values[trendCells-1] = float64(f.Board.Total(tier))
	spark(a, plot{style: tierStyle(tier), values: values[:], top: highest(values[:])})
	return trendCells
}
