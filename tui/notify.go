package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
)

// notifications are desktop notifications about the selected pod and the condition of a run. There are some only while the
// terminal has reported that it has no focus.
type notifications struct {
	blurred bool
	// watched is the selected pod, tier where it was last, and rejectors the plugins that rejected it.
	watched   page.Selection
	tier      queue.Tier
	rejectors string
	// told is when a notification was last raised about each pod, in real time.
	told map[types.NamespacedName]time.Time
}

// notifyInterval is the shortest time between two notifications about one pod.
const notifyInterval = time.Second

// maxNotification limits the width of a notification.
const maxNotification = 200

// notifyPod raises a notification if the selected pod was bound or deleted, or was rejected by other plugins than before.
func (m *model) notifyPod() tea.Cmd {
	n := &m.notifications
	p, before := m.Pod(), *n
	n.watched, n.tier, n.rejectors = m.Selected, queue.None, ""
	if p == nil {
		return nil
	}
	n.tier, n.rejectors = p.Tier, strings.Join(p.RejectorPlugins(), ", ")
	if before.watched != n.watched || before.tier == n.tier || n.tier == queue.Unschedulable && before.rejectors == n.rejectors {
		return nil
	}
	text := ""
	switch p.Tier {
	case queue.Scheduled:
		text = "bound"
		if p.Node != "" {
			text += " to " + p.Node
		}
	case queue.Unschedulable:
		text = "unschedulable, rejected by " + n.rejectors
	case queue.Deleted:
		text = "deleted"
	default:
		return nil
	}
	return m.notify(p.Key, p.Key.String()+": "+text)
}

// notify raises a notification about a pod.
func (m *model) notify(pod types.NamespacedName, text string) tea.Cmd {
	n := &m.notifications
	if !m.options.Notifications || m.options.notifier == nil || !n.blurred || time.Since(n.told[pod]) < notifyInterval {
		return nil
	}
	if n.told == nil {
		n.told = map[types.NamespacedName]time.Time{}
	}
	for other, at := range n.told {
		if time.Since(at) >= notifyInterval {
			delete(n.told, other)
		}
	}
	n.told[pod] = time.Now()
	return tea.Raw(m.options.notifier(canvas.Truncate(format.Safe(text), maxNotification)))
}

// notifier returns the sequence that raises a notification.
type notifier func(text string) string

// notifierOf returns the notifier for a terminal: OSC 99 of kitty, OSC 777 of rxvt, or OSC 9, which most others have. They
// ignore what they do not know.
func notifierOf(getenv func(string) string) notifier {
	name := getenv("TERM")
	switch {
	case name == "", name == "dumb", name == "linux":
		return nil
	case strings.Contains(name, "kitty"), getenv("KITTY_WINDOW_ID") != "":
		return func(text string) string { return "\x1b]99;;schedq: " + text + "\x1b\\" }
	case strings.HasPrefix(name, "foot"), strings.HasPrefix(name, "rxvt"), getenv("VTE_VERSION") != "":
		return func(text string) string { return "\x1b]777;notify;schedq;" + text + "\a" }
	}
	return func(text string) string { return "\x1b]9;schedq: " + text + "\a" } // the name first: numbers have meanings there
}
