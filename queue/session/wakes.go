package session

import (
	"slices"
	"strings"

	"github.com/schedq/schedq/queue"
)

// wakes tells which cluster events a plugin registered for. It is never modified.
type wakes struct {
	events  []string            // all labels, in the order of ClusterEvents
	plugins map[string][]string // labels by in-tree plugin; nil if the plugins are not known
}

func newWakes(plugins queue.Plugins) wakes {
	w := wakes{events: ClusterEvents()}
	if plugins == nil {
		return w
	}
	w.plugins = map[string][]string{}
	for _, name := range RejectorPlugins() {
		for i, event := range clusterEvents() {
			if plugins.Registered(name, event) {
				w.plugins[name] = append(w.plugins[name], w.events[i])
			}
		}
	}
	return w
}

// String says in a few words which pods an event moves in a what-if.
func (w wakes) String() string {
	if w.plugins == nil {
		return "no queueing hints: any event may help any rejected pod"
	}
	return "an event wakes the pods whose rejector plugins registered for it"
}

// of says which events a pod that plugins rejected waits for.
func (w wakes) of(plugins []string) string {
	var waits []string
	for _, event := range w.events {
		if slices.ContainsFunc(plugins, func(p string) bool { return slices.Contains(w.plugins[p], event) }) {
			waits = append(waits, event)
		}
	}
	known := !slices.ContainsFunc(plugins, func(p string) bool { return w.plugins[p] == nil })
	if len(waits) == 0 || !known {
		return "An event that one of them registered for wakes it."
	}
	return "Any of these may wake it: " + strings.Join(waits, ", ") + "."
}
