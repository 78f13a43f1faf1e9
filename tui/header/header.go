package header

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// Line is one of the lines.
type Line uint8

const (
	lineTitle Line = iota
	lineBanner
	lineTime
	lineFlow
	lineCounts
	lineHints
)

// Lines returns the lines that fit a screen of h rows. counted is set if the scheduler's own counts are known.
func Lines(h int, fork, counted bool) []Line {
	switch {
	case h >= 30 && fork:
		return []Line{lineBanner, lineHints, lineTitle, lineTime, lineFlow}
	case h >= 24 && fork:
		return []Line{lineBanner, lineHints, lineTime}
	case fork:
		return []Line{lineBanner, lineTime}
	case h >= 30 && counted:
		return []Line{lineTitle, lineTime, lineFlow, lineCounts}
	case h >= 24:
		return []Line{lineTitle, lineTime, lineFlow}
	default:
		return []Line{lineTitle, lineTime}
	}
}

// AboveLesson returns the lines above a lesson, which needs the space.
func AboveLesson(fork bool) []Line {
	if fork {
		return []Line{lineBanner, lineTime}
	}
	return []Line{lineTitle, lineTime}
}

// Header is the lines above the page.
type Header struct {
	Frame *session.Frame
	Keys  *keymap.Map
	// Alone is set if there is no recording to go back to.
	Alone bool
	// Follows is set if another session determines the time.
	Follows bool
	Lines   []Line
}

// Draw draws the lines and returns where the progress line is.
func (h Header) Draw(a canvas.Area) (progress canvas.Rect) {
	for y, line := range h.Lines {
		row := a.Row(y)
		switch line {
		case lineTitle:
			if h.silent() && !slices.Contains(h.Lines, lineFlow) {
				h.silence(row)
			} else {
				h.title(row)
			}
		case lineBanner:
			h.banner(row)
		case lineTime:
			progress = h.time(row)
			progress.Y = y
		case lineFlow:
			if h.silent() {
				h.silence(row)
			} else {
				flow{h.Frame}.Draw(row)
			}
		case lineCounts:
			if h.Frame.SchedulerCounts != nil {
				h.schedulerCounts(row)
			}
		case lineHints:
			text := format.Plural(h.Frame.Fork.Injected, "injection") + " · " + format.Safe(h.Frame.Fork.Hints)
			row.Text(1, 0, theme.WhatIf, canvas.Truncate(text, row.W-2))
		}
	}
	return progress
}

// banner draws an unmistakable line for a what-if.
func (h Header) banner(a canvas.Area) {
	a.Fill(theme.WhatIf|canvas.Reverse|canvas.Bold, " ")
	who := "you are the scheduler"
	if h.Frame.Fork.Scheduling {
		who = "a local scheduler decides"
	}
	if h.Alone {
		text := "YOUR CLUSTER — " + who
		a.Text(max(1, (a.W-canvas.Width(text))/2), 0, theme.WhatIf|canvas.Reverse|canvas.Bold, text)
		return
	}
	text := fmt.Sprintf("WHAT-IF since %s — %s — ", h.Frame.Zone.Second(h.Frame.Fork.From), who) + h.Keys.Say("{what-if}: back to the recording")
	if canvas.Width(text) > a.W-2 {
		text = fmt.Sprintf("WHAT-IF since %s — %s — ", h.Frame.Zone.Second(h.Frame.Fork.From), who) + h.Keys.Say("{what-if}: back")
	}
	a.Text(max(1, (a.W-canvas.Width(text))/2), 0, theme.WhatIf|canvas.Reverse|canvas.Bold, text)
}

// silent reports whether there is no sign of a scheduler.
func (h Header) silent() bool { return h.Frame.Silent != nil && h.Frame.Silent.Profile == "" }

// silence draws an unmistakable line if there is no sign of a scheduler.
func (h Header) silence(a canvas.Area) {
	style := theme.Backoff | canvas.Reverse | canvas.Bold
	a.Fill(style, " ")
	since := h.Frame.Zone.Second(h.Frame.Silent.Since)
	text := "NO SIGN OF A SCHEDULER since " + since + " — no pod is tried"
	if h.Frame.Silent.Ended {
		text = "THE SCHEDULER SHUT DOWN at " + since + " — next tries assume it kept running"
	}
	a.Text(max(1, (a.W-canvas.Width(text))/2), 0, style, canvas.Truncate(text, a.W-2))
}

