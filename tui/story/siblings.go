package story

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Siblings is the page that compares the selected pod with a sibling.
type Siblings struct {
	*page.UI
	// sibling is the key of the other pod, once one was shown.
	sibling types.NamespacedName
	// asked is what the siblings were last requested for, askedAt the real time of that.
	asked   siblingsQuery
	askedAt time.Time
	w, h    int
	offset  int
}

// siblingsQuery identifies a pod and a state of the cluster.
type siblingsQuery struct {
	pod   types.NamespacedName
	now   time.Time
	line  int
	reply uint64
}

// siblingsInterval is the shortest interval between requests during playback.
const siblingsInterval = time.Second

// AddSiblings adds the action that opens the page, or closes it.
func AddSiblings(d *page.UI, all page.Actions) {
	s := &Siblings{UI: d}
	all[keymap.Siblings] = page.Action{Do: func(string) tea.Cmd {
		if s.Pages.Top() == page.Page(s) {
			s.Pages.CloseTop()
			return nil
		}
		*s = Siblings{UI: d}
		s.Pages.Open(s)
		return s.Follow()
	}}.DisabledWhen(func() string {
		if why := d.NotSelected(); why != "" {
			return why
		}
		if d.Pod() == nil {
			return d.NotQueued()
		}
		return ""
	})
}

// Follow implements page.Follower. It requests the siblings of another pod or moment.
func (s *Siblings) Follow() tea.Cmd {
	now := siblingsQuery{s.Selected.Key, s.Frame.Now, s.TimelineID(), s.Frame.Reply.Number}
	if now == s.asked || s.Frame.Playing && now.pod == s.asked.pod && time.Since(s.askedAt) < siblingsInterval {
		return nil
	}
	if now.pod != s.asked.pod {
		s.sibling, s.offset = types.NamespacedName{}, 0
	}
	s.asked, s.askedAt = now, time.Now()
	s.Session.FindSiblings(now.pod)
	return nil
}

// found returns the siblings of the selected pod, or nil while they are not known.
func (s *Siblings) found() *explain.Siblings {
	if f := s.Frame.Siblings; f != nil && f.Of == s.Selected.Key {
		return f
	}
	return nil
}

// other returns the sibling to compare with as the frame shows it, and its position. It is nil if there is none.
func (s *Siblings) other() (p *board.Pod, i int) {
	f := s.found()
	if f == nil || len(f.Pods) == 0 {
		return nil, 0
	}
	if i = slices.IndexFunc(f.Pods, func(p *board.Pod) bool { return p.Key == s.sibling }); i < 0 {
		i = 0
	}
	s.sibling = f.Pods[i].Key
	if p = s.Frame.Board.Get(s.sibling); p == nil {
		p = f.Pods[i]
	}
	return p, i
}

func (s *Siblings) Context() keymap.Context { return keymap.Board }
func (s *Siblings) Layout() string          { return "" }

// Settle implements page.Page.
func (s *Siblings) Settle(w, h int) {
	s.w, s.h = w, h
	s.offset = max(0, min(s.offset, len(s.rows(w-2))-(h-1)))
}

// siblingRow is a row of the page: one text, or a cell for each pod.
type siblingRow struct {
	style canvas.Style
	text  string
	rule  bool // text is a heading
	cells *[2]siblingCell
}

// siblingCell is a text or a move.
type siblingCell struct {
	style canvas.Style
	text  string
	move  *board.Transition
}

// commonShown limits how many moves before the parting are shown.
const commonShown = 6

