package page

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Notice is something that the person is told: an answer to a key, or what has happened meanwhile.
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
func (d *Desk) Notice() Notice {
	if len(d.notices.queue) == 0 {
		return Notice{}
	}
	return d.notices.queue[0]
}

// NoticesBehind is how many are told after the one that is shown.
func (d *Desk) NoticesBehind() int { return max(0, len(d.notices.queue)-1) }

// Messages are the last notices, the oldest first. They must not be modified.
func (d *Desk) Messages() []Message { return d.notices.messages }

// Tell shows a notice that answers the last key.
func (d *Desk) Tell(n Notice) tea.Cmd {
	at := min(d.notices.fresh, len(d.notices.queue))
	d.notices.fresh = at + 1
	return d.insert(at, n)
}

// Note shows a notice that nobody waits for, behind all others.
func (d *Desk) Note(n Notice) tea.Cmd { return d.insert(len(d.notices.queue), n) }

func (d *Desk) insert(at int, n Notice) tea.Cmd {
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
func (d *Desk) Answer(text string) tea.Cmd { return d.Tell(Notice{Text: text}) }

// Refuse tells why something can't be done.
func (d *Desk) Refuse(why string) tea.Cmd { return d.Tell(Notice{Text: why, Refused: true}) }

// HadKey ends the notice that is shown, because a key was pressed, and goes on to the next. Where a prompt has the line
// it was not seen, and stays.
func (d *Desk) HadKey() tea.Cmd {
	d.notices.fresh = 0
	d.deeds++
	if d.Over.Typing() {
		return nil
	}
	return d.nextNotice()
}

// Hush takes back all that is to be told, and was not asked for.
func (d *Desk) Hush() {
	d.notices.queue, d.notices.messages = nil, nil
	d.notices.turn++
}

// Deeds is how many keys were pressed.
func (d *Desk) Deeds() int { return d.deeds }

func (d *Desk) nextNotice() tea.Cmd {
	all := &d.notices
	if len(all.queue) == 0 {
		return nil
	}
	all.queue, all.fresh = all.queue[1:], max(0, all.fresh-1)
	return d.showHead()
}

// showHead ends the notice at the head of the queue in time.
func (d *Desk) showHead() tea.Cmd {
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
			case d.Over.Typing():
				return d.showHead()
			}
			return d.nextNotice()
		})
	})
}
