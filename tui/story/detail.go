package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// maxMoves limits the moves in a detail with the whole screen.
const maxMoves = 500

// messageLines limits the scheduler's message in a small detail.
const messageLines = 2

// verdictLines limits the reasons of an attempt in a small detail.
const verdictLines = 3

// Detail describes one pod.
type Detail struct {
	Frame    *session.Frame
	Keys     *keymap.Map
	Selected page.Selection
	// zoomed is set if the detail has the whole screen; offset is its scroll position.
	zoomed bool
	offset int
	// withLane draws the last minute to scale.
	withLane bool
}

// leastLane is the smallest width for a lane.
const leastLane = 40

// lane draws the last minute of p and the expected future.
func (d Detail) lane(a canvas.Area, p *board.Pod) {
	x := a.Text(0, 0, theme.Dim, "last minute ")
	var w widget.Window
	cells := a.W - x
	w.Settle(cells, d.Frame.Now.Add(laneAhead), widget.ScaleFor(LanesSpan+laneAhead, cells, 0))
	all := Stays(nil, p, d.Frame.Now, w.Shown.From)
	DrawLane(a.Sub(x, 0, cells, 1), w.Shown, all, d.Frame.Now, d.Frame.Wait(p).Until)
	if w.Shown.Covers(d.Frame.Now) {
		DrawNow(a.Sub(x+w.Shown.Column(d.Frame.Now), 0, 1, 1))
	}
}

// laneAhead is how much of the future a lane shows.
const laneAhead = 10 * time.Second

// Line is a line of a detail: a text, a move, or the lane.
type Line struct {
	Style canvas.Style
	Text  string
	move  *board.Transition
	lane  *board.Pod
}

// Draw draws the lines that fit.
func (d Detail) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
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
			body.Text(0, y, l.Style, l.Text)
			continue
		}
		x := body.Text(0, y, theme.Dim, MoveTime(l.move, d.Frame.Zone, body.W < LongMove))
		x = body.Text(x+1, y, theme.Tier(l.move.To), MoveProvenance(l.move)) + 1
		DrawMove(body.Sub(x, y, body.W-x, 1), l.move)
	}
	if d.zoomed {
		end := d.Keys.Say(" {back}: back ")
		if len(lines) > body.H {
			end = fmt.Sprintf(" %d–%d of %d · "+d.Keys.Say("{row-down}/{row-up} scroll · {back}: back "), offset+1, min(offset+body.H, len(lines)), len(lines))
		}
		title.Right(title.W-1, 0, theme.Dim, end)
	}
}

// maxOffset returns the greatest useful offset for a body of w by h.
func (d Detail) maxOffset(w, h int) int { return max(0, len(d.lines(w, h))-h) }

// lines returns the text, wrapped to w cells. A small detail has at most h lines: the last moves fill the space that is left.
func (d Detail) lines(w, h int) []Line {
	if !d.Selected.Any {
		return Wrap(nil, w, theme.Dim, d.Keys.Say("No pod is selected: press {row-down} or {row-up} to select one, {next-pane} for the next pane. Here you see why it waits and when it moves."))
	}
	p := d.Selected.Pod(d.Frame)
	if p == nil {
		lines := []Line{{Style: canvas.Bold, Text: canvas.Truncate(format.Safe(d.Selected.Key.String()), w)}}
		return Wrap(lines, w, theme.Dim, "This pod is not known at the time shown: it does not exist yet, or it left long ago.")
	}
	lines := d.Facts(p, w)
	room := maxMoves
	if !d.zoomed {
		room = h - len(lines) - 1
	}
	if room < 1 {
		return lines
	}
	var moves []Line
	for t, n := p.Last, 0; t != nil && len(moves) < room && n < maxMoves; t, n = t.Prev(), n+1 {
		if !t.Restated() {
			moves = append(moves, Line{move: t})
		}
	}
	if len(moves) == 0 {
		return lines
	}
	slices.Reverse(moves)
	return append(append(lines, Line{Style: theme.Dim, Text: "last moves"}), moves...)
}

