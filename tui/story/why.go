package story

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// Why is the page about the selected pod.
type Why struct {
	*page.UI
	w, h, offset int
	asked        needsQuery
}

func NewWhy(d *page.UI) *Why { return &Why{UI: d} }

// AddWhy adds the actions that recompute what the pod needs and that show its object.
func AddWhy(w *Why, all page.Actions) {
	all[keymap.Needs] = page.Command(func() {
		if w.Pages.Top() != page.Page(w) {
			w.Open()
		}
		w.Session.Diagnose(w.Selected.Key)
	}).DisabledWhen(w.NotQueued)
	object := &widget.Text{UI: w.UI}
	all[keymap.Manifest] = page.Action{Do: func(string) tea.Cmd {
		p := w.Pod()
		return object.Show(format.Safe(p.Key.String()), explain.Manifest(p))
	}}.DisabledWhen(func() string {
		if p := w.Pod(); p == nil {
			return w.NotQueued()
		}
		return ""
	})
}

// Open opens the page at its start.
func (w *Why) Open() {
	w.offset = 0
	w.Pages.Open(w)
}

// Follow implements page.Follower. It keeps what the pod needs up to date.
func (w *Why) Follow() tea.Cmd {
	f := w.Frame
	stale := f.Needs == nil || f.Needs.Pod != w.Selected.Key || f.Needs.At.After(f.Now)
	if !stale {
		age := f.Now.Sub(f.Needs.At)
		stale = age > 0 && !f.Playing || age > time.Duration(needsAge*f.Speed)
	}
	asked := needsQuery{w.Selected.Key, f.Now}
	if p := w.Pod(); p == nil || !stale || asked == w.asked {
		return nil
	}
	w.asked = asked
	w.Session.DiagnoseIfQuick(w.Selected.Key)
	return nil
}

// needsAge is after how much time, in nanoseconds, what a pod needs is computed again while time passes.
const needsAge = float64(2 * time.Second)

// needsQuery is a pod and the time for which its needs were computed.
type needsQuery struct {
	pod types.NamespacedName
	at  time.Time
}

func (w *Why) detail(alone bool) Detail {
	return Detail{Frame: w.Frame, Keys: w.Keys, Selected: w.Selected, zoomed: alone, offset: w.offset, withLane: true}
}

func (w *Why) Context() keymap.Context { return keymap.Board }
func (w *Why) Layout() string          { return "" }

// Settle implements page.Page.
func (w *Why) Settle(width, height int) {
	w.w, w.h = width, height
	if w.offset > 0 {
		w.offset = min(w.offset, w.detail(true).maxOffset(width-2, height-1))
	}
}

func (w *Why) Draw(a canvas.Area) { w.detail(true).Draw(a) }

// DrawBeside draws a small detail beside the board's log.
func (w *Why) DrawBeside(a canvas.Area) { w.detail(false).Draw(a) }

func (w *Why) Move(n int) { w.offset = max(0, w.offset+n) }
func (w *Why) Rows() int  { return max(1, w.h-2) }

func (w *Why) Enter() tea.Cmd {
	w.Pages.CloseTop()
	return nil
}
func (w *Why) EnterName() string   { return "close" }
func (w *Why) CannotEnter() string { return "" }

func (w *Why) Click(int, int) tea.Cmd { return nil }

func (w *Why) Wheel(t page.Turn) {
	if !t.Sideways {
		w.Move(t.Rows)
	}
}
