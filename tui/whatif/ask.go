package whatif

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// addAsking adds the actions that ask the local scheduler by changing the what-if's cluster.
func (w whatIfs) addAsking(all page.Actions) {
	all[keymap.RunScheduler] = page.Command(func() { w.Session.ToggleScheduler() }).NamedBy(func() string {
		if f := w.Frame.Fork; f != nil && f.Scheduling {
			return "you decide"
		}
		return "scheduler decides"
	})
	all[keymap.AddNode] = page.Do(w.askNode)
	all[keymap.EditNode] = page.Do(w.askNodeEdit)
	all[keymap.Apply] = page.Do(w.askManifest).DisabledWhen(func() string {
		if w.read == nil {
			return "this session can't read files"
		}
		return ""
	})
	all[keymap.BindClaim] = page.Do(w.askClaim)
	all[keymap.Delete] = page.Do(w.askDelete)
}

// askNode asks for a node to copy.
func (w whatIfs) askNode() tea.Cmd {
	nodes := w.names("Node")
	return widget.Ask(w.UI, widget.Prompt{
		Title:    "node like",
		Complete: nodes.completing(1),
		Hint:     "NODE [NAME]",
		Accept: func(text string) string {
			words := append(strings.Fields(text), "")
			if len(words) < 2 || len(words) > 3 {
				return "type a node's name, and optionally a name for the new node"
			}
			if wrong := nodes.unknown(words[0]); wrong != "" {
				return wrong
			}
			w.Session.AddNodeLike(words[0], words[1])
			return ""
		},
	}, w.nearestNode())
}

// askNodeEdit asks for changes to a node.
func (w whatIfs) askNodeEdit() tea.Cmd {
	nodes := w.names("Node")
	return widget.Ask(w.UI, widget.Prompt{
		Title:    "edit node",
		Complete: nodes.completing(1),
		Hint:     "NODE KEY=VALUE:NoSchedule  KEY=VALUE  KEY-  cordon  uncordon",
		Accept: func(text string) string {
			words := strings.Fields(text)
			if len(words) < 2 {
				return "type a node's name, then changes: KEY=VALUE:NoSchedule, KEY=VALUE, KEY-, cordon, uncordon"
			}
			if wrong := nodes.unknown(words[0]); wrong != "" {
				return wrong
			}
			w.Session.EditNode(words[0], words[1:])
			return ""
		},
	}, w.nearestNode())
}

// nearestNode returns the node nearest to fitting the selected pod, if known.
func (w whatIfs) nearestNode() string {
	if n := w.Frame.Needs; n != nil && n.Pod == w.Selected.Key && len(n.Nearest) > 0 {
		return format.Safe(string(n.Nearest[0].Node)) + " "
	}
	return ""
}

// askManifest asks for a file and applies it. The file is read outside Update.
func (w whatIfs) askManifest() tea.Cmd {
	var path string
	return widget.Ask(w.UI, widget.Prompt{
		Title: "apply",
		Hint:  "FILE: a manifest in YAML",
		Paths: widget.NewPaths(w.UI, 0),
		Accept: func(text string) string {
			if path = strings.TrimSpace(text); path == "" {
				return "type the path of a manifest"
			}
			return ""
		},
		After: func() tea.Msg {
			read, err := w.read(path)
			return page.Ready(func() tea.Cmd { return w.applied(filepath.Base(path), read, err) })
		},
	}, "")
}

// applied applies a manifest, or reports why it could not be read.
func (w whatIfs) applied(name string, read *manifest.Manifest, err error) tea.Cmd {
	if err != nil {
		return w.Refuse(err.Error())
	}
	w.Session.Apply(name, read.Objects)
	var all []tea.Cmd
	for _, notice := range read.Notices {
		all = append(all, w.QueueNotice(page.Notice{Text: notice}))
	}
	if len(read.Skipped) > 0 {
		all = append(all, w.QueueNotice(page.Notice{Text: "skipped, because the scheduler does not watch them: " + strings.Join(read.Skipped, ", ")}))
	}
	return tea.Batch(all...)
}

// askClaim asks for a claim to bind.
func (w whatIfs) askClaim() tea.Cmd {
	claims := w.names("PersistentVolumeClaim")
	return widget.Ask(w.UI, widget.Prompt{
		Title:    "bind claim",
		Complete: claims.completing(1),
		Hint:     "[NAMESPACE/]CLAIM",
		Accept: func(text string) string {
			key, ok := parseKey(text)
			if !ok {
				return "type a claim's name, or namespace/name"
			}
			if wrong := claims.unknown(strings.TrimPrefix(key.String(), "default/")); wrong != "" {
				return wrong
			}
			w.Session.BindClaim(key)
			return ""
		},
	}, "")
}

// askDelete asks for a pod or node to delete.
func (w whatIfs) askDelete() tea.Cmd {
	nodes := w.names("Node")
	return widget.Ask(w.UI, widget.Prompt{
		Title: "delete",
		Complete: func(text string) []string {
			switch words := strings.Fields(text); {
			case strings.HasPrefix(text, "pod "):
				return widget.PodWords(w.UI, text)
			case strings.HasPrefix(text, "node "):
				return nodes.completing(2)(text)
			case len(words) < 2:
				return widget.Starting(text, []string{"pod", "node"})
			}
			return nil
		},
		Hint: "pod [NAMESPACE/]NAME  or  node NAME",
		Accept: func(text string) string {
			words := strings.Fields(text)
			if len(words) == 2 {
				key, ok := parseKey(words[1])
				switch {
				case ok && words[0] == "pod":
					w.Session.DeleteObject("pod", key)
					return ""
				case ok && words[0] == "node":
					if wrong := nodes.unknown(key.Name); wrong != "" {
						return wrong
					}
					w.Session.DeleteObject("node", types.NamespacedName{Name: key.Name})
					return ""
				}
			}
			return "type pod or node, then its name"
		},
	}, "")
}

// parseKey parses "name" or "namespace/name".
func parseKey(text string) (types.NamespacedName, bool) {
	namespace, name, found := strings.Cut(strings.TrimSpace(text), "/")
	if !found {
		namespace, name = "default", namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, isName(namespace) && isName(name)
}
