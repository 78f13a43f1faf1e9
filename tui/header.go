package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// headerLine is one line at the top of the screen.
type headerLine uint8

const (
	lineTitle headerLine = iota
	lineBanner
	lineTime
	lineCounts
	lineHints
)

// headerLines returns the lines that a screen of h rows has room for.
func headerLines(h int, fork bool) []headerLine {
	switch {
	case h >= 30 && fork:
		return []headerLine{lineBanner, lineHints, lineTitle, lineTime, lineCounts}
	case h >= 24 && fork:
		return []headerLine{lineBanner, lineHints, lineTime}
	case fork:
		return []headerLine{lineBanner, lineTime}
	case h >= 24:
		return []headerLine{lineTitle, lineTime, lineCounts}
	default:
		return []headerLine{lineTitle, lineTime}
	}
}

// header is what is shown, how it was made, and where in time it is.
type header struct {
	frame *session.Frame
	lines []headerLine
}

// Draw draws the lines, one below the other, and returns where the line is that shows how far it is.
func (h header) Draw(a canvas.Area) (progress rect) {
	for y, line := range h.lines {
		row := a.Row(y)
		switch line {
		case lineTitle:
			h.title(row)
		case lineBanner:
			h.banner(row)
		case lineTime:
			progress = h.time(row)
			progress.y = y
		case lineCounts:
			h.counts(row)
		case lineHints:
			text := plural(h.frame.Fork.Injected, "injection") + " · " + safe(h.frame.Fork.Hints)
			row.Text(1, 0, whatIf, canvas.Truncate(text, row.W-2))
		}
	}
	return progress
}

// banner says that this is no recording, so that nobody can miss it.
func (h header) banner(a canvas.Area) {
	a.Fill(whatIf|canvas.Reverse|canvas.Bold, " ")
	who := "you are the scheduler"
	if h.frame.Fork.Scheduling {
		who = "a local scheduler decides"
	}
	text := fmt.Sprintf("WHAT-IF since %s — %s — w: back to the recording", secondTime(h.frame.Fork.From), who)
	if canvas.Width(text) > a.W-2 {
		text = fmt.Sprintf("WHAT-IF since %s — %s — w: back", secondTime(h.frame.Fork.From), who)
	}
	a.Text(max(1, (a.W-canvas.Width(text))/2), 0, whatIf|canvas.Reverse|canvas.Bold, text)
}

// title names the recording and the scheduler that was recorded.
func (h header) title(a canvas.Area) {
	right := a.W
	if filter := h.frame.Filter; filter != "" {
		right = a.Right(right, 0, accent|canvas.Reverse, " / "+canvas.Truncate(filter, a.W/3)+" ") - 1
	}
	left := a.Sub(0, 0, right-1, 1)
	x := left.Text(1, 0, accent|canvas.Bold, safe(string(h.frame.Name)))
	x = left.Text(x+2, 0, plain, schedulerName(h.frame))
	if gates := h.frame.Gates(); len(gates) > 0 {
		left.Text(x, 0, plain, " · "+canvas.Truncate(safeList(gates, " "), left.W-x-3))
	}
}

// schedulerName says which release was recorded.
func schedulerName(f *session.Frame) string {
	release := safe(string(f.Scheduler.Release))
	switch {
	case release == "":
		return "kube-scheduler, release unknown"
	case f.Scheduler.ReleaseInferred:
		return "kube-scheduler " + release + " (inferred)"
	default:
		return "kube-scheduler " + release
	}
}

