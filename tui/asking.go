package tui

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/sources/manifest"
)

// addAsking adds what asks the local scheduler: changes of the what-if's cluster.
func (m *model) addAsking(all map[keymap.ID]action) {
	run := command(func() { m.session.ToggleScheduler() })
	run.name = func() string {
		if f := m.frame.Fork; f != nil && f.Scheduling {
			return "you decide"
		}
		return "scheduler decides"
	}
	all[keymap.RunScheduler] = run
	all[keymap.AddNode] = action{do: m.askNode}
	all[keymap.EditNode] = action{do: m.askNodeEdit}
	all[keymap.Apply] = action{do: m.askManifest}.unless(func() string {
		if m.options.ReadManifest == nil {
			return "files can't be read from here"
		}
		return ""
	})
	all[keymap.BindClaim] = action{do: m.askClaim}
	all[keymap.Delete] = action{do: m.askDelete}
}

// askNode asks which node a new one should be like.
func (m *model) askNode() tea.Cmd {
	m.ask(prompt{
		title: "node like",
		hint:  "NODE [NAME]",
		accept: func(text string) string {
			words := append(strings.Fields(text), "")
			if len(words) < 2 || len(words) > 3 {
				return "the name of a node, and a name for the new one if you like"
			}
			m.session.AddNodeLike(words[0], words[1])
			return ""
		},
	}, m.nearestNode())
	return nil
}

// askNodeEdit asks for changes of a node.
func (m *model) askNodeEdit() tea.Cmd {
	m.ask(prompt{
		title: "edit node",
		hint:  "NODE KEY=VALUE:NoSchedule  KEY=VALUE  KEY-  cordon  uncordon",
		accept: func(text string) string {
			words := strings.Fields(text)
			if len(words) < 2 {
				return "a node's name, then its changes: KEY=VALUE:NoSchedule, KEY=VALUE, KEY-, cordon, uncordon"
			}
			m.session.EditNode(words[0], words[1:])
			return ""
		},
	}, m.nearestNode())
	return nil
}

// nearestNode is the node that the selected pod came nearest to, if that was asked for.
func (m *model) nearestNode() string {
	if n := m.frame.Needs; n != nil && n.Pod == m.selected.key && len(n.Nearest) > 0 {
		return safe(string(n.Nearest[0].Node)) + " "
	}
	return ""
}

// askManifest asks for a file and applies it. It is read outside of Update.
func (m *model) askManifest() tea.Cmd {
	m.ask(prompt{
		title: "apply",
		hint:  "FILE: kubectl's own YAML",
		accept: func(text string) string {
			path := strings.TrimSpace(text)
			if path == "" {
				return "the path of a manifest"
			}
			m.pending = func() tea.Msg {
				read, err := m.options.ReadManifest(path)
				return manifestRead{filepath.Base(path), read, err}
			}
			return ""
		},
	}, "")
	return nil
}

// manifestRead is what came of reading a manifest.
type manifestRead struct {
	name string
	read *manifest.Manifest
	err  error
}

// applied takes in a manifest that was read.
func (m *model) applied(r manifestRead) tea.Cmd {
	if r.err != nil {
		return m.tell(notice{r.err.Error(), true})
	}
	m.session.Apply(r.name, r.read.Objects)
	if len(r.read.Notices) > 0 {
		return m.tell(notice{text: r.read.Notices[0]})
	}
	return nil
}

// askClaim asks which claim to bind.
func (m *model) askClaim() tea.Cmd {
	m.ask(prompt{
		title: "bind claim",
		hint:  "[NAMESPACE/]CLAIM",
		accept: func(text string) string {
			key, ok := parseKey(text)
			if !ok {
				return "the name of a claim, or namespace/name"
			}
			m.session.BindClaim(key)
			return ""
		},
	}, "")
	return nil
}

// askDelete asks what to delete.
func (m *model) askDelete() tea.Cmd {
	m.ask(prompt{
		title: "delete",
		hint:  "pod [NAMESPACE/]NAME  or  node NAME",
		accept: func(text string) string {
			words := strings.Fields(text)
			if len(words) == 2 {
				key, ok := parseKey(words[1])
				switch {
				case ok && words[0] == "pod":
					m.session.DeleteObject("pod", key)
					return ""
				case ok && words[0] == "node":
					m.session.DeleteObject("node", types.NamespacedName{Name: key.Name})
					return ""
				}
			}
			return "pod and its name, or node and its name"
		},
	}, "")
	return nil
}

// parseKey reads "name" or "namespace/name".
func parseKey(text string) (types.NamespacedName, bool) {
	namespace, name, found := strings.Cut(strings.TrimSpace(text), "/")
	if !found {
		namespace, name = "default", namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, isName(namespace) && isName(name)
}
