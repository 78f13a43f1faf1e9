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

// showHelp lists all bindings, the glyphs and the facts about the recording. Choosing a binding of the board performs it.
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
	return widget.OpenList(m.UI, widget.List{Title: m.Keys.Say("help: type to search, {list-choose} to run"), Typing: true, Items: items, Choose: func(chosen []int) tea.Cmd {
		if id, ok := ids[chosen[0]]; ok {
			return m.Do(id)
		}
		return nil
	}}, 0)
}

// lookingAt explains the board to new users.
func lookingAt() []widget.Item {
	items := []widget.Item{{Text: "What am I looking at", Heading: true}}
	for _, said := range [...][2]string{
		{"the queue", "The queue inside kube-scheduler: pods without a node. Each pod is in one place at a time."},
		{"activeQ", "Ready to be scheduled, highest priority first. The scheduler takes one pod after the other from here."},
		{"in-flight", "Popped, and being scheduled or bound. If a node fits, the pod is bound and leaves the queue."},
		{"unschedulable", "Rejected by plugins. The pod waits for a cluster event that could help it. Without one, the leftover flush retries it after minutes."},
		{"backoffQ", "Woken by an event soon after a failure: the pod waits 1, 2, 4, 8, then 10 seconds after each failure before it goes to activeQ."},
		{"gated", "Not scheduled until its scheduling gate is removed."},
	} {
		items = append(items, widget.Item{Key: said[0], Text: said[1], Note: said[1]})
	}
	return items
}

// glyphItems explain the glyphs and columns.
func glyphItems() []widget.Item {
	return []widget.Item{
		{Text: "What the screen shows", Heading: true},
		{Key: theme.GlyphObserved, Text: "observed", Note: "The recording shows that the real scheduler had the pod there."},
		{Key: theme.GlyphModelled, Text: "modelled", Note: "The local queue put the pod there; no observation confirms it."},
		{Key: theme.GlyphEstimated, Text: "estimated", Note: "The pod is older than schedq's observations: attempts and times are estimates until its next attempt."},
		{Key: theme.GlyphGated, Text: "gated", Note: "A PreEnqueue plugin keeps the pod out of activeQ: no attempt, no backoff."},
		{Key: theme.GlyphFolded + " " + theme.GlyphUnfolded, Text: "pod group", Note: "The pods of a pod group wait as one entity and share a row; unfolded, each has its own."},
		{Key: theme.GlyphSelected, Text: "selected", Note: "The pod that actions apply to. It stays selected wherever it goes."},
		{Key: "p100 ↑ ↓", Text: "priority", Note: "What activeQ sorts by first. In narrow panes only whether it is above or below 0. Not shown if it is 0."},
		{Key: "waits", Text: "time in the queue", Note: "Since the pod entered the queue, attempts included. The colour changes after a minute and after five."},
		{Key: "+1", Text: "and one more", Note: "After the name of a plugin: one more plugin rejected the pod. why? lists all of them."},
		{Key: "att", Text: "attempts", Note: "How often the pod was popped, the current attempt included."},
		{Key: "left", Text: "backoff left", Note: "Until the flush that moves the pod out of backoffQ. With " + theme.GlyphEarly + " it may leave earlier, when activeQ is empty."},
		{Key: "flush", Text: "leftover flush", Note: "Until the pod is retried without an event: at the first flush, one every 30 s, after the scheduler's limit (default 5 minutes) since its last failure."},
		{Key: "═ ▒ ─ ┈", Text: "lanes", Note: "In the lanes: activeQ, backoffQ, unschedulable and gated, to scale. ░ and · are the future if nothing happens."},
		{Key: "┃ ✓ ×", Text: "in a lane", Note: "An attempt, the binding, and the deletion of the pod."},
		{Key: "▲", Text: "woken by", Note: "In a timeline: the event or timer that moved the pod on."},
		{Key: "≠", Text: "differs", Note: "The scheduler's own count, and after the sign the local queue's at the time of measurement."},
	}
}

// recordingItems lists the facts about the recording.
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
		{"time", f.Zone.Range(f.Start, f.End) + " " + f.Zone.Name(f.End)},
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