// Facts returns what is known of p, most important first.
func (d Detail) Facts(p *board.Pod, w int) []Line {
	name := canvas.TruncateMiddle(format.Safe(p.Key.String()), w)
	lines := []Line{{Style: canvas.Bold, Text: name}}
	if c := d.Frame.Conclude(p, d.Frame.Needs); c != nil {
		lines = Wrap(lines, w, theme.Tier(p.Tier), string(c.Summary))
		cause := c.Lines()
		if !d.zoomed { // the small detail has room for the fix or the arithmetic, not for both
			cause = []string{cause[0]}
		}
		for _, line := range cause {
			lines = Wrap(lines, w, canvas.Bold, line)
		}
	}
	if v := d.Frame.Verdict(p); v != nil && d.zoomed {
		lines = Wrap(lines, w, theme.Unschedulable, "Verdict: "+v.Name)
		for _, seen := range v.Evidence {
			lines = Wrap(lines, w, theme.Plain, format.Safe(seen.Line(d.Frame.Zone)))
		}
		lines = Wrap(lines, w, theme.Plain, format.Safe(string(v.Helps)))
		for _, command := range v.Commands {
			lines = Wrap(lines, w, theme.Dim, "  "+format.Safe(string(command)))
		}
	}
	if d.withLane && w >= leastLane {
		lines = append(lines, Line{lane: p})
	}
	where := fmt.Sprintf("%s since %s", theme.TierName(p.Tier), d.Frame.Zone.Precise(p.Since))
	if p.SinceIsEarliest() {
		where += " or later"
	}
	if p.Estimated && !p.Observed {
		where += ", " + theme.GlyphEstimated + " estimated: older than the observations"
	} else if p.Observed {
		where += ", " + theme.GlyphObserved + " observed"
	} else {
		where += ", " + theme.GlyphModelled + " modelled"
	}
	lines = Wrap(lines, w, theme.Tier(p.Tier), where)

	if p.Tier == queue.Scheduled && p.Node != "" {
		lines = Wrap(lines, w, theme.Plain, "Why "+format.Safe(p.Node)+"? "+d.Keys.Say("{cycle} shows its scheduling cycle."))
	}
	lines = d.verdict(lines, p, w)
	if d.zoomed {
		lines = d.needs(lines, p, w)
		for _, sentence := range explain.Requirements(p) {
			lines = Wrap(lines, w, theme.Plain, format.Safe(sentence))
		}
	}
	for _, sentence := range d.Frame.Explain(p) {
		lines = Wrap(lines, w, theme.Plain, format.Safe(sentence))
	}
	if d.Frame.Assumed != "" && d.zoomed && p.Tier.Queued() {
		lines = Wrap(lines, w, theme.Dim, format.Safe(d.Frame.Assumed))
	}
	counts := []string{"priority unknown", p.AttemptCount().Attempts()}
	if p.PriorityKnown() {
		counts[0] = fmt.Sprintf("priority %d", p.Priority)
	}
	if p.UnschedulableCount > 0 {
		counts = append(counts, words.AttemptCount{N: p.UnschedulableCount, AtLeast: p.AttemptsAtLeast}.String()+" unschedulable")
	}
	if p.ConsecutiveErrorsCount > 0 {
		counts = append(counts, format.Plural(p.ConsecutiveErrorsCount, "error")+" in a row")
	}
	if p.NominatedNode != "" {
		counts = append(counts, "nominated to "+format.Safe(p.NominatedNode))
	}
	if p.Node != "" {
		counts = append(counts, "on "+format.Safe(p.Node))
	}
	if plugins := p.RejectorPlugins(); len(plugins) > 0 && p.UnschedulableCount > 0 && p.Tier != queue.Unschedulable {
		counts = append(counts, "last rejected by "+format.SafeList(plugins, ", "))
	}
	lines = Wrap(lines, w, theme.Plain, strings.Join(counts, " · "))
	if labels := labelText(p.Labels()); labels != "" {
		lines = Wrap(lines, w, theme.Dim, "labels "+labels)
	}
	return lines
}

