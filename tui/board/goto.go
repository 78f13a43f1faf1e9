package board

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/tui/widget"
)

// askPod asks for a pod's name and goes to the pod.
func (b *Board) askPod() tea.Cmd {
	return widget.Ask(b.UI, widget.Prompt{
		Title:    "go to pod",
		Hint:     "[NAMESPACE/]NAME or a part of it; empty: the pod that has waited longest",
		Complete: func(text string) []string { return widget.PodWords(b.UI, text) },
		Accept: func(text string) string {
			p := b.find(strings.TrimSpace(text))
			if p == nil {
				return "no pod with this name is in the queue at " + b.Frame.Zone.Second(b.Frame.Now) + " or has left it lately"
			}
			b.Show(p.Key)
			return ""
		},
	}, "")
}

// showLongest goes to the pod that has waited longest.
func (b *Board) showLongest() tea.Cmd {
	b.Show(b.Frame.Board.LongestWaiting().Key)
	return nil
}

// find returns the pod with that name, or else the first whose name contains text, or nil.
func (b *Board) find(text string) *board.Pod {
	if text == "" {
		return b.Frame.Board.LongestWaiting()
	}
	for _, key := range b.Frame.Board.Named(text, widget.MaxCandidates) {
		if widget.PodWord(key) == text || key.String() == text {
			return b.Frame.Board.Get(key)
		}
	}
	for _, key := range b.Frame.Board.Named(text, 1) {
		return b.Frame.Board.Get(key)
	}
	return nil
}

// Show selects a pod and focuses its pane. If the pod has left the queue, Show explains it. A
// filter that hides the pod is cleared.
func (b *Board) Show(key types.NamespacedName) {
	p := b.Frame.Board.Get(key)
	if p == nil {
		return
	}
	b.Choose(p)
	for id := range b.panes {
		for _, tier := range b.panes[id].tiers {
			if tier != p.Listed() {
				continue
			}
			if _, here := b.panes[id].index(b.Frame.Board, p); !here {
				b.Session.SetFilter(filter.Filter{})
			}
			b.panes[id].loose = false
			b.setFocus(paneID(id))
		}
	}
	if p.Listed() > queue.InFlight {
		b.Why.Open()
	}
}
