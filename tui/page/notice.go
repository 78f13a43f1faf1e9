package page

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Notice is something that the person is told: an answer to a key, or what has happened meanwhile.
type Notice struct {
	Text    string
	Refused bool
	// Open, if there is one, shows what the text is about.
	Open func() tea.Cmd
}

// Message is a notice that was told, and the model's time by then.
type Message struct {
	Notice
	At time.Time
}

const (
	// NoticeTime is how long a notice stays if no key is pressed.
	NoticeTime = 8 * time.Second
	// maxMessages is how many of the last notices can be read again.
	maxMessages = 200
)

// notices are told one after the other, each until a key is pressed or NoticeTime is over.
type notices struct {
	queue []Notice
	// fresh is how many of the queue answer the last key: they come before those that nobody asked for.
	fresh int
	// turn counts what has stood at the head of the queue.
	turn     int
	messages []Message
}

// Notice is the one that is shown, or none.
func (d *UI) Notice() Notice {
	if len(d.notices.queue) == 0 {
		return Notice{}
	}
	return d.notices.queue[0]
}

// NoticesBehind is how many are told after the one that is shown.
func (d *UI) NoticesBehind() int { return max(0, len(d.notices.queue)-1) }

// Messages are the last notices, the oldest first. They must not be modified.
func (d *UI) Messages() []Message { return d.notices.messages }

// ShowNotice shows a notice that answers the last key.
func (d *UI) ShowNotice(n Notice) tea.Cmd {
	at := min(d.notices.fresh, len(d.notices.queue))
	d.notices.fresh = at + 1
	return d.insert(at, n)
}

// QueueNotice shows a notice that nobody waits for, behind all others.
func (d *UI) QueueNotice(n Notice) tea.Cmd { return d.insert(len(d.notices.queue), n) }

func (d *UI) insert(at int, n Notice) tea.Cmd {
	all := &d.notices
	all.messages = append(all.messages, Message{n, d.Frame.Now})
	all.messages = all.messages[max(0, len(all.messages)-maxMessages):]
	all.queue = slices.Insert(all.queue, at, n)
	if at > 0 {
		return nil
	}
	return d.showHead()
}

// Answer tells what was done.
func (d *UI) Answer(text string) tea.Cmd { return d.ShowNotice(Notice{Text: text}) }

// Refuse tells why something can't be done.
func (d *UI) Refuse(why string) tea.Cmd { return d.ShowNotice(Notice{Text: why, Refused: true}) }

// OnKey ends the notice that is shown, because a key was pressed, and goes on to the next. Where a prompt has the line
// it was not seen, and stays.
func (d *UI) OnKey() tea.Cmd {
	d.notices.fresh = 0
	d.keypresses++
	if d.Overlays.Typing() {
		return nil
	}
	return d.nextNotice()
}

// ClearNotices takes back all that is to be told, and was not asked for.
func (d *UI) ClearNotices() {
	d.notices.queue, d.notices.messages = nil, nil
	d.notices.turn++
}

// Keypresses is how many keys were pressed.
func (d *UI) Keypresses() int { return d.keypresses }

func (d *UI) nextNotice() tea.Cmd {
	all := &d.notices
	if len(all.queue) == 0 {
		return nil
	}
	all.queue, all.fresh = all.queue[1:], max(0, all.fresh-1)
	return d.showHead()
}

// showHead ends the notice at the head of the queue in time.
func (d *UI) showHead() tea.Cmd {
	d.notices.turn++
	turn := d.notices.turn
	if len(d.notices.queue) == 0 {
		return nil
	}
	return tea.Tick(NoticeTime, func(time.Time) tea.Msg {
		return Ready(func() tea.Cmd {
			switch {
			case turn != d.notices.turn:
				return nil
			case d.Overlays.Typing():
				return d.showHead()
			}
			return d.nextNotice()
		})
	})
}
