package attempt

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/page"
)

// Attempt is the page of the selected pod's scheduling cycle. Nothing is computed unless it is open.
type Attempt struct {
	*page.UI
	shown *explain.Cycle
	// plugins are the indexes of those that scored nodes: first those whose scores differ between nodes, differing of them.
	plugins   []int
	differing int
	// before is the cycle without the change that shown was run with, if any.
	before *explain.Cycle
	// asked is what was last requested, askedAt the real time of that.
	asked   query
	askedAt time.Time
	options session.InspectOptions

	// point is the extension point shown. chosen is set if the user chose it; otherwise it is the one that answers why.
	point  point
	chosen bool
	// column is what the nodes are sorted by: 0 for the total, or the number of a scored plugin from 1.
	column int

	// nodes are indexes in shown.Nodes, in list order.
	nodes       []int
	room, list  canvas.Rect
	cursor, top int
	name        sources.SafeText // of the node at the cursor
}

// query identifies a cycle.
type query struct {
	pod  types.NamespacedName
	line int
	said uint64
	// now is the moment shown of a pod that waits. A bound pod's attempt does not depend on it; seq is its last move.
	now    time.Time
	seq    int
	all    bool
	change string
}

// New returns the page for d.
func New(d *page.UI) *Attempt { return &Attempt{UI: d} }

// Add adds the actions of the page, and the one that opens it.
func Add(a *Attempt, all page.Actions) {
	all[keymap.OpenCycle] = page.Action{Do: func(string) tea.Cmd {
		if a.isOpen() {
			a.Pages.CloseTop()
			return nil
		}
		return a.Open()
	}, Cannot: a.cannotOpen, Name: func() string {
		if p := a.Pod(); p != nil && p.Tier == queue.Scheduled {
			return "why this node?"
		}
		return "scheduling cycle"
	}}
	in := func(do func()) page.Action {
		return page.Command(do).DisabledWhen(func() string {
			if !a.isOpen() {
				return a.Keys.Say("only on the page of a scheduling cycle: {cycle} opens it")
			}
			return ""
		})
	}
	all[keymap.CycleNextPoint] = in(func() { a.turn(1) })
	all[keymap.CycleLastPoint] = in(func() { a.turn(-1) })
	all[keymap.CycleNextColumn] = in(func() { a.sortBy(a.column + 1) })
	all[keymap.CycleLastColumn] = in(func() { a.sortBy(a.column - 1) })
	all[keymap.CycleAll] = in(func() {
		a.options.AllRejections = !a.options.AllRejections
		a.Follow()
	})
	change := in(func() {})
	change.Do = func(string) tea.Cmd { return a.chooseChange() }
	all[keymap.CycleChange] = change
}

func (a *Attempt) isOpen() bool { return a.Pages.Top() == page.Page(a) }

func (a *Attempt) cannotOpen() string {
	switch {
	case a.isOpen():
		return ""
	case !a.Selected.Any:
		return a.NotSelected()
	case a.Pod() == nil:
		return a.Selected.Key.String() + " is not known at this time"
	}
	return ""
}

// Open opens the page on the selected pod.
func (a *Attempt) Open() tea.Cmd {
	a.Reset()
	a.Pages.Open(a)
	return a.Follow()
}

// Reset prepares the page for another pod or session.
func (a *Attempt) Reset() { *a = Attempt{UI: a.UI} }

// interval is the shortest time between two cycles during playback.
const interval = time.Second

// Follow implements page.Follower. It requests the cycle if the frame shows another pod or moment.
func (a *Attempt) Follow() tea.Cmd {
	if a.asked.pod != a.Selected.Key && a.asked.pod != (types.NamespacedName{}) {
		a.Reset()
	}
	now := query{
		pod: a.Selected.Key, line: a.TimelineID(), said: a.Frame.Reply.Number, now: a.Frame.Now, seq: -1,
		all: a.options.AllRejections, change: a.options.Change.String(),
	}
	if p := a.Pod(); p != nil && p.Last != nil && (p.Tier == queue.Scheduled || p.Tier == queue.Deleted) {
		now.now, now.seq = time.Time{}, p.Last.Seq
	}
	if now != a.asked && (!a.Frame.Playing || time.Since(a.askedAt) >= interval) {
		a.asked, a.askedAt = now, time.Now()
		a.Session.Inspect(a.Selected.Key, a.options)
	}
	if c := a.Frame.Cycle; c != nil && c != a.shown && c.Key == a.Selected.Key {
		a.show(c)
	}
	return nil
}

// show displays c. The cursor stays on its node.
func (a *Attempt) show(c *explain.Cycle) {
	switch {
	case c.Change.None():
		a.before = nil
	case a.before == nil && a.shown != nil && a.shown.Change.None():
		a.before = a.shown
	}
	a.shown = c
	if !a.chosen || !slices.Contains(a.points(), a.point) {
		a.point, a.chosen = answering(c), false
	}
	a.plugins, a.differing = scored(c)
	a.column = min(a.column, len(a.plugins))
	a.arrange()
}

