package page

import (
	"cmp"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
)

// UI is the state that pages, overlays and actions share.
type UI struct {
	Session *session.Session
	Frame   *session.Frame // the session's latest
	// Width and Height are the terminal's.
	Width, Height int
	Projector     bool // large and bold, for an audience
	Bell          bool // ring the terminal's bell when a run or long work ends

	Keys     *keymap.Map
	Actions  Actions
	Pages    Pages
	Overlays Overlays

	Selected Selection
	Popping  bool   // a pop was requested; its answer names the pod
	Until    string // the condition of the current run; its answer names the pod that met it
	// Typed is the history of prompts by their titles, oldest first.
	Typed map[string][]string

	// Arguments returns the arguments with which commands of schedq read the recording that is shown, or none.
	Arguments func() []string

	// Folder returns the names in a folder, those of folders with a trailing slash. It is called outside of Update. Nil: files are
	// not accessible.
	Folder func(path string) ([]string, error)

	notices    notices
	works      []*Work
	keypresses int
}

// Selection is the selected pod, by name: the selection follows the pod from pane to pane.
type Selection struct {
	Key types.NamespacedName
	Any bool
}

// Is reports whether p is the selected pod.
func (s Selection) Is(p *board.Pod) bool { return s.Any && p.Key == s.Key }

// Row reports whether the row of p shows the selected pod.
func (s Selection) Row(f *session.Frame, p *board.Pod) bool {
	if !s.Any || s.Key != p.Key && p.Group == "" {
		return false // decides most rows without a look-up on the board
	}
	selected := s.Pod(f)
	return selected != nil && f.Board.RowOf(selected).Key == p.Key
}

// Pod returns the selected pod in f, or nil if none is selected or f does not contain it.
func (s Selection) Pod(f *session.Frame) *board.Pod {
	if !s.Any {
		return nil
	}
	return f.Board.Get(s.Key)
}

// Choose selects p.
func (ui *UI) Choose(p *board.Pod) { ui.Selected = Selection{p.Key, true} }

// Pod returns the selected pod in the latest frame, or nil.
func (ui *UI) Pod() *board.Pod { return ui.Selected.Pod(ui.Frame) }

// Press performs the action of a pressed key, or reports why it is unavailable.
func (ui *UI) Press(id keymap.ID, key string) tea.Cmd {
	a := ui.Actions[id]
	if why := a.Refusal(); why != "" {
		return ui.Refuse(why)
	}
	return a.Do(key)
}

// Do performs an action that was chosen without a key.
func (ui *UI) Do(id keymap.ID) tea.Cmd { return ui.Press(id, "") }

// Named returns b with its current name.
func (ui *UI) Named(b keymap.Binding) keymap.Binding {
	if name := ui.Actions[b.ID].Name; name != nil {
		b.Name = cmp.Or(name(), b.Name)
	}
	return b
}

// TimelineID returns the ID of the timeline that is shown.
func (ui *UI) TimelineID() int {
	if f := ui.Frame.Fork; f != nil {
		return f.ID
	}
	return session.TheRecording
}

func (ui *UI) nothingSelected() string {
	return ui.Keys.Say("no pod is selected: {row-down} and {row-up} select one")
}

// NotSelected returns the refusal for actions that need a selected pod, or "".
func (ui *UI) NotSelected() string {
	if !ui.Selected.Any {
		return ui.nothingSelected()
	}
	return ""
}

// NotQueued returns the refusal for actions that need the selected pod to be in the queue, or "".
func (ui *UI) NotQueued() string {
	p := ui.Pod()
	switch {
	case !ui.Selected.Any:
		return ui.nothingSelected()
	case p == nil:
		return ui.Selected.Key.String() + " is not known at this time"
	case p.Tier == queue.Scheduled:
		return ui.Selected.Key.String() + " is bound: it has left the queue"
	case p.Tier == queue.Deleted:
		return ui.Selected.Key.String() + " is deleted: it has left the queue"
	}
	return ""
}