// title draws the names of the source and of its scheduler.
func (h Header) title(a canvas.Area) {
	right := a.W
	if filter := h.Frame.Filter; filter != "" {
		right = a.Right(right, 0, theme.Accent|canvas.Reverse, " / "+canvas.Truncate(filter, a.W/3)+" ") - 1
	}
	if said := reading(h.Frame.Reading); said != "" {
		right = a.Right(right-1, 0, theme.Backoff, said) - 1
	}
	left := a.Sub(0, 0, right-1, 1)
	x := left.Text(1, 0, theme.Accent|canvas.Bold, canvas.Truncate(format.Safe(string(h.Frame.Name)), left.W-1))
	kind, release := " — a recording of "+Scheduler(h.Frame), format.Safe(string(h.Frame.Scheduler.Release))
	switch scripted := slices.Equal(h.Frame.Formats, []string{scenario.Format}); {
	case h.Frame.Live != nil:
		kind = " — live, " + Scheduler(h.Frame)
	case scripted && release != "":
		kind = " — a scenario, under " + release + "'s rules"
	case scripted:
		kind = " — a scenario"
	case release == "":
		kind = " — a recording"
	}
	x = left.Text(x, 0, theme.Plain, canvas.Truncate(kind, left.W-x))
	if gates := h.Frame.Gates(); len(gates) > 0 {
		left.Text(x, 0, theme.Plain, " · "+canvas.Truncate(format.SafeList(gates, " "), left.W-x-3))
	}
}

// Scheduler returns the name and the release of the recorded scheduler.
func Scheduler(f *session.Frame) string {
	release := format.Safe(string(f.Scheduler.Release))
	switch {
	case release == "":
		return "kube-scheduler, release unknown"
	case f.Scheduler.ReleaseInferred:
		return "kube-scheduler " + release + " (inferred)"
	case f.Scheduler.From != "":
		return "kube-scheduler " + release + " (" + f.Scheduler.From.Words() + ")"
	default:
		return "kube-scheduler " + release
	}
}

// time draws whether time runs, how fast, and the position. It returns where the progress line is, if it fits.
func (h Header) time(a canvas.Area) (progress canvas.Rect) {
	f := h.Frame
	if f.Live != nil && f.Fork == nil {
		h.liveTime(a)
		return canvas.Rect{}
	}
	x := 1
	switch {
	case h.Follows:
		x = a.Text(x, 0, theme.Dim|canvas.Bold, "→ follows")
	case f.Playing:
		x = a.Text(x, 0, theme.Active|canvas.Bold, "▶ playing")
	case f.AtEnd:
		x = a.Text(x, 0, theme.Backoff|canvas.Bold, "■ at the end")
	default:
		x = a.Text(x, 0, theme.Backoff|canvas.Bold, "‖ paused")
	}
	if !h.Follows {
		x = a.Text(x+1, 0, theme.Plain, Speed(f.Speed))
	}
	if a.W >= 100 && f.Squeeze {
		x = a.Text(x+1, 0, theme.Dim, "skips quiet time")
	}
	x = a.Text(x+2, 0, canvas.Bold, h.now(a.W))
	right := a.Right(a.W-1, 0, theme.Plain, h.moves()) - 2
	if f.Fork != nil {
		left := a.Sub(0, 0, right, 1)
		since := "+" + format.Span(f.Now.Sub(f.Fork.From))
		if where := since + " in the what-if"; x+2+len(where) <= left.W {
			since = where
		}
		x = left.Text(x+2, 0, theme.WhatIf, since)
		if !slices.Contains(h.Lines, lineTitle) {
			x = left.Text(x+2, 0, theme.Backoff, reading(f.Reading))
		}
		if f.Filter != "" && !slices.Contains(h.Lines, lineTitle) {
			left.Text(x+2, 0, theme.Accent|canvas.Reverse, " / "+f.Filter+" ")
		}
		return canvas.Rect{}
	}
	x = a.Text(x+2, 0, theme.Plain, h.far()) + 1
	if width := min(right-x, 40); width >= 4 {
		progress = canvas.At(x, 0, width, 1)
		read := ReadCells(f.Reading, width)
		heavy, light := format.Bar(share(f.Now.Sub(f.Start), f.End.Sub(f.Start)), read)
		x = a.Text(a.Text(x, 0, theme.Accent, heavy), 0, theme.Dim, light)
		a.Text(x, 0, theme.Dim, strings.Repeat("┈", width-read))
	}
	return progress
}

// now returns the moment shown for a line of w cells.
func (h Header) now(w int) string {
	zone, now := h.Frame.Zone, h.Frame.Now
	switch {
	case w >= 100:
		return zone.Full(now)
	case !zone.IsUTC():
		return zone.Precise(now) + " " + zone.Name(now)
	default:
		return zone.Precise(now)
	}
}

// far returns the time since the start and the total length, as far as it is read.
func (h Header) far() string {
	f := h.Frame
	var room [48]byte
	text := append(format.AppendSpan(room[:0], f.Now.Sub(f.Start)), '/')
	text = format.AppendSpan(text, f.End.Sub(f.Start))
	if f.Reading != nil {
		text = append(text, '+')
	}
	return string(text)
}

// ReadCells returns how many cells of the progress line stand for what is read.
func ReadCells(r *session.Reading, width int) int {
	if r == nil {
		return width
	}
	return min(max(int(r.Share*float64(width)), 1), width)
}

// reading returns how much of the recording is read, or "" if all is.
func reading(r *session.Reading) string {
	if r == nil {
		return ""
	}
	said := fmt.Sprintf("reading %d%%", int(100*min(r.Share, 1)))
	if r.Left > 0 {
		said += ", " + format.Span(r.Left.Round(time.Second)) + " left"
	}
	return said
}

