package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/header"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// showHelp lists every binding, what the glyphs mean and where the recording comes from. Choosing a
// binding of the board does it.
func (m *model) showHelp() tea.Cmd {
	items := lookingAt()
	ids := make(map[int]keymap.ID)
	for _, group := range keymap.Groups() {
		items = append(items, widget.Item{Text: string(group), Heading: true})
		for _, b := range m.Keys.In(group) {
			if b.Context == keymap.Board {
				ids[len(items)] = b.ID
			}
			items = append(items, widget.Item{Key: b.AllKeys(), Text: b.Name, Note: b.Description})
		}
	}
	items = append(items, glyphItems()...)
	items = append(items, m.recordingItems()...)
	return widget.OpenList(m.UI, widget.List{Title: m.Keys.Say("help: type to search, {list-choose} does it"), Items: items, Choose: func(chosen []int) tea.Cmd {
		if id, ok := ids[chosen[0]]; ok {
			return m.Do(id)
		}
		return nil
	}}, 0)
}

// lookingAt says what the board is, to who sees it for the first time.
func lookingAt() []widget.Item {
	items := []widget.Item{{Text: "What am I looking at", Heading: true}}
	for _, said := range [...][2]string{
		{"the queue", "The queue inside kube-scheduler: pods that have no node yet. Each pod is in one place at a time."},
		{"activeQ", "Ready to be tried, the highest priority first. The scheduler takes one pod after the other from here."},
		{"in-flight", "Taken, and being scheduled or bound. If a node fits it is bound, and leaves the queue."},
		{"unschedulable", "Tried, and rejected by plugins. The pod waits for an event in the cluster that could help it: no timer tries it again, but the leftover flush after minutes."},
		{"backoffQ", "Woken by an event, but it failed not long ago: 1, 2, 4, 8, then 10 seconds after each failure, before it may go on to activeQ."},
		{"gated", "Not tried at all until a gate of its own is opened."},
	} {
		items = append(items, widget.Item{Key: said[0], Text: said[1], Note: said[1]})
	}
	return items
}

// glyphItems explain what is drawn.
func glyphItems() []widget.Item {
	return []widget.Item{
		{Text: "What the screen shows", Heading: true},
		{Key: theme.GlyphObserved, Text: "observed", Note: "The real scheduler was seen to have the pod there."},
		{Key: theme.GlyphModelled, Text: "modelled", Note: "The local queue put the pod there; nothing was seen that confirms it."},
		{Key: theme.GlyphEstimated, Text: "estimated", Note: "It was there before schedq came: attempts and times are a guess, until its next attempt."},
		{Key: theme.GlyphGated, Text: "gated", Note: "A PreEnqueue plugin keeps the pod out of activeQ: no attempt, no backoff."},
		{Key: theme.GlyphFolded + " " + theme.GlyphUnfolded, Text: "pod group", Note: "The pods of a pod group wait as one entity and are one row; unfolded, each has its own."},
		{Key: theme.GlyphSelected, Text: "selected", Note: "The pod you speak of. It stays selected wherever it goes."},
		{Key: "p100 ↑ ↓", Text: "priority", Note: "What activeQ sorts by first, or where there is no room, whether it is above or below 0. Not shown if it is 0."},
		{Key: "waits", Text: "time in the queue", Note: "Since the pod came to the queue, attempts included. The colour says whether that is seconds, a minute or five."},
		{Key: "+1", Text: "and one more", Note: "Behind the name of a plugin: one more rejected the pod, for whose name there is no room. All of them are in why?"},
		{Key: "att", Text: "attempts", Note: "How often the pod was popped, the present attempt included."},
		{Key: "left", Text: "backoff left", Note: "Until the flush that takes the pod out of backoffQ. With " + theme.GlyphEarly + " in front it may leave earlier, when activeQ is empty."},
		{Key: "flush", Text: "leftover flush", Note: "Until the pod is tried again without any event: at the first flush, one every 30 s, after the scheduler's limit, 5 minutes by default, counted from its last failure."},
		{Key: "═ ▒ ─ ┈", Text: "lanes", Note: "In the lanes: activeQ, backoffQ, unschedulable and gated, to scale. ░ and · are what is to come if nothing happens."},
		{Key: "┃ ✓ ×", Text: "in a lane", Note: "An attempt, the binding, and where the pod was deleted."},
		{Key: "▲", Text: "woken by", Note: "In a timeline: what let the pod go on, an event or the passing of time."},
		{Key: "≠", Text: "differs", Note: "The scheduler's own count, and behind the sign the local queue's at the moment at which it was measured."},
	}
}

// recordingItems tell what is known of the recording.
func (m *model) recordingItems() []widget.Item {
	f := m.Frame
	o := f.Options
	facts := [][2]string{
		{"name", format.Safe(string(f.Name))},
		{"formats", format.SafeList(f.Formats, ", ")},
		{"scheduler", header.Scheduler(f)},
		{"gates", format.SafeList(f.Gates(), " ")},
		{"backoff", fmt.Sprintf("from %s to %s", o.PodInitialBackoff, o.PodMaxBackoff)},
		{"leftover", fmt.Sprintf("flushed after %s", o.PodMaxInUnschedulablePods)},
		{"time", fmt.Sprintf("%s %s to %s %s", f.Zone.Day(f.Start), f.Zone.Second(f.Start), f.Zone.Second(f.End), f.Zone.Name(f.End))},
	}
	for _, n := range f.Notices {
		facts = append(facts, [2]string{"notice", format.Safe(n)})
	}
	items := []widget.Item{{Text: "This recording", Heading: true}}
	for _, fact := range facts {
		if text := strings.TrimSpace(fact[1]); text != "" {
			items = append(items, widget.Item{Key: fact[0], Text: text, Note: text})
		}
	}
	return items
}
