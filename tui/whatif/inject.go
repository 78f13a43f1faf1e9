package whatif

import (
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// whatIfs are the actions of what-ifs.
type whatIfs struct {
	*page.UI
	comparison *comparison
	// read reads a manifest from this machine. Nil if files can't be read.
	read func(path string) (*manifest.Manifest, error)
}

// Add adds the actions of what-ifs. They read manifests with read, unless it is nil.
func Add(d *page.UI, b *board.Board, read func(path string) (*manifest.Manifest, error), all page.Actions) {
	w := whatIfs{d, &comparison{UI: d, board: b}, read}
	w.addInjecting(all)
	w.addScheduling(all)
	w.addAsking(all)
	w.addForking(all)
	for _, id := range forking {
		all[id] = w.explicitly(id, all[id])
	}
}

// forking are the actions that need a what-if.
var forking = [...]keymap.ID{
	keymap.InjectEvent, keymap.MoveAll, keymap.AddPod, keymap.Activate, keymap.DeletePod, keymap.OpenGate, keymap.FlushBackoff,
	keymap.FlushLeft, keymap.RunScheduler, keymap.AddNode, keymap.EditNode, keymap.Apply, keymap.BindClaim, keymap.Delete,
}

// explicitly returns the action so that outside of a what-if it asks before it starts one.
func (w whatIfs) explicitly(id keymap.ID, a page.Action) page.Action {
	do := a.Do
	a.Do = func(key string) tea.Cmd {
		if w.Frame.Fork != nil {
			return do(key)
		}
		return w.askToFork(id, func() tea.Cmd {
			if why := a.Refusal(); why != "" {
				return w.Refuse(why) // time went on
			}
			return do(key) // the session forks
		})
	}
	return a
}

// askToFork asks whether to start a what-if for an action, and performs it there.
func (w whatIfs) askToFork(id keymap.ID, do func() tea.Cmd) tea.Cmd {
	b, _ := w.Keys.ByID(id)
	action := w.Named(b).Name
	switch id {
	case keymap.Activate, keymap.DeletePod, keymap.OpenGate:
		action += " " + format.Safe(w.Selected.Key.String())
	}
	shown, stay := "The recording does not change", "stay in the recording"
	if w.Frame.Live != nil {
		shown, stay = "The cluster is not touched", "stay with the cluster"
	}
	note := shown + w.Keys.Say(": a what-if is a copy of the queue inside schedq. {what-if} leaves it.")
	return widget.OpenList(w.UI, widget.List{Title: "start a what-if?", Items: []widget.Item{
		{Text: "start a what-if: " + action, Note: note}, {Text: stay, Note: note},
	}, Choose: func(chosen []int) tea.Cmd {
		if chosen[0] > 0 {
			return nil
		}
		return do()
	}}, 0)
}

// addInjecting adds the injections.
func (w whatIfs) addInjecting(all page.Actions) {
	all[keymap.InjectEvent] = page.Do(w.chooseInjection)
	all[keymap.MoveAll] = page.Command(func() { w.Session.MoveAll() }).DisabledWhen(w.noneToMove)
	all[keymap.AddPod] = page.Do(w.askPod)
	all[keymap.Activate] = page.Command(func() { w.Session.Activate(w.Selected.Key) }).DisabledWhen(w.notWaiting)
	all[keymap.DeletePod] = page.Command(func() { w.Session.DeletePod(w.Selected.Key) }).DisabledWhen(w.NotQueued)
	all[keymap.OpenGate] = page.Command(func() { w.Session.OpenGate(w.Selected.Key) }).DisabledWhen(w.notGated)
	all[keymap.FlushBackoff] = page.Command(func() { w.Session.FlushBackoff() }).DisabledWhen(func() string {
		if w.Frame.Board.Total(queue.Backoff) == 0 {
			return "backoffQ is empty"
		}
		return ""
	})
	all[keymap.FlushLeft] = page.Command(func() { w.Session.FlushLeftover() }).DisabledWhen(w.noneUnschedulable)
}

// noneToMove says why a move request would have no effect. Pods in flight replay it.
func (w whatIfs) noneToMove() string {
	if w.Frame.Board.Total(queue.InFlight) > 0 {
		return ""
	}
	return w.noneUnschedulable()
}

func (w whatIfs) noneUnschedulable() string {
	if w.Frame.Board.Total(queue.Unschedulable)+w.Frame.Board.Total(queue.Gated) == 0 {
		return "no pod is unschedulable or gated"
	}
	return ""
}

// notWaiting says why the selected pod can't be activated.
func (w whatIfs) notWaiting() string {
	if why := w.NotQueued(); why != "" {
		return why
	}
	switch p := w.Pod(); p.Tier {
	case queue.Active:
		return w.Selected.Key.String() + " is already in activeQ"
	case queue.InFlight:
		return w.Selected.Key.String() + " is in flight: its attempt is running"
	}
	return ""
}

// notGated says why the selected pod has no gate to open.
func (w whatIfs) notGated() string {
	if why := w.NotQueued(); why != "" {
		return why
	}
	if w.Pod().Tier != queue.Gated {
		return w.Selected.Key.String() + " is not gated"
	}
	return ""
}

// chooseInjection lists the injections with their effects, and performs the chosen one. Time stands
// still meanwhile, so the effects stay correct.
func (w whatIfs) chooseInjection() tea.Cmd {
	names := session.Injectables()
	w.Session.Preview(names...)
	l := widget.List{
		Title:  "inject: what would move now",
		Closed: func() { w.Session.Preview() },
		Choose: func(chosen []int) tea.Cmd {
			w.Session.Inject(names[chosen[0]])
			return nil
		},
		OnFrame: func(l *widget.List, f *session.Frame) {
			for i, p := range f.Previews {
				l.Items[i].Note = "It " + p.String() + "."
				l.Items[i].Aside = strings.TrimPrefix(p.String(), "would move ")
				l.Items[i].Disabled = p.Moved == 0
			}
		},
	}
	for _, name := range names {
		l.Items = append(l.Items, widget.Item{Text: name, Note: "…"})
	}
	return widget.OpenList(w.UI, l, 0)
}

// askPod asks for a new pod and adds it.
func (w whatIfs) askPod() tea.Cmd {
	return widget.Ask(w.UI, widget.Prompt{
		Title: "new pod",
		Hint:  "name [priority] [gated]",
		Accept: func(text string) string {
			pod, err := parsePod(text)
			if err != nil {
				return err.Error()
			}
			w.Session.AddPod(pod)
			w.Selected = page.Selection{Key: pod.Key, Any: true}
			return ""
		},
	}, "")
}

// parsePod parses "name" or "namespace/name", followed by a priority and the word gated in any
// order.
func parsePod(text string) (session.NewPod, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return session.NewPod{}, errors.New("a pod needs a name")
	}
	namespace, name, found := strings.Cut(words[0], "/")
	if !found {
		namespace, name = "default", words[0]
	}
	if !isName(namespace) || !isName(name) {
		return session.NewPod{}, errors.New(`invalid name: use lowercase letters, digits, "-" or "." in it`)
	}
	pod := session.NewPod{Key: types.NamespacedName{Namespace: namespace, Name: name}}
	for _, word := range words[1:] {
		if word == "gated" {
			pod.Gated = true
			continue
		}
		priority, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return session.NewPod{}, errors.New("invalid priority: " + format.Safe(word))
		}
		pod.Priority = int32(priority)
	}
	return pod, nil
}

// isName reports whether s is a valid pod name.
func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return false
		}
	}
	return true
}