// arrange sorts the nodes for the extension point shown.
func (a *Attempt) arrange() {
	a.nodes = a.nodes[:0]
	if a.shown == nil || a.shown.Inspection == nil {
		return
	}
	all := a.shown.Nodes
	for i := range all {
		switch a.point {
		case score:
			if all[i].Scores != nil {
				a.nodes = append(a.nodes, i)
			}
		case filter:
			a.nodes = append(a.nodes, i)
		}
	}
	switch winner := a.shown.Winner(); {
	case a.point == score && a.column == 0: // of equal nodes, the winner first
		slices.SortStableFunc(a.nodes, func(i, j int) int {
			if all[i].Total == all[j].Total && all[j].Node == winner {
				return 1
			}
			return cmp.Compare(all[j].Total, all[i].Total)
		})
	case a.point == score && a.column > 0:
		p := a.plugins[a.column-1]
		slices.SortStableFunc(a.nodes, func(i, j int) int { return cmp.Compare(all[j].Scores[p].Weighted, all[i].Scores[p].Weighted) })
	case a.point == filter: // those that fit are on the page of scores
		order := map[cycle.Outcome]int{cycle.Rejected: 0, cycle.Excluded: 1, cycle.NotEvaluated: 2, cycle.Feasible: 3}
		slices.SortStableFunc(a.nodes, func(i, j int) int { return cmp.Compare(order[all[i].Outcome], order[all[j].Outcome]) })
	}
	at := slices.IndexFunc(a.nodes, func(i int) bool { return all[i].Node == a.name })
	if at < 0 { // the cursor begins on the winner
		at = slices.IndexFunc(a.nodes, func(i int) bool { return a.point == score && all[i].Node == a.shown.Winner() })
	}
	a.cursor = max(0, at)
}

// scored returns the indexes of the plugins that scored nodes: first those whose scores differ between nodes, differing of them.
func scored(c *explain.Cycle) (indexes []int, differing int) {
	if c.Inspection == nil {
		return nil, 0
	}
	var same []int
	for i, p := range c.Score.Plugins {
		switch {
		case p.Skipped:
		case p.Error != "" || slices.ContainsFunc(c.Nodes, func(n cycle.NodeResult) bool {
			return n.Scores != nil && n.Scores[i].Weighted != c.Nodes[0].Scores[i].Weighted
		}):
			indexes = append(indexes, i)
		default:
			same = append(same, i)
		}
	}
	return append(indexes, same...), len(indexes)
}

// sortBy sorts the nodes by another column.
func (a *Attempt) sortBy(column int) {
	if a.shown == nil {
		return
	}
	if a.point != score && slices.Contains(a.points(), score) {
		a.point, a.chosen = score, true
	}
	n := len(a.plugins) + 1
	a.column = (column + n) % n
	a.arrange()
}

// turn goes to another extension point.
func (a *Attempt) turn(by int) {
	all := a.points()
	if len(all) == 0 {
		return
	}
	i := slices.Index(all, a.point)
	a.point, a.chosen = all[(i+by+len(all))%len(all)], true
	a.cursor, a.top, a.name = 0, 0, ""
	a.arrange()
}

// rows returns the number of rows of the list.
func (a *Attempt) rows() int {
	switch {
	case a.shown == nil || a.shown.Inspection == nil:
		return 0
	case a.point == postFilter && a.shown.PostFilter != nil:
		return len(a.shown.PostFilter.Candidates) + len(a.shown.PostFilter.Rejected)
	case a.point == score || a.point == filter:
		return len(a.nodes)
	}
	return 0
}

func (a *Attempt) Context() keymap.Context { return keymap.Cycle }
func (a *Attempt) Layout() string          { return "" }

// Settle implements page.Page.
func (a *Attempt) Settle(w, h int) {
	a.room = canvas.At(0, 0, w, h)
	above := a.above(w, h)
	a.list = canvas.At(0, above, w, max(0, h-above-a.below(h-above)))
	n := a.rows()
	if n == 0 {
		a.cursor = max(a.cursor, 0)
		return
	}
	a.cursor = min(max(a.cursor, 0), n-1)
	if a.list.H > 0 {
		a.top = min(max(a.top, a.cursor-a.list.H+1), a.cursor)
		a.top = min(max(a.top, 0), max(n-a.list.H, 0))
	}
}

// Move implements page.Page. Where there is no list, it scrolls.
func (a *Attempt) Move(n int) {
	last := a.rows() - 1
	if last < 0 {
		last = max(0, len(a.text(a.room.W-4))-a.list.H)
	}
	a.cursor = min(max(a.cursor+n, 0), max(last, 0))
	if (a.point == score || a.point == filter) && a.cursor < len(a.nodes) {
		a.name = a.shown.Nodes[a.nodes[a.cursor]].Node
	}
}

func (a *Attempt) Rows() int { return max(1, a.list.H-1) }

// Enter implements page.Page: it goes to the next extension point.
func (a *Attempt) Enter() tea.Cmd {
	a.turn(1)
	return nil
}

func (a *Attempt) EnterName() string   { return "next point" }
func (a *Attempt) CannotEnter() string { return "" }

// Click implements page.Page: it selects a node, an extension point or a column.
func (a *Attempt) Click(x, y int) tea.Cmd {
	if a.list.Contains(x, y) && a.top+y-a.list.Y < a.rows() {
		a.cursor = a.top + y - a.list.Y
		a.Move(0)
	}
	return nil
}

func (a *Attempt) Wheel(t page.Turn) {
	if !t.Sideways {
		a.Move(t.Rows)
	}
}
