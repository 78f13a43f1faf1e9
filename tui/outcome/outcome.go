package outcome

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	queueboard "github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/nodes"
	"github.com/schedq/schedq/tui/page"
)

// Panel is the page of one answer. It is docked below the other pages; keys apply to it once the
// user goes there.
type Panel struct {
	*page.UI
	board *board.Board
	nodes *nodes.Nodes

	answer
	rows []row
	// older is the last known cluster. From a newer one, the panel learns which words of the answer
	// are node names.
	older *explain.Cluster

	text        []string // the answer, wrapped
	list        canvas.Rect
	cursor, top int
}

// answer is what the session replied to an action.
type answer struct {
	said session.Reply
	at   time.Time // model time
	// fork is the what-if that it is about, and injected how many actions that had then.
	fork, injected int
}

// holds reports whether f shows the what-if of the answer, and the action was not undone.
func (a answer) holds(f *session.Frame) bool {
	return f.Fork != nil && f.Fork.ID == a.fork && f.Fork.Injected >= a.injected
}

// row is a node or a pod in the answer.
type row struct {
	node string
	pod  *queueboard.Pod
}

// New returns the panel of d. It selects pods on b and opens nodes in n.
func New(d *page.UI, b *board.Board, n *nodes.Nodes) *Panel {
	return &Panel{UI: d, board: b, nodes: n}
}

// Add adds the action that goes to the panel.
func Add(p *Panel, all page.Actions) {
	all[keymap.Outcome] = page.Do(p.goThere).DisabledWhen(func() string {
		if p.said.Number == 0 {
			return "there is no what-if result yet"
		}
		return ""
	})
}

// Reset prepares the panel for another session.
func (p *Panel) Reset() { *p = Panel{UI: p.UI, board: p.board, nodes: p.nodes} }

// OnFrame closes the panel and forgets its answer when another what-if or the recording is shown, or the
// action was undone.
func (p *Panel) OnFrame() {
	if p.said.Number != 0 && !p.holds(p.Frame) {
		p.Pages.Close(p)
		p.Reset()
	}
}

// Take keeps an answer about moved pods, or one longer than a line, and returns a function that goes to
// it, or nil for other answers. If docks is true, it opens the panel for an answer that needs more than a
// line.
func (p *Panel) Take(said session.Reply, docks bool) (open func() tea.Cmd) {
	long := canvas.Width(format.Safe(said.Text)) > p.Width-2
	if said.Refused || p.Frame.Fork == nil || len(said.Moved) == 0 && !long {
		return nil
	}
	a := answer{said, p.Frame.Now, p.Frame.Fork.ID, p.Frame.Fork.Injected}
	p.put(a)
	if docks && (len(said.Moved) > 1 || long) {
		p.Pages.Dock(p)
	}
	return func() tea.Cmd {
		if !a.holds(p.Frame) {
			return p.Refuse("its what-if is not shown, or the action was undone")
		}
		p.put(a)
		return p.goThere()
	}
}

func (p *Panel) put(a answer) {
	if p.said.Number == a.said.Number {
		return
	}
	p.answer, p.rows, p.older, p.cursor, p.top = a, nil, p.Frame.Cluster, 0, 0
	for _, pod := range a.said.Moved {
		p.rows = append(p.rows, row{pod: pod})
	}
	p.Session.Survey()
}

// goThere focuses the panel, or closes it if it has the focus. In a lesson, whose text is below the
// board, the panel is an ordinary page.
func (p *Panel) goThere() tea.Cmd {
	switch {
	case p.Pages.Top() == page.Page(p):
		p.Pages.CloseTop()
		return nil
	case p.Pages.Lowest().Context() == keymap.Lesson:
		p.Pages.Open(p)
	default:
		p.Pages.Dock(p)
		p.Pages.FocusDock()
	}
	return p.Follow()
}

// maxNodes limits how many node names are compared with the words of the answer.
const maxNodes = 20_000

// Follow implements page.Follower. Once the cluster's nodes are known, it lists those in the answer
// before the pods.
func (p *Panel) Follow() tea.Cmd {
	c := p.Frame.Cluster
	if c == p.older {
		return nil
	}
	p.older = c
	p.rows = slices.DeleteFunc(p.rows, func(r row) bool { return r.pod == nil })
	names := map[string]bool{}
	for _, name := range c.Names("Node", maxNodes) {
		names[name] = true
	}
	var named []row
	for word := range strings.FieldsSeq(p.said.Text) {
		if word = strings.Trim(word, "(),;:"); names[word] {
			names[word] = false
			named = append(named, row{node: word})
		}
	}
	p.rows = append(named, p.rows...)
	return nil
}

func (p *Panel) Context() keymap.Context { return keymap.Board }
func (p *Panel) Layout() string          { return "" }

// Height returns the number of rows the panel wants out of w by h cells: at most two fifths.
func (p *Panel) Height(w, h int) int {
	return min(max(5, h*2/5), 1+len(p.wrapped(w))+max(1, len(p.rows)))
}

func (p *Panel) wrapped(w int) []string { return canvas.Wrap(format.Safe(p.said.Text), max(1, w-3)) }

// Settle implements page.Page.
func (p *Panel) Settle(w, h int) {
	p.text = p.wrapped(w)
	p.text = p.text[:min(len(p.text), max(1, (h-1)/2))]
	p.list = canvas.At(0, 1+len(p.text), w, max(0, h-1-len(p.text)))
	p.cursor = min(max(p.cursor, 0), max(len(p.rows)-1, 0))
	p.top = min(max(p.top, p.cursor-p.list.H+1), p.cursor)
	p.top = min(max(p.top, 0), max(len(p.rows)-p.list.H, 0))
}

// Move implements page.Page. It selects the pod at the cursor on the board.
func (p *Panel) Move(n int) {
	p.cursor = min(max(p.cursor+n, 0), max(len(p.rows)-1, 0))
	if len(p.rows) > 0 && p.rows[p.cursor].pod != nil {
		p.Choose(p.rows[p.cursor].pod)
	}
}

func (p *Panel) Rows() int { return max(1, p.list.H-1) }

// Enter implements page.Page. It shows the pod or node at the cursor in detail.
func (p *Panel) Enter() tea.Cmd {
	r := p.rows[p.cursor]
	if r.node != "" {
		return p.nodes.Show(r.node)
	}
	p.Choose(r.pod)
	p.board.Why.Open()
	p.Session.DiagnoseIfQuick(r.pod.Key)
	return nil
}

func (p *Panel) EnterName() string {
	if p.CannotEnter() == "" && p.rows[p.cursor].node != "" {
		return "node"
	}
	return "why?"
}

func (p *Panel) CannotEnter() string {
	if p.cursor >= len(p.rows) {
		return "the answer names no pod or node"
	}
	return ""
}

// Click implements page.Page. It goes to a row, or opens the one at the cursor.
func (p *Panel) Click(x, y int) tea.Cmd {
	p.Pages.FocusDock()
	n := p.top + y - p.list.Y
	if !p.list.Contains(x, y) || n >= len(p.rows) {
		return nil
	}
	was := p.cursor
	p.cursor = n
	p.Move(0)
	if was == n {
		return p.Enter()
	}
	return nil
}

func (p *Panel) Wheel(t page.Turn) {
	if !t.Sideways {
		p.cursor = min(max(p.cursor+t.Rows, 0), max(len(p.rows)-1, 0))
	}
}
