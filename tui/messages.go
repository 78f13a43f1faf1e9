package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// showMessages lists the messages, newest first. Choosing one opens its details.
func (m *model) showMessages() tea.Cmd {
	messages := slices.Clone(m.Messages())
	slices.Reverse(messages)
	l := widget.List{Title: "messages, newest first", NoteRows: 5, Choose: func(chosen []int) tea.Cmd {
		if open := messages[chosen[0]].Open; open != nil {
			return open()
		}
		return nil
	}}
	for _, message := range messages {
		l.Items = append(l.Items, messageItem(message, m.Frame.Zone))
	}
	return widget.OpenList(m.UI, l, 0)
}

func messageItem(message page.Message, zone words.Zone) widget.Item {
	text := format.Safe(message.Full())
	it := widget.Item{Text: zone.Second(message.At) + "  " + text, Note: text}
	if message.Open != nil {
		it.Aside = " opens"
	}
	return it
}