// time says whether time passes, how fast, and how far it is. It returns where a line shows that, if one does.
func (h header) time(a canvas.Area) (progress rect) {
	f := h.frame
	if f.Live != nil && f.Fork == nil {
		h.liveTime(a)
		return rect{}
	}
	x := 1
	switch {
	case f.Playing:
		x = a.Text(x, 0, active|canvas.Bold, "▶ playing")
	case f.AtEnd:
		x = a.Text(x, 0, backoff|canvas.Bold, "■ at the end")
	default:
		x = a.Text(x, 0, backoff|canvas.Bold, "‖ paused")
	}
	x = a.Text(x+1, 0, plain, fmt.Sprintf("×%g", f.Speed))
	now := clockTime(f.Now)
	if a.W >= 100 {
		if f.Squeeze {
			x = a.Text(x+1, 0, dim, "squeezing quiet time")
		}
		now = f.Now.UTC().Format("2006-01-02 ") + now + " UTC"
	}
	x = a.Text(x+2, 0, canvas.Bold, now)
	right := a.Right(a.W-1, 0, plain, h.moves()) - 2
	if f.Fork != nil {
		left := a.Sub(0, 0, right, 1)
		x = left.Text(x+2, 0, whatIf, "+"+span(f.Now.Sub(f.Fork.From))+" in the what-if")
		if f.Filter != "" && !slices.Contains(h.lines, lineTitle) {
			left.Text(x+2, 0, accent|canvas.Reverse, " / "+f.Filter+" ")
		}
		return rect{}
	}
	x = a.Text(x+2, 0, plain, span(f.Now.Sub(f.Start))+"/"+span(f.End.Sub(f.Start))) + 1
	if width := min(right-x, 40); width >= 4 {
		heavy, light := bar(share(f.Now.Sub(f.Start), f.End.Sub(f.Start)), width)
		progress = rect{x, 0, width, 1}
		x = a.Text(x, 0, accent, heavy)
		a.Text(x, 0, dim, light)
	}
	return progress
}

// moves says which move the one shown last is, and how many are known to follow.
func (h header) moves() string {
	n, known := h.frame.Log.Len(), h.frame.Known
	if known > n {
		return fmt.Sprintf("move %s/%s", number(n), number(known))
	}
	return "move " + number(n)
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// counts compares the local queue with the scheduler's own numbers. Where there is no room for both, the
// panes' titles have the first.
func (h header) counts(a canvas.Area) {
	f := h.frame
	x := 1
	says := f.SchedulerCounts
	if a.W >= roomy || says == nil {
		for i, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
			if i > 0 {
				x = a.Text(x, 0, dim, " · ")
			}
			x = a.Text(x, 0, tierStyle(tier), tierName(tier)+" ")
			x = a.Text(x, 0, canvas.Bold, number(f.Board.Total(tier)))
			if a.W >= vast {
				x = drawTrend(a.Sub(x+1, 0, trendCells, 1), f, tier) + x + 1
			}
		}
		x += 3
	}
	if says != nil {
		h.schedulerCounts(a, x)
	}
}

// roomy is the width from which on the header has room for the local counts and the scheduler's.
const roomy = 120

// vast is the width from which on each count has its trend beside it.
const vast = 180

// schedulerCounts draws the scheduler's own numbers and marks those that differ from what the local queue
// had when they were measured.
func (h header) schedulerCounts(a canvas.Area, x int) {
	f, says, local := h.frame, h.frame.SchedulerCounts, h.frame.LocalCounts
	x = a.Text(x, 0, dim, "scheduler says ")
	for i, pair := range [...]struct {
		tier        queue.Tier
		says, local int
	}{
		{queue.Active, says.Active, local.Active},
		{queue.Backoff, says.Backoff, local.Backoff},
		{queue.Unschedulable, says.Unschedulable, local.Unschedulable},
		{queue.Gated, says.Gated, local.Gated},
	} {
		if i > 0 {
			x = a.Text(x, 0, dim, " · ")
		}
		if a.W < roomy {
			x = a.Text(x, 0, tierStyle(pair.tier), tierName(pair.tier)+" ")
		}
		if pair.says == pair.local {
			x = a.Text(x, 0, plain, number(pair.says))
		} else {
			x = a.Text(x, 0, backoff|canvas.Bold, "≠"+number(pair.says))
		}
	}
	a.Text(x, 0, dim, ", "+countdown(f.Now.Sub(f.SchedulerCountsAt))+" ago")
}