// Speed formats a playback speed with at most two decimals: ×0.5, ×16.
func Speed(times float64) string {
	var room [32]byte
	return string(strconv.AppendFloat(append(room[:0], "×"...), math.Round(times*100)/100, 'g', -1, 64))
}

// moves returns the number of the last move shown, and of all known moves.
func (h Header) moves() string {
	n, known := h.Frame.Log.Len(), h.Frame.Known
	var room [64]byte
	text := format.AppendNumber(append(room[:0], "move "...), n)
	if known > n {
		text = format.AppendNumber(append(text, '/'), known)
	}
	return string(text)
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// The size of a tier's trend: trendCells columns of trendCell each.
const (
	trendCells = 10
	trendCell  = 6 * time.Second
)

// drawTrend draws a tier's size in the last minute, and returns how many columns that took.
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
	widget.Spark(a, theme.Tier(tier), values[:], widget.Max(values[:]))
	return trendCells
}

// vast is the width from which counts have their trends beside them.
const vast = 180

// schedulerCounts draws the scheduler's own counts and, where they differ, those of the local queue at the time of measurement.
func (h Header) schedulerCounts(a canvas.Area) {
	f, says, local := h.Frame, h.Frame.SchedulerCounts, h.Frame.LocalCounts
	x := a.Text(1, 0, theme.Dim, "scheduler, "+format.Countdown(f.Now.Sub(f.SchedulerCountsAt))+" ago: ")
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
			x = a.Text(x, 0, theme.Dim, " · ")
		}
		x = a.Text(x, 0, theme.Tier(pair.tier), theme.TierName(pair.tier)+" ")
		x = a.Text(x, 0, theme.Plain, format.Number(pair.says))
		if pair.says != pair.local {
			x = a.Text(x, 0, theme.Backoff|canvas.Bold, "≠"+format.Number(pair.local))
		}
	}
}

// farBehind is the delay from which a live session shows it. Half a second is normal.
const farBehind = time.Second

// liveTime draws the state of a live cluster: connecting, live, or stale.
func (h Header) liveTime(a canvas.Area) {
	f := h.Frame
	x := 1
	switch {
	case f.Live.Ended != "":
		a.Text(x, 0, theme.Backoff|canvas.Bold, canvas.Truncate("■ ended: "+format.Safe(string(f.Live.Ended)), a.W-2))
		return
	case f.Live.Attached.IsZero():
		x = a.Text(x, 0, theme.Backoff|canvas.Bold, "◌ connecting")
		text := progress(f.Live)
		if f.Live.Trouble != "" {
			text = format.Safe(string(f.Live.Trouble))
		}
		a.Text(x+2, 0, theme.Plain, canvas.Truncate(text, a.W-x-3))
		return
	case !f.Live.StaleSince.IsZero():
		x = a.Text(x, 0, theme.Backoff|canvas.Bold|canvas.Reverse, " ◌ STALE since "+f.Zone.Second(f.Live.StaleSince)+" ")
		a.Text(x+1, 0, theme.Plain, canvas.Truncate(format.Safe(string(f.Live.Trouble)), a.W-x-2))
		return
	case f.Live.Following:
		x = a.Text(x, 0, theme.Active|canvas.Bold, "● live")
	case f.Playing:
		x = a.Text(x, 0, theme.Active|canvas.Bold, "▶ playing")
		x = a.Text(x+1, 0, theme.Plain, Speed(f.Speed))
	default:
		x = a.Text(x, 0, theme.Backoff|canvas.Bold, "‖ paused")
	}
	x = a.Text(x+2, 0, canvas.Bold, f.Zone.Precise(f.Now))
	if a.W >= 100 || !f.Zone.IsUTC() {
		x = a.Text(x+1, 0, theme.Plain, f.Zone.Name(f.Now))
	}
	right := a.Right(a.W-1, 0, theme.Plain, h.moves()) - 2
	left := a.Sub(0, 0, right, 1)
	if !f.Live.Following {
		left.Text(x+2, 0, theme.Backoff, format.Span(f.End.Sub(f.Now))+h.Keys.Say(" behind, {seek-end} to now"))
		return
	}
	if t := f.Live.Trouble; t != "" {
		text := format.Safe(string(t))
		if since := unheardSince(f.Live); !since.IsZero() {
			text = "no data since " + f.Zone.Second(since) + ": " + text
		}
		left.Text(x+2, 0, theme.Backoff, canvas.Truncate(text, left.W-x-2))
		return
	}
	if behind := f.Live.Behind; behind >= farBehind {
		left.Text(x+2, 0, theme.Backoff, canvas.Truncate(format.Span(behind.Truncate(time.Second))+" behind: the scheduler's Events are late", left.W-x-2))
		return
	}
	x = left.Text(x+2, 0, theme.Dim, "attached "+format.Span(f.Now.Sub(f.Live.Attached).Truncate(time.Second))+" ago")
	if how := distance(f.Live); how != "" && x+2+len(how) <= left.W {
		left.Text(x, 0, theme.Dim, ", "+how)
	}
}
