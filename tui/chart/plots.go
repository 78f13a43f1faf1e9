package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// plots shows the history of the queue as a whole.
type plots struct {
	timed
	// The plotted values, one per column. NaN means unknown.
	sizes, says   [queue.InFlight + 1][]float64
	attempts, age []float64
	arrivals      []arrivals // sorted by number
	measured      bool       // whether says has values
	perSecond     int        // attempts in the last second
}

func newPlots(d *page.UI) Chart { return &plots{timed: timed{UI: d}} }

func (v *plots) Reset()         { *v = plots{timed: timed{UI: v.UI}} }
func (v *plots) Key() keymap.ID { return keymap.Plots }
func (v *plots) Name() string   { return "plots" }
func (v *plots) Layout() string { return "plots" }

func (v *plots) Enter() tea.Cmd    { return nil }
func (v *plots) EnterName() string { return "" }
func (v *plots) CannotEnter() string {
	return v.Keys.Say("the plots show all pods together: {lanes} shows single ones, {back} closes")
}

func (v *plots) Move(int)               {}
func (v *plots) Click(int, int) tea.Cmd { return nil }
func (v *plots) Wheel(by page.Turn)     { v.turned(by) }

// arrivals counts the pods that an event moved to activeQ, backoffQ or the unschedulable pods.
type arrivals struct {
	event string
	total int
	rates []float64
}

// plotsSpan is the default period.
const plotsSpan = 2 * time.Minute

// plotNames and plotValues are the widths before and after a plot.
const (
	plotNames  = 24
	plotValues = 15
)

// plotColumns returns the number of columns of plots.
func plotColumns(w int) int {
	if w >= 120 {
		return 2
	}
	return 1
}

// Settle implements page.Page. It updates the window and computes the plots.
func (v *plots) Settle(w, h int) {
	v.w, v.h = w, h
	f := v.Frame
	cells := max(w/plotColumns(w)-plotNames-plotValues, 1)
	v.Least = time.Second // tallies are per second
	v.Window.Settle(cells, f.Now, widget.ScaleFor(widget.SinceStart(f, plotsSpan), cells, v.Least))
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

// count fills the plots from the visible seconds.
func (v *plots) count(f *session.Frame, blank func([]float64) []float64) {
	p, s := v.Shown, f.Series
	perSecond := 1 / p.Cell.Seconds()
	i := s.Since(p.From)
	var before *history.Tally
	if i > 0 {
		before = s.At(i - 1)
	}
	if v.perSecond = 0; s.Len() > 0 && f.Now.Sub(s.At(s.Len()-1).End) < time.Second {
		v.perSecond = int(s.At(s.Len() - 1).Attempts)
	}
	present := p.Column(f.Now)
	for x := range min(p.Cells, present+1) {
		end := p.At(x + 1)
		if end.After(f.Now) {
			end = f.Now
		}
		if before != nil {
			v.includeTally(x, before)
		}
		if before != nil || i < s.Len() && !s.At(i).End.After(end) {
			v.attempts[x] = 0
		}
		for ; i < s.Len() && !s.At(i).End.After(end); i++ {
			before = s.At(i)
			v.includeTally(x, before)
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
	if present >= 0 && present < p.Cells {
		for tier := queue.Active; tier <= queue.InFlight; tier++ {
			v.sizes[tier][present] = float64(f.Board.Total(tier))
		}
	}
	slices.SortStableFunc(v.arrivals, func(a, b arrivals) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.event, b.event))
	})
}

// includeTally raises the sizes at column x to those of t: a column shows the maximum of its
// seconds.
func (v *plots) includeTally(x int, t *history.Tally) {
	for tier := range v.sizes {
		if n := float64(t.Sizes[tier]); !(v.sizes[tier][x] > n) {
			v.sizes[tier][x] = n
		}
	}
}

func (v *plots) arrivalsOf(event string, pods int, blank func([]float64) []float64) []float64 {
	for i := range v.arrivals {
		if v.arrivals[i].event == event {
			v.arrivals[i].total += pods
			return v.arrivals[i].rates
		}
	}
	var spare []float64 // reuse memory
	if n := len(v.arrivals); n < cap(v.arrivals) {
		spare = v.arrivals[:n+1][n].rates
	}
	v.arrivals = append(v.arrivals, arrivals{event, pods, blank(spare)})
	return v.arrivals[len(v.arrivals)-1].rates
}