// verdict appends the result of the last attempt: nodes by plugin, or the scheduler's message.
func (d Detail) verdict(lines []Line, p *board.Pod, w int) []Line {
	if p.Message == "" || p.Tier == queue.Scheduled {
		return lines
	}
	v, modelled := p.LastVerdict()
	if v == nil || len(v.Reasons) == 0 {
		message := Wrap(nil, w, theme.Dim, "Scheduler message: "+format.Safe(string(p.Message)))
		if !d.zoomed && len(message) > messageLines {
			message = message[:messageLines]
			message[messageLines-1].Text = canvas.Truncate(message[messageLines-1].Text+" …", w)
		}
		return append(lines, message...)
	}
	lines = Wrap(lines, w, theme.Dim, fmt.Sprintf("%s Last attempt: none of %s fits.", theme.Provenance(!modelled), format.Plural(v.Nodes, "node")))
	reasons := v.ByPlugin()
	for i, r := range reasons {
		text := fmt.Sprintf("  %s %s", format.Number(r.Nodes), format.Safe(string(r.Text)))
		if r.Plugin != "" {
			text += " (" + format.Safe(r.Plugin) + ")"
		}
		if d.zoomed {
			lines = Wrap(lines, w, theme.Plain, text)
			continue
		}
		if left := len(reasons) - i; i == verdictLines-1 && left > 1 {
			text = fmt.Sprintf("  and %d other reasons", left)
			lines = append(lines, Line{Style: theme.Plain, Text: text})
			break
		}
		lines = append(lines, Line{Style: theme.Plain, Text: canvas.Truncate(text, w)})
	}
	if rest := explain.PostFilterOf(v, p); d.zoomed && rest != "" {
		lines = Wrap(lines, w, theme.Dim, "  "+format.Safe(rest))
	}
	return lines
}

// needs appends where p fits and what it lacks on the nearest nodes, if that was computed.
func (d Detail) needs(lines []Line, p *board.Pod, w int) []Line {
	n := d.Frame.Needs
	if n == nil || n.Pod != p.Key {
		return lines
	}
	if changed := d.Frame.NodesChanged(p, n); changed != "" {
		lines = Wrap(lines, w, theme.Plain, changed)
	}
	when := ""
	if !n.At.Equal(d.Frame.Now) {
		when = fmt.Sprintf(" (at %s, %s: now)", d.Frame.Zone.Precise(n.At), d.Keys.Say("{needs}"))
	}
	for i, sentence := range n.Sentences() {
		if i == 0 {
			sentence += when
		}
		lines = Wrap(lines, w, theme.Plain, format.Safe(sentence))
	}
	if len(n.Nearest) > 0 {
		lines = Wrap(lines, w, theme.Dim, "Nearest nodes and what they lack:")
	}
	for _, node := range n.Nearest {
		lines = Wrap(lines, w, theme.Plain, "  "+string(node.Node)+"  "+format.Safe(node.String()))
	}
	return lines
}

// Wrap appends text to lines, wrapped to w cells. Continued lines are indented deeper than the first.
func Wrap(lines []Line, w int, style canvas.Style, text string) []Line {
	indent := strings.Repeat(" ", len(text)-len(strings.TrimLeft(text, " "))+2)
	for i, part := range canvas.Wrap(text, w-len(indent)) {
		if i > 0 {
			part = indent + part
		}
		lines = append(lines, Line{Style: style, Text: part})
	}
	return lines
}

// labelText formats labels in the order of their keys.
func labelText(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for k, v := range labels {
		pairs = append(pairs, k+"="+v)
	}
	slices.Sort(pairs)
	return format.SafeList(pairs, " ")
}
