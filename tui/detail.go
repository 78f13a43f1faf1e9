package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// maxMoves bounds how many of a pod's moves the zoomed detail lists.
const maxMoves = 500

// messageLines is how much of the scheduler's message a detail shows that is not zoomed.
const messageLines = 2

// verdictLines is how many reasons it tells of an attempt.
const verdictLines = 3

// detail says all about one pod.
type detail struct {
	frame    *session.Frame
	selected selection
	// zoomed is true if the detail has the screen to itself; offset is how far it is scrolled then.
	zoomed bool
	offset int
	// withLane draws the pod's last minute to scale.
	withLane bool
}

// leastLane is the width from which on a lane says something.
const leastLane = 40

// lane draws p's last minute, and what is to come.
func (d detail) lane(a canvas.Area, p *session.Pod) {
	x := a.Text(0, 0, dim, "last minute ")
	var w window
	cells := a.W - x
	w.settle(cells, d.frame.Now.Add(laneAhead), scaleFor(lanesSpan+laneAhead, cells, 0))
	all := stays(nil, p, d.frame.Now, w.shown.from)
	drawLane(a.Sub(x, 0, cells, 1), w.shown, all, d.frame.Now, d.frame.Wait(p).Until)
	if w.shown.covers(d.frame.Now) {
		nowLine(a.Sub(x+w.shown.column(d.frame.Now), 0, 1, 1))
	}
}

// laneAhead is how much of what is to come a detail's lane shows.
const laneAhead = 10 * time.Second

// line is one line of a detail: a text, a move, or the lane of the last minute.
type line struct {
	style canvas.Style
	text  string
	move  *session.Transition
	lane  *session.Pod
}

// Draw draws as much of the text as fits.
func (d detail) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(dim, "─")
	title.Text(1, 0, canvas.Bold, " why? ")
	body := a.Sub(1, 1, a.W-2, a.H-1)
	lines := d.lines(body.W, body.H)
	offset := min(d.offset, max(0, len(lines)-body.H))
	for y := range min(body.H, len(lines)-offset) {
		l := lines[offset+y]
		if l.lane != nil {
			d.lane(body.Row(y), l.lane)
			continue
		}
		if l.move == nil {
			body.Text(0, y, l.style, l.text)
			continue
		}
		x := body.Text(0, y, dim, moveTime(l.move, body.W < longMove))
		x = body.Text(x+1, y, tierStyle(l.move.To), moveProvenance(l.move)) + 1
		drawMove(body.Sub(x, y, body.W-x, 1), l.move)
	}
	if d.zoomed {
		end := " esc: back "
		if len(lines) > body.H {
			end = fmt.Sprintf(" %d–%d of %d · j/k scroll · esc: back ", offset+1, min(offset+body.H, len(lines)), len(lines))
		}
		title.Right(title.W-1, 0, dim, end)
	}
}

// last returns the greatest useful offset for a body of w by h.
func (d detail) last(w, h int) int { return max(0, len(d.lines(w, h))-h) }

// lines returns the text, wrapped to w cells. If it is not zoomed it has at most h lines: the moves take
// what the rest leaves, the newest last.
func (d detail) lines(w, h int) []line {
	if !d.selected.any {
		return wrap(nil, w, dim, "No pod is selected. j and k select one, tab goes to the next pane; here it says why the pod waits and when it moves.")
	}
	p := d.selected.pod(d.frame)
	if p == nil {
		lines := []line{{style: canvas.Bold, text: canvas.Truncate(safe(d.selected.key.String()), w)}}
		return wrap(lines, w, dim, "The queue does not know this pod at the time shown: it is not there yet, or it is long gone.")
	}
	lines := d.facts(p, w)
	room := maxMoves
	if !d.zoomed {
		room = h - len(lines) - 1
	}
	if room < 1 {
		return lines
	}
	var moves []line
	for t, n := p.Last, 0; t != nil && len(moves) < room && n < maxMoves; t, n = t.Prev, n+1 {
		if !t.Restated() {
			moves = append(moves, line{move: t})
		}
	}
	if len(moves) == 0 {
		return lines
	}
	slices.Reverse(moves)
	return append(append(lines, line{style: dim, text: "its last moves"}), moves...)
}