// rows returns the rows of the page for w cells.
func (s *Siblings) rows(w int) []siblingRow {
	var rows []siblingRow
	say := func(style canvas.Style, text string) {
		for _, l := range Wrap(nil, w, style, text) {
			rows = append(rows, siblingRow{style: l.Style, text: l.Text})
		}
	}
	p, f := s.Pod(), s.found()
	other, i := s.other()
	switch {
	case p == nil:
		say(theme.Dim, "This pod is not known at the time shown.")
		return rows
	case f == nil:
		say(theme.Dim, "Looking for siblings …")
		return rows
	case f.Owner == "":
		say(theme.Plain, "This pod has no owner, and its name has no stem that others could share.")
		return rows
	case other == nil:
		say(theme.Plain, fmt.Sprintf("No other pod of %s is known at the time shown.", f.Owner))
		return rows
	}
	pods := [2]*board.Pod{p, other}
	parting := s.Frame.Part(pods)
	bound := 0
	for _, sibling := range f.Pods {
		if sibling.Tier == queue.Scheduled {
			bound++
		}
	}
	about := fmt.Sprintf("Sibling %s of %s of %s, %s bound.", format.Number(i+1), format.Number(len(f.Pods)), f.Owner, format.Number(bound))
	if modelled := func(t *board.Transition) bool { return !t.Observed }; slices.ContainsFunc(slices.Concat(parting.Moves[0], parting.Moves[1]), modelled) {
		about += " Moves with " + theme.GlyphModelled + " are modelled."
	}
	say(theme.Dim, about)
	say(canvas.Bold, string(parting.Text))
	rows = append(rows, s.fieldRows(parting, w)...)
	return append(rows, s.moveRows(pods, parting, w)...)
}

