package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// showMessages lists what was said, the newest first. Choosing a message opens what it is about.
func (m *model) showMessages() tea.Cmd {
	messages := slices.Clone(m.Messages())
	slices.Reverse(messages)
	l := widget.List{Title: "messages, the newest first", NoteRows: 5, Choose: func(chosen []int) tea.Cmd {
		if open := messages[chosen[0]].Open; open != nil {
			return open()
		}
		return nil
	}}
	for _, message := range messages {
		l.Items = append(l.Items, messageItem(message))
	}
	return widget.OpenList(m.Desk, l, 0)
}

func messageItem(message page.Message) widget.Item {
	text := format.Safe(message.Text)
	if message.Refused {
		text = "can't: " + text
	}
	it := widget.Item{Text: format.Second(message.At) + "  " + text, Note: text}
	if message.Open != nil {
		it.Aside = " opens"
	}
	return it
}

// showOutcome lists every pod that what was asked moved, and where it is now. Choosing one selects it on the board.
func (m *model) showOutcome(said session.Said) tea.Cmd {
	l := widget.List{Title: "what moved", Choose: func(chosen []int) tea.Cmd {
		m.Choose(said.Moved[chosen[0]])
		return nil
	}}
	for _, pod := range said.Moved {
		l.Items = append(l.Items, outcomeItem(pod, said.Text))
	}
	return widget.OpenList(m.Desk, l, 0)
}

func outcomeItem(pod *session.Pod, note string) widget.Item {
	where := theme.Provenance(pod.Observed) + " " + theme.TierName(pod.Tier)
	switch plugins := pod.RejectorPlugins(); {
	case pod.Tier == queue.Scheduled && pod.Node != "":
		where += " on " + pod.Node
	case pod.Tier == queue.Gated:
		where += " by " + pod.GatingPlugin
	case len(plugins) > 0:
		where += " rejected by " + strings.Join(plugins, ", ")
	}
	return widget.Item{Text: format.Safe(pod.Key.String()), Aside: " " + format.Safe(where), Note: format.Safe(where + " — " + note)}
}
