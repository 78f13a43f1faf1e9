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

// Nodes is the page of the nodes: a list, and the node at the cursor in detail.
type Nodes struct {
	*page.UI
	shown survey
	// asked is the moment for which the cluster was last requested, askedAt the real time of that.
	// working is true while the nodes are computed.
	asked   moment
	askedAt time.Time
	working bool
	// fitAll computes what a pod lacks even in a large cluster.
	fitAll bool

	room        canvas.Rect
	list        canvas.Rect
	cursor, top int
	name        string // of the node at the cursor
}

// moment identifies a state of the cluster.
type moment struct {
	now  time.Time
	line int
	said uint64
	pod  types.NamespacedName
}

// survey is the result of a computation: the nodes in list order.
type survey struct {
	of    *explain.Cluster
	nodes []*explain.Node
	// pod is the pod the nodes are sorted for. lacks is what it lacks on each node, nil where it
	// fits. Without a pod, the nodes are sorted by name.
	pod     types.NamespacedName
	lacks   []*explain.NodeNeeds
	needs   *explain.Needs
	problem string
}

// New returns the page for d.
func New(d *page.UI) *Nodes { return &Nodes{UI: d} }

// Add adds the action that opens the page.
func Add(n *Nodes, all page.Actions) {
	all[keymap.Nodes] = page.Action{Do: func(string) tea.Cmd {
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

// Show opens the page with the cursor on the node with that name.
func (n *Nodes) Show(name string) tea.Cmd {
	n.name = name
	n.show(n.shown)
	return n.open()
}

// Reset prepares the page for another session.
func (n *Nodes) Reset() { *n = Nodes{UI: n.UI} }

// surveyInterval is the shortest interval between computations during playback.
const surveyInterval = time.Second

// Follow updates the page for a newer frame, and requests the cluster if the frame shows another
// moment.
func (n *Nodes) Follow() tea.Cmd {
	now := moment{n.Frame.Now, n.TimelineID(), n.Frame.Reply.Number, n.Selected.Key}
	if now != n.asked && !n.working && (!n.Frame.Playing || time.Since(n.askedAt) >= surveyInterval) {
		n.asked, n.askedAt = now, time.Now()
		n.Session.Survey()
	}
	c := n.Frame.Cluster
	if c == nil || c == n.shown.of && n.Selected.Key == n.shown.pod || n.working {
		return nil
	}
	n.working = true
	pod, fit := n.Selected.Key, n.Selected.Any && (n.fitAll || c.Size() <= quickLimit)
	return page.Guarded(func() tea.Msg {
		s := surveyCluster(c, pod, fit)
		return page.Ready(func() tea.Cmd {
			n.working = false
			n.show(s)
			return n.Follow()
		})
	})
}

// quickLimit is the number of objects up to which what a pod lacks is computed without asking.
const quickLimit = 10_000

// surveyCluster computes the nodes of a cluster and, if fit is true, what pod lacks on each.
func surveyCluster(c *explain.Cluster, pod types.NamespacedName, fit bool) survey {
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

// show displays s. The cursor stays on its node.
func (n *Nodes) show(s survey) {
	n.shown = s
	for i, node := range s.nodes {
		if string(node.Name) == n.name {
			n.cursor = i
		}
	}
}

// Listed returns the nodes in list order.
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

// detailRows returns how many of h rows show the node at the cursor.
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

// Enter computes what the selected pod lacks where that takes long.
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
		return "the nodes are unknown"
	case n.shown.needs != nil || n.working:
		return "already shown"
	}
	return ""
}

// Click implements page.Page: it selects a node.
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
