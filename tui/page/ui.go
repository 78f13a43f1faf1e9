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

// UI is what pages, overlays and actions work with: what is shown, what is open, and what the person means.
type UI struct {
	Session *session.Session
	Frame   *session.Frame // the newest of the session
	// Width and Height are the terminal's.
	Width, Height int
	Projector     bool // it is drawn for a room
	Bell          bool // the terminal's is rung for who looks elsewhere

	Keys     *keymap.Map
	Actions  Actions
	Pages    Pages
	Overlays Overlays

	Selected Selection
	Popping  bool   // until the answer to a pop tells which pod it was
	Until    string // the condition that time runs to, until the answer tells which pod met it
	// Typed is what was typed into prompts, by their titles, the last of each last.
	Typed map[string][]string

	// Folder returns the names in a folder of this machine, those of folders with a / behind. It is called outside of Update.
	// Nil: there are no files here.
	Folder func(path string) ([]string, error)

	notices    notices
	works      []*Work
	keypresses int // how many keys were pressed
}

// Selection is the pod that the person speaks of. It is a name: the pod keeps it wherever it goes.
type Selection struct {
	Key types.NamespacedName
	Any bool
}

// Is reports whether p is the selected pod.
func (s Selection) Is(p *board.Pod) bool { return s.Any && p.Key == s.Key }

// Row reports whether p is the row that shows the selected pod.
func (s Selection) Row(f *session.Frame, p *board.Pod) bool {
	if !s.Any || s.Key != p.Key && p.Group == "" {
		return false // the row of a pod without a group shows no other: most rows are told without a look at the board
	}
	selected := s.Pod(f)
	return selected != nil && f.Board.RowOf(selected).Key == p.Key
}

// Pod returns the selected pod as it stands in f, or nil if there is none or it is not known at that
// time.
func (s Selection) Pod(f *session.Frame) *board.Pod {
	if !s.Any {
		return nil
	}
	return f.Board.Get(s.Key)
}

// Choose makes p the selected pod.
func (d *UI) Choose(p *board.Pod) { d.Selected = Selection{p.Key, true} }

// Pod is the selected pod as it stands now, or nil.
func (d *UI) Pod() *board.Pod { return d.Selected.Pod(d.Frame) }

// Press performs the action bound to a key that was pressed, or says why it is unavailable.
func (d *UI) Press(id keymap.ID, key string) tea.Cmd {
	a := d.Actions[id]
	if why := a.Refusal(); why != "" {
		return d.Refuse(why)
	}
	return a.Do(key)
}

// Do performs an action that was chosen without a key.
func (d *UI) Do(id keymap.ID) tea.Cmd { return d.Press(id, "") }

// Named is b with the name that fits the moment.
func (d *UI) Named(b keymap.Binding) keymap.Binding {
	if name := d.Actions[b.ID].Name; name != nil {
		b.Name = cmp.Or(name(), b.Name)
	}
	return b
}

// TimelineID is the ID of the timeline that is shown.
func (d *UI) TimelineID() int {
	if f := d.Frame.Fork; f != nil {
		return f.ID
	}
	return session.TheRecording
}

func (d *UI) nothingSelected() string {
	return d.Keys.Say("no pod is selected: {row-down} and {row-up} select one")
}

// NotSelected is why there is no pod to speak of.
func (d *UI) NotSelected() string {
	if !d.Selected.Any {
		return d.nothingSelected()
	}
	return ""
}

// NotQueued is why nothing can be done to the selected pod.
func (d *UI) NotQueued() string {
	p := d.Pod()
	switch {
	case !d.Selected.Any:
		return d.nothingSelected()
	case p == nil:
		return "the queue does not know " + d.Selected.Key.String() + " at this time"
	case p.Tier == queue.Scheduled:
		return d.Selected.Key.String() + " is bound: it has left the queue"
	case p.Tier == queue.Deleted:
		return d.Selected.Key.String() + " is deleted: it has left the queue"
	}
	return ""
}
