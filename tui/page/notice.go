package page

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Notice is a message on the status line: the result of a key, or news.
type Notice struct {
	Text string
	// Refused is true if a command could not be carried out, NotFound if a search found nothing.
	Refused, NotFound bool
	// Open, if there is one, shows what the text is about.
	Open func() tea.Cmd
}

// Full returns the text with what was refused in front.
func (n Notice) Full() string {
	switch {
	case n.NotFound:
		return "not found: " + n.Text
	case n.Refused:
		return "can't: " + n.Text
	}
	return n.Text
}

// Message is a notice that was told, and the model's time by then.
type Message struct {
	Notice
	At time.Time
}

const (
	// NoticeTime is how long a notice stays without a key press.
	NoticeTime = 8 * time.Second
	// maxMessages is how many past notices are kept.
	maxMessages = 200
)

// notices are shown one at a time, each until a key is pressed or NoticeTime is over.
type notices struct {
	queue []Notice
	// fresh counts the notices at the head of the queue that answer the last key. They precede the others.
	fresh int
	// turn counts the notices that have been at the head.
	turn     int
	messages []Message
}

// Notice returns the notice on the status line, if any.
func (ui *UI) Notice() Notice {
	if len(ui.notices.queue) == 0 {
		return Notice{}
	}
	return ui.notices.queue[0]
}

// NoticesBehind returns how many notices wait behind the one shown.
func (ui *UI) NoticesBehind() int { return max(0, len(ui.notices.queue)-1) }

// Messages returns the last notices, oldest first. Callers must not modify them.
func (ui *UI) Messages() []Message { return ui.notices.messages }

// ShowNotice shows the answer to the last key.
func (ui *UI) ShowNotice(n Notice) tea.Cmd {
	at := min(ui.notices.fresh, len(ui.notices.queue))
	ui.notices.fresh = at + 1
	return ui.insert(at, n)
}

// QueueNotice shows news, after all other notices.
func (ui *UI) QueueNotice(n Notice) tea.Cmd { return ui.insert(len(ui.notices.queue), n) }

func (ui *UI) insert(at int, n Notice) tea.Cmd {
	all := &ui.notices
	all.messages = append(all.messages, Message{n, ui.Frame.Now})
	all.messages = all.messages[max(0, len(all.messages)-maxMessages):]
	all.queue = slices.Insert(all.queue, at, n)
	if at > 0 {
		return nil
	}
	return ui.showHead()
}

// Answer reports what an action did.
func (ui *UI) Answer(text string) tea.Cmd { return ui.ShowNotice(Notice{Text: text}) }

// Refuse reports why an action is unavailable.
func (ui *UI) Refuse(why string) tea.Cmd { return ui.ShowNotice(Notice{Text: why, Refused: true}) }

// OnKey ends the notice on the status line because a key was pressed. A notice that a prompt covers stays.
func (ui *UI) OnKey() tea.Cmd {
	ui.notices.fresh = 0
	ui.keypresses++
	if ui.Overlays.Typing() {
		return nil
	}
	return ui.nextNotice()
}

// ClearNotices removes all notices and messages.
func (ui *UI) ClearNotices() {
	ui.notices.queue, ui.notices.messages = nil, nil
	ui.notices.turn++
}

// Keypresses returns how many keys were pressed.
func (ui *UI) Keypresses() int { return ui.keypresses }

func (ui *UI) nextNotice() tea.Cmd {
	all := &ui.notices
	if len(all.queue) == 0 {
		return nil
	}
	all.queue, all.fresh = all.queue[1:], max(0, all.fresh-1)
	return ui.showHead()
}

// showHead shows the notice at the head of the queue for NoticeTime.
func (ui *UI) showHead() tea.Cmd {
	ui.notices.turn++
	turn := ui.notices.turn
	if len(ui.notices.queue) == 0 {
		return nil
	}
	return tea.Tick(NoticeTime, func(time.Time) tea.Msg {
		return Ready(func() tea.Cmd {
			switch {
			case turn != ui.notices.turn:
				return nil
			case ui.Overlays.Typing():
				return ui.showHead()
			}
			return ui.nextNotice()
		})
	})
}
