package tui

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
)

// podProvenance returns the glyph for where it comes from that p is where it is.
func podProvenance(p *session.Pod) string {
	if p.Estimated && !p.Observed {
		return glyphEstimated
	}
	return provenance(p.Observed)
}

// moveProvenance returns the glyph for where a move comes from.
func moveProvenance(t *session.Transition) string {
	if t.Pod.Estimated && !t.Observed {
		return glyphEstimated
	}
	return provenance(t.Observed)
}

// liveTime says how the cluster stands that is shown: on its way in, heard of, or stale.
func (h header) liveTime(a canvas.Area) {
	f := h.frame
	x := 1
	switch {
	case f.Live.Ended != "":
		a.Text(x, 0, backoff|canvas.Bold, canvas.Truncate("■ ended: "+safe(string(f.Live.Ended)), a.W-2))
		return
	case f.Live.Attached.IsZero():
		x = a.Text(x, 0, backoff|canvas.Bold, "◌ connecting")
		if !f.Live.StaleSince.IsZero() || arrived(f.Live) == 0 {
			if t := trouble(f.Live); t != "" {
				a.Text(x+2, 0, plain, canvas.Truncate(t, a.W-x-3))
				return
			}
		}
		a.Text(x+2, 0, plain, canvas.Truncate(progress(f.Live), a.W-x-3))
		return
	case !f.Live.StaleSince.IsZero():
		x = a.Text(x, 0, backoff|canvas.Bold|canvas.Reverse, " ◌ STALE since "+secondTime(f.Live.StaleSince)+" ")
		a.Text(x+1, 0, plain, canvas.Truncate(safe(string(f.Live.Trouble)), a.W-x-2))
		return
	case f.Live.Following:
		x = a.Text(x, 0, active|canvas.Bold, "● live")
	case f.Playing:
		x = a.Text(x, 0, active|canvas.Bold, "▶ playing")
		x = a.Text(x+1, 0, plain, fmt.Sprintf("×%g", f.Speed))
	default:
		x = a.Text(x, 0, backoff|canvas.Bold, "‖ paused")
	}
	x = a.Text(x+2, 0, canvas.Bold, clockTime(f.Now))
	if a.W >= 100 {
		x = a.Text(x+1, 0, plain, "UTC")
	}
	right := a.Right(a.W-1, 0, plain, h.moves()) - 2
	left := a.Sub(0, 0, right, 1)
	if !f.Live.Following {
		left.Text(x+2, 0, backoff, span(f.End.Sub(f.Now))+" behind, } to now")
		return
	}
	left.Text(x+2, 0, dim, "attached "+span(f.Now.Sub(f.Live.Attached).Truncate(time.Second))+" ago")
}

// arrived counts the objects that have come.
func arrived(l *session.Live) int {
	total := 0
	for _, r := range l.Resources {
		total += r.Objects
	}
	return total
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
		s += fmt.Sprintf(", %s %s so far", number(longest.Objects), longest.Name)
	}
	return s
}

// trouble is why a list does not come.
func trouble(l *session.Live) string {
	if l.Trouble != "" {
		return safe(string(l.Trouble))
	}
	for _, r := range l.Resources {
		if r.State == sources.ResourceFailing {
			return safe(string(r.Trouble))
		}
	}
	return ""
}