// fieldRows returns the rows about the fields that differ.
func (s *Siblings) fieldRows(c *explain.Parting, w int) []siblingRow {
	var rows []siblingRow
	say := func(text string) {
		for _, l := range Wrap(nil, w, theme.Plain, text) {
			rows = append(rows, siblingRow{style: l.Style, text: l.Text})
		}
	}
	switch {
	case c.Unknown != "":
		say(string(c.Unknown))
		return rows
	case len(c.Differences) == 0:
		say("No difference in what scheduling reads of the two pods.")
		return rows
	}
	rows = append(rows, siblingRow{text: "differences in what scheduling reads", rule: true})
	for _, d := range c.Differences {
		rows = append(rows, siblingRow{style: theme.Dim, text: d.Field})
		var cells [2][]Line
		for i, value := range d.Values {
			text := string(value)
			if text == "" {
				text = "none"
			}
			if d.Values[0] == d.Values[1] {
				text += s.Keys.Say(" (differs in details: {manifest})")
			}
			cells[i] = Wrap(nil, column(w)-2, theme.Plain, text)
		}
		for y := range max(len(cells[0]), len(cells[1])) {
			row := siblingRow{cells: &[2]siblingCell{}}
			for i := range cells {
				if y < len(cells[i]) {
					row.cells[i] = siblingCell{style: theme.Plain, text: "  " + cells[i][y].Text}
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// moveRows returns the rows of both histories: those that the pods have in common, and what followed.
func (s *Siblings) moveRows(pods [2]*board.Pod, c *explain.Parting, w int) []siblingRow {
	names := [2]siblingCell{}
	for i, p := range pods {
		name := canvas.TruncateMiddle(format.Safe(p.Key.Name), column(w)-12)
		names[i] = siblingCell{theme.Tier(p.Tier) | canvas.Bold, name + "  " + words.TierWord(p.Tier), nil}
	}
	rows := []siblingRow{{text: "moves", rule: true}, {cells: &names}}
	known := c.Common != [2]int{}
	var common, rest [2][]*board.Transition
	for i, moves := range c.Moves {
		common[i], rest[i] = moves[:c.Common[i]], moves[c.Common[i]:]
	}
	if known {
		dropped := [2]int{}
		for i := range common {
			dropped[i] = max(0, len(common[i])-commonShown)
			common[i] = common[i][dropped[i]:]
		}
		if dropped != [2]int{} {
			cells := [2]siblingCell{}
			for i, n := range dropped {
				if n == 0 {
					continue
				}
				cells[i] = siblingCell{style: theme.Dim, text: fmt.Sprintf("and %s before", format.Plural(n, "move"))}
			}
			rows = append(rows, siblingRow{cells: &cells})
		}
		n := max(len(common[0]), len(common[1]))
		for y := range n {
			rows = append(rows, moveRow(common, [2]int{y - n + len(common[0]), y - n + len(common[1])}))
		}
		if len(rest[0])+len(rest[1]) > 0 {
			rows = append(rows, siblingRow{text: "parted here", rule: true})
		}
	}
	for y := range max(len(rest[0]), len(rest[1])) {
		rows = append(rows, moveRow(rest, [2]int{y, y}))
	}
	return rows
}

// moveRow returns a row with a move of each list, where its index is in the list.
func moveRow(moves [2][]*board.Transition, at [2]int) siblingRow {
	row := siblingRow{cells: &[2]siblingCell{}}
	for i := range moves {
		if at[i] >= 0 && at[i] < len(moves[i]) {
			row.cells[i].move = moves[i][at[i]]
		}
	}
	return row
}

// column returns the width of each of the two columns in w cells, which a line separates.
func column(w int) int { return (w - 3) / 2 }

// Draw implements page.Page.
func (s *Siblings) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
	x := title.Text(1, 0, canvas.Bold, " siblings ")
	title.Text(x, 0, theme.Plain, canvas.TruncateMiddle(format.Safe(s.Selected.Key.String()), max(0, a.W/2-x))+" ")
	body := a.Sub(1, 1, a.W-2, a.H-1)
	rows := s.rows(body.W)
	end := s.Keys.Say(" {back}: back ")
	if len(rows) > body.H {
		end = fmt.Sprintf(" %d–%d of %d · ", s.offset+1, min(s.offset+body.H, len(rows)), len(rows)) + s.Keys.Say("{back}: back ")
	}
	title.Right(title.W-1, 0, theme.Dim, end)
	for y := range min(body.H, len(rows)-s.offset) {
		s.drawRow(body.Row(y), rows[s.offset+y])
	}
}

func (s *Siblings) drawRow(a canvas.Area, row siblingRow) {
	switch {
	case row.rule:
		a.Fill(theme.Dim, "─")
		a.Text(1, 0, theme.Dim, " "+row.text+" ")
	case row.cells == nil:
		a.Text(0, 0, row.style, row.text)
	default:
		w := column(a.W)
		a.Text(w+1, 0, theme.Dim, "│")
		for i, c := range row.cells {
			s.drawCell(a.Sub(i*(w+3), 0, w, 1), c)
		}
	}
}

// drawCell draws a text, or a move: its time, provenance, tier and cause.
func (s *Siblings) drawCell(a canvas.Area, c siblingCell) {
	if c.move == nil {
		a.Text(0, 0, c.style, canvas.Truncate(c.text, a.W))
		return
	}
	x := a.Text(0, 0, theme.Dim, MoveTime(c.move, s.Frame.Zone, a.W < LongMove))
	x = a.Text(x+1, 0, theme.Tier(c.move.To), MoveProvenance(c.move)) + 1
	if rest := a.Sub(x, 0, a.W-x, 1); rest.W >= ShortMove {
		DrawMove(rest, c.move)
		return
	}
	x = a.Text(x, 0, theme.Tier(c.move.To), tierWord(c.move.To)) + 1
	a.Text(x, 0, theme.Plain, canvas.Truncate(cause(c.move, a.W-x), a.W-x))
}

func (s *Siblings) Move(n int) { s.offset = max(0, s.offset+n) }
func (s *Siblings) Rows() int  { return max(1, s.h-2) }

// Enter shows the next sibling.
func (s *Siblings) Enter() tea.Cmd {
	_, i := s.other()
	all := s.found().Pods
	s.sibling, s.offset = all[(i+1)%len(all)].Key, 0
	return nil
}

func (s *Siblings) EnterName() string { return "next sibling" }

func (s *Siblings) CannotEnter() string {
	if f := s.found(); f == nil || len(f.Pods) < 2 {
		return "there is no other sibling"
	}
	return ""
}

func (s *Siblings) Click(int, int) tea.Cmd { return nil }
func (s *Siblings) Wheel(t page.Turn) {
	if !t.Sideways {
		s.Move(t.Rows)
	}
}