// measure fills the plots of the scheduler's own counts.
func (v *plots) measure(f *session.Frame) {
	p, m := v.Shown, f.Measured
	v.measured = m.Len() > 0
	i := max(m.Since(p.From)-1, 0)
	var says *sources.Counts
	for x := range min(p.Cells, p.Column(f.Now)+1) {
		for ; i < m.Len(); i++ {
			at, counts, _ := m.At(i)
			if !at.Before(p.At(x + 1)) {
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

// plot is a named series of values.
type plot struct {
	name   string
	style  canvas.Style
	values []float64
	// top is the value at full height. peak is its text, now the text of the newest value.
	top       float64
	peak, now string
	rows      int
}

// Draw implements page.Page: the plots in one or two columns, each below an axis.
func (v *plots) Draw(a canvas.Area) {
	v.Title(a.Row(0), "plots", "")
	body := a.Sub(0, 1, a.W, a.H-1)
	if v.Frame.Series.Len() == 0 {
		widget.DrawEmpty(body, v.Keys.Say("Nothing to plot yet. Tier sizes, attempts and arrivals per second and the age of the oldest pod appear as time passes. {play} starts playback, {seek-end} goes to the end."))
		return
	}
	tiers, rest := v.tiers(), v.rest()
	if plotColumns(a.W) == 2 {
		half := a.W / 2
		v.column(body.Sub(0, 0, half, body.H), tiers)
		v.column(body.Sub(half, 0, a.W-half, body.H), rest)
		return
	}
	v.column(body, append(tiers, rest...))
}

// tiers returns the plots of the tier sizes, each followed by the scheduler's own count if known.
func (v *plots) tiers() []plot {
	var all []plot
	for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
		values, says := v.sizes[tier], v.says[tier]
		top := max(widget.Max(values), widget.Max(says))
		all = append(all, plot{name: theme.TierName(tier), style: theme.Tier(tier), values: values, top: top, peak: format.Number(int(top)), now: format.Number(v.Frame.Board.Total(tier)), rows: 1})
		if v.measured && tier != queue.InFlight {
			all = append(all, plot{name: scheduler, style: theme.Dim, values: says, top: top, now: format.Number(int(newest(says)))})
		}
	}
	return all
}

// scheduler is the name of the plots of the scheduler's own counts. They are dropped first.
const scheduler = "  scheduler's count"

// rest returns the plots of attempts, age and arrivals.
func (v *plots) rest() []plot {
	age := "none"
	if oldest := v.Frame.Board.OldestArrival(); !oldest.IsZero() {
		age = format.Countdown(v.Frame.Now.Sub(oldest))
	}
	all := []plot{
		{name: "attempts", style: theme.InFlight, values: v.attempts, top: widget.Max(v.attempts), peak: figure(widget.Max(v.attempts)) + "/s", now: format.Number(v.perSecond) + "/s", rows: 1},
		{name: "oldest pod's age", style: theme.Alarm, values: v.age, top: widget.Max(v.age), peak: format.Countdown(time.Duration(widget.Max(v.age) * float64(time.Second))), now: age, rows: 1},
	}
	for i, a := range v.arrivals {
		p := plot{name: format.Safe(a.event), style: theme.Accent, values: a.rates, top: widget.Max(a.rates), now: format.Number(a.total) + " in all"}
		if i == 0 {
			p.rows = 1 // the others are shown if they fit
		}
		all = append(all, p)
	}
	return all
}

// column draws an axis, and below it as many plots as fit.
func (v *plots) column(a canvas.Area, shown []plot) {
	v.Shown.Axis(a.Sub(plotNames, 0, v.Shown.Cells, 1), v.Frame)
	heights(shown, a.H-1)
	y := 1
	for _, p := range shown {
		if p.rows == 0 {
			continue
		}
		area := a.Sub(0, y, a.W, p.rows)
		y += p.rows
		area.Text(1, 0, p.style, canvas.Truncate(p.name, plotNames-2))
		if p.rows >= 3 {
			area.Text(1, 1, theme.Dim, "up to "+p.peak)
		}
		widget.Spark(area.Sub(plotNames, 0, v.Shown.Cells, p.rows), p.style, p.values, p.top)
		area.Text(plotNames+v.Shown.Cells+1, p.rows-1, canvas.Bold, canvas.Truncate(p.now, plotValues-2))
	}
}

// heights distributes rows among plots. Plots that have a row keep it. The others get one in order
// while rows are left; remaining rows make the former taller.
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
			if p := &plots[i]; p.name != scheduler && p.style != theme.Accent && p.rows > 0 && p.rows < tallest && first < rows {
				p.rows, first, grown = p.rows+1, first+1, true
			}
		}
	}
}

// newest returns the last known value, or 0.
func newest(values []float64) float64 {
	for i := len(values) - 1; i >= 0; i-- {
		if !math.IsNaN(values[i]) {
			return values[i]
		}
	}
	return 0
}

// figure formats a value with about three digits.
func figure(v float64) string {
	if v >= 100 || v == math.Trunc(v) {
		return format.Number(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