// facts is what is known of p, the most asked for first.
func (d detail) facts(p *session.Pod, w int) []line {
	name := canvas.Middle(safe(p.Key.String()), w)
	lines := []line{{style: canvas.Bold, text: name}}
	where := fmt.Sprintf("%s since %s", tierName(p.Tier), clockTime(p.Since))
	if p.Estimated && !p.Observed {
		where += ", " + glyphEstimated + " estimated: it was there before"
	} else if p.Observed {
		where += ", " + glyphObserved + " observed"
	} else {
		where += ", " + glyphModelled + " modelled"
	}
	lines = wrap(lines, w, tierStyle(p.Tier), where)
	if d.withLane && w >= leastLane {
		lines = append(lines, line{lane: p})
	}

	for _, sentence := range d.frame.Explain(p) {
		lines = wrap(lines, w, plain, safe(sentence))
	}
	lines = d.verdict(lines, p, w)
	if d.zoomed {
		lines = d.needs(lines, p, w)
	}
	counts := []string{"priority unknown", plural(p.Attempts, "attempt")}
	if p.PriorityKnown() {
		counts[0] = fmt.Sprintf("priority %d", p.Priority)
	}
	if p.UnschedulableCount > 0 {
		counts = append(counts, fmt.Sprintf("%d unschedulable", p.UnschedulableCount))
	}
	if p.ConsecutiveErrorsCount > 0 {
		counts = append(counts, plural(p.ConsecutiveErrorsCount, "error")+" in a row")
	}
	if p.NominatedNode != "" {
		counts = append(counts, "nominated to "+safe(p.NominatedNode))
	}
	if p.Node != "" {
		counts = append(counts, "on "+safe(p.Node))
	}
	if plugins := p.RejectorPlugins(); len(plugins) > 0 && p.UnschedulableCount > 0 && p.Tier != queue.Unschedulable {
		counts = append(counts, "last rejected by "+safeList(plugins, ", "))
	}
	lines = wrap(lines, w, plain, strings.Join(counts, " · "))
	if labels := labelText(p.Labels()); labels != "" {
		lines = wrap(lines, w, dim, "labels "+labels)
	}
	return lines
}

// verdict appends what the last attempt came to: the nodes by plugin, or else the scheduler's own words.
func (d detail) verdict(lines []line, p *session.Pod, w int) []line {
	if p.Message == "" || p.Tier == queue.Scheduled {
		return lines
	}
	v, modelled := p.LastVerdict()
	if v == nil || len(v.Reasons) == 0 {
		message := wrap(nil, w, dim, "The scheduler said: "+safe(string(p.Message)))
		if !d.zoomed && len(message) > messageLines {
			message = message[:messageLines]
			message[messageLines-1].text = canvas.Truncate(message[messageLines-1].text+" …", w)
		}
		return append(lines, message...)
	}
	lines = wrap(lines, w, dim, fmt.Sprintf("%s Its last attempt: none of %s fits.", provenance(!modelled), plural(v.Nodes, "node")))
	reasons := v.ByPlugin()
	for i, r := range reasons {
		text := fmt.Sprintf("  %s %s", number(r.Nodes), safe(string(r.Text)))
		if r.Plugin != "" {
			text += " (" + safe(r.Plugin) + ")"
		}
		if d.zoomed {
			lines = wrap(lines, w, plain, text)
			continue
		}
		if left := len(reasons) - i; i == verdictLines-1 && left > 1 {
			text = fmt.Sprintf("  and %d other reasons", left)
			lines = append(lines, line{style: plain, text: text})
			break
		}
		lines = append(lines, line{style: plain, text: canvas.Truncate(text, w)})
	}
	if rest := v.Rest(); d.zoomed && rest != "" {
		lines = wrap(lines, w, dim, "  "+safe(rest))
	}
	return lines
}

// needs appends where p fits and what it lacks on the nearest nodes, if that was asked.
func (d detail) needs(lines []line, p *session.Pod, w int) []line {
	n := d.frame.Needs
	if n == nil || n.Pod != p.Key {
		return lines
	}
	when := ""
	if !n.At.Equal(d.frame.Now) {
		when = fmt.Sprintf(" (at %s, N: now)", clockTime(n.At))
	}
	for i, sentence := range n.Sentences() {
		if i == 0 {
			sentence += when
		}
		lines = wrap(lines, w, plain, safe(sentence))
	}
	if len(n.Nearest) > 0 {
		lines = wrap(lines, w, dim, "Nearest, and what they lack:")
	}
	for _, node := range n.Nearest {
		lines = wrap(lines, w, plain, "  "+string(node.Node)+"  "+safe(node.String()))
	}
	return lines
}

// wrap appends text to lines, cut to w cells; the second line and those after it are indented.
func wrap(lines []line, w int, style canvas.Style, text string) []line {
	for i, part := range canvas.Wrap(text, w-2) {
		if i > 0 {
			part = "  " + part
		}
		lines = append(lines, line{style: style, text: part})
	}
	return lines
}

// labelText writes labels in the order of their keys.
func labelText(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for k, v := range labels {
		pairs = append(pairs, k+"="+v)
	}
	slices.Sort(pairs)
	return safeList(pairs, " ")
}
