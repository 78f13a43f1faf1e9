package header

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// liveTime says how the cluster stands that is shown: on its way in, heard of, or stale.
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
		left.Text(x+2, 0, theme.Backoff, canvas.Truncate(format.Safe(string(t)), left.W-x-2))
		return
	}
	x = left.Text(x+2, 0, theme.Dim, "attached "+format.Span(f.Now.Sub(f.Live.Attached).Truncate(time.Second))+" ago")
	if how := distance(f.Live); how != "" && x+2+len(how) <= left.W {
		left.Text(x, 0, theme.Dim, ", "+how)
	}
}

// What of a cluster's distance is worth a word: it is far away, or this machine's clock is another.
const (
	farAway    = 50 * time.Millisecond
	clocksPart = 100 * time.Millisecond
)

// distance says how far away the cluster is, and how far the clocks are apart. Empty if neither is worth a word.
func distance(l *session.Live) string {
	s := ""
	if l.Answers >= farAway {
		s = "answers take " + format.Lasting(l.Answers)
	}
	if by := l.Ahead.Round(clocksPart); by != 0 {
		if s != "" {
			s += ", "
		}
		if s += "this clock " + format.Lasting(by.Abs()); by > 0 {
			s += " ahead"
		} else {
			s += " behind"
		}
	}
	return s
}

// progress says how many lists are in, and which is the longest that is not.
func progress(l *session.Live) string {
	in := 0
	var longest sources.Resource
	for _, r := range l.Resources {
		if r.Settled() {
			in++
		} else if longest.Name == "" || r.Objects > longest.Objects {
			longest = r
		}
	}
	s := fmt.Sprintf("%d of %d lists are in", in, len(l.Resources))
	if longest.Name != "" {
		s += fmt.Sprintf(", %s %s so far", format.Number(longest.Objects), longest.Name)
	}
	return s
}
