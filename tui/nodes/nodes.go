package nodes

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/page"
)

// Nodes is the page of the nodes: a list of all, and all about the one at the cursor.
type Nodes struct {
	*page.Desk
	shown survey
	// asked is the moment for which the cluster was asked last, and when that was in real time; working is true while
	// its nodes are worked out.
	asked   moment
	askedAt time.Time
	working bool
	// fitAll has what a pod lacks be worked out of a large cluster, too.
	fitAll bool

	room        canvas.Rect
	list        canvas.Rect
	cursor, top int
	name        string // of the node at the cursor
}

// moment tells one state of a cluster from another.
type moment struct {
	now  time.Time
	line int
	said uint64
	pod  types.NamespacedName
}

// survey is what was worked out of a cluster: its nodes, in the order in which they are listed.
type survey struct {
	of    *explain.Cluster
	nodes []*explain.Node
	// pod is the one that the nodes are sorted for, and lacks what it lacks on each: nil where it fits. Without one, the
	// nodes are by name.
	pod     types.NamespacedName
	lacks   []*explain.NodeNeeds
	needs   *explain.Needs
	problem string
}

// New returns the page for d.
func New(d *page.Desk) *Nodes { return &Nodes{Desk: d} }

// Add adds what opens it.
func Add(n *Nodes, all page.Actions) {
	all[keymap.Nodes] = page.Action{Do: func() tea.Cmd {
		if n.Pages.Top() == page.Page(n) {
			n.Pages.CloseTop()
			return nil
		}
		return n.open()
	}}
}

func (n *Nodes) open() tea.Cmd {
	n.Pages.Open(n)
	n.asked = moment{}
	return n.Follow()
}

// Show opens the page with the cursor on the node of that name.
func (n *Nodes) Show(name string) tea.Cmd {
	n.name = name
	n.show(n.shown)
	return n.open()
}

// Reset begins with another session.
func (n *Nodes) Reset() { *n = Nodes{Desk: n.Desk} }

// often is how often the nodes are worked out anew while time passes.
const often = time.Second

// Follow takes over what a newer frame says of the cluster, and asks for more if that is another moment's.
func (n *Nodes) Follow() tea.Cmd {
	now := moment{n.Frame.Now, n.Line(), n.Frame.Reply.Number, n.Selected.Key}
	if now != n.asked && !n.working && (!n.Frame.Playing || time.Since(n.askedAt) >= often) {
		n.asked, n.askedAt = now, time.Now()
		n.Session.Survey()
	}
	c := n.Frame.Cluster
	if c == nil || c == n.shown.of && n.Selected.Key == n.shown.pod || n.working {
		return nil
	}
	n.working = true
	pod, fit := n.Selected.Key, n.Selected.Any && (n.fitAll || c.Size() <= quick)
	return page.Guarded(func() tea.Msg {
		s := look(c, pod, fit)
		return page.Ready(func() tea.Cmd {
			n.working = false
			n.show(s)
			return n.Follow()
		})
	})
}

// quick is up to how many objects what a pod lacks is worked out unasked.
const quick = 10_000

// look works out the nodes of a cluster, and if fit is true, what pod lacks on each.
func look(c *explain.Cluster, pod types.NamespacedName, fit bool) survey {
	s := survey{of: c, pod: pod, nodes: c.Nodes(), problem: c.Unknown}
	if !fit || len(s.nodes) == 0 {
		return s
	}
	needs, err := c.Fit(pod)
	switch {
	case err != nil:
		s.problem = err.Error()
	case needs != nil:
		s.needs = needs
		s.nodes, s.lacks = needs.NearestFirst(s.nodes)
	}
	return s
}

// show takes s over. The cursor stays on its node.
func (n *Nodes) show(s survey) {
	n.shown = s
	for i, node := range s.nodes {
		if string(node.Name) == n.name {
			n.cursor = i
		}
	}
}

// Listed are the nodes, in the order in which they are listed.
func (n *Nodes) Listed() []*explain.Node { return n.shown.nodes }

func (n *Nodes) Context() keymap.Context { return keymap.Board }
func (n *Nodes) Layout() string          { return "" }

// Settle implements page.Page.
func (n *Nodes) Settle(w, h int) {
	n.room = canvas.At(0, 0, w, h)
	n.list = canvas.At(0, 2, w, max(0, h-2-detailRows(h)))
	n.cursor = min(max(n.cursor, 0), max(len(n.shown.nodes)-1, 0))
	if n.list.H > 0 {
		n.top = min(max(n.top, n.cursor-n.list.H+1), n.cursor)
		n.top = min(max(n.top, 0), max(len(n.shown.nodes)-n.list.H, 0))
	}
}

// detailRows is how many rows of h the node at the cursor has.
func detailRows(h int) int {
	if h >= 24 {
		return h * 2 / 5
	}
	return h * 11 / 20
}

func (n *Nodes) Move(rows int) {
	n.cursor = min(max(n.cursor+rows, 0), max(len(n.shown.nodes)-1, 0))
	if len(n.shown.nodes) > 0 {
		n.name = string(n.shown.nodes[n.cursor].Name)
	}
}

func (n *Nodes) Rows() int { return max(1, n.list.H-1) }

// Enter works out what the selected pod lacks, where that takes long.
func (n *Nodes) Enter() tea.Cmd {
	n.fitAll = true
	n.shown.of = nil
	return n.Follow()
}

func (n *Nodes) EnterName() string { return "what it lacks" }

func (n *Nodes) CannotEnter() string {
	switch {
	case !n.Selected.Any:
		return n.NotSelected()
	case n.shown.of != nil && n.shown.of.Unknown != "":
		return "the nodes are not known"
	case n.shown.needs != nil || n.working:
		return "it is told already"
	}
	return ""
}

// Click implements page.Page: it goes to a node.
func (n *Nodes) Click(x, y int) tea.Cmd {
	if n.list.Contains(x, y) && n.top+y-n.list.Y < len(n.shown.nodes) {
		n.cursor = n.top + y - n.list.Y
		n.Move(0)
	}
	return nil
}

func (n *Nodes) Wheel(t page.Turn) {
	if !t.Sideways {
		n.Move(t.Rows)
	}
}
