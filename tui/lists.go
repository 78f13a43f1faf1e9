package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// choosePlugins lists the plugins and has the chosen ones reject the pod in flight.
func (m *model) choosePlugins() tea.Cmd {
	pod := flightTarget(m.frame, m.selected).Key
	plugins := session.RejectorPlugins()
	const noPlugin = 0
	l := list{title: "what rejects " + safe(pod.Name) + "?", marked: make(map[int]bool), choose: func(chosen []int) tea.Cmd {
		var names []string
		for _, i := range chosen {
			if i != noPlugin {
				names = append(names, plugins[i-1])
			}
		}
		if len(names) < len(chosen) && len(names) > 0 {
			return m.tell(notice{"an attempt fails by an error or by plugins, not by both", true})
		}
		m.session.Reject(pod, names...)
		return nil
	}}
	l.items = append(l.items, item{text: "error (no plugin)",
		note: "The attempt failed by an error, as in a cluster without nodes: the pod backs off and is never popped early."})
	for _, name := range plugins {
		l.items = append(l.items, item{text: name,
			note: "The pod becomes unschedulable and waits for an event that " + name + " registered for."})
	}
	m.openList(l)
	m.list.move(1)
	return nil
}

// chooseRecording lists the recordings and opens the chosen one.
func (m *model) chooseRecording() tea.Cmd {
	recordings := m.options.Recordings
	l := list{title: "recordings", choose: func(chosen []int) tea.Cmd {
		r := recordings[chosen[0]]
		return tea.Batch(open(r, m.options), m.tell(notice{text: "opening " + r.Name + " …"}))
	}}
	for _, r := range recordings {
		l.items = append(l.items, item{key: r.Name, text: r.Title, note: r.Description})
	}
	m.openList(l)
	return nil
}

// showHelp lists every binding, what the glyphs mean and where the recording comes from. Choosing a
// binding of the board does it.
func (m *model) showHelp() tea.Cmd {
	var items []item
	ids := make(map[int]keymap.ID)
	for _, group := range keymap.Groups() {
		items = append(items, item{text: string(group), heading: true})
		for _, b := range m.keys.In(group) {
			if b.Context == keymap.Board {
				ids[len(items)] = b.ID
			}
			items = append(items, item{key: b.AllKeys(), text: b.Name, note: b.Description})
		}
	}
	items = append(items, glyphItems()...)
	items = append(items, m.recordingItems()...)
	m.openList(list{title: "help: type to search, enter does it", items: items, choose: func(chosen []int) tea.Cmd {
		if id, ok := ids[chosen[0]]; ok {
			return m.do(id)
		}
		return nil
	}})
	return nil
}

// glyphItems explain what is drawn.
func glyphItems() []item {
	return []item{
		{text: "What the screen shows", heading: true},
		{key: glyphObserved, text: "observed", note: "The real scheduler was seen to have the pod there."},
		{key: glyphModelled, text: "modelled", note: "The local queue put the pod there; nothing was seen that confirms it."},
		{key: glyphEstimated, text: "estimated", note: "It was there before schedq came: attempts and times are a guess, until its next attempt."},
		{key: glyphGated, text: "gated", note: "A PreEnqueue plugin keeps the pod out of activeQ: no attempt, no backoff."},
		{key: glyphFolded + " " + glyphUnfolded, text: "pod group", note: "The pods of a pod group wait as one entity and are one row; unfolded, each has its own."},
		{key: glyphSelected, text: "selected", note: "The pod you speak of. It stays selected wherever it goes."},
		{key: "p100 ↑ ↓", text: "priority", note: "What activeQ sorts by first, or where there is no room, whether it is above or below 0. Not shown if it is 0."},
		{key: "att", text: "attempts", note: "How often the pod was popped, the present attempt included."},
		{key: "left", text: "backoff left", note: "Until the flush that takes the pod out of backoffQ. With " + glyphEarly + " in front it may leave earlier, when activeQ is empty."},
		{key: "flush", text: "leftover flush", note: "Until the pod is tried again without any event: at the first 30 s sweep after the scheduler's limit, 5 minutes by default, counted from its last failure."},
		{key: "═ ▒ ─ ┈", text: "lanes", note: "In the lanes: activeQ, backoffQ, unschedulable and gated, to scale. ░ and · are what is to come if nothing happens."},
		{key: "┃ ● ×", text: "in a lane", note: "An attempt, the binding, and where the pod was deleted or its lane ends."},
		{key: "▲", text: "woken by", note: "In a timeline: what let the pod go on, an event or the passing of time."},
		{key: "≠", text: "differs", note: "The scheduler's own count is another than the local queue's was when it was measured."},
	}
}

// recordingItems tell what is known of the recording.
func (m *model) recordingItems() []item {
	f := m.frame
	o := f.Options
	facts := [][2]string{
		{"name", safe(string(f.Name))},
		{"formats", safeList(f.Formats, ", ")},
		{"scheduler", schedulerName(f)},
		{"gates", safeList(f.Gates(), " ")},
		{"backoff", fmt.Sprintf("from %s to %s", o.PodInitialBackoff, o.PodMaxBackoff)},
		{"leftover", fmt.Sprintf("flushed after %s", o.PodMaxInUnschedulablePods)},
		{"time", fmt.Sprintf("%s to %s UTC", f.Start.UTC().Format("2006-01-02 15:04:05"), secondTime(f.End))},
	}
	for _, n := range f.Notices {
		facts = append(facts, [2]string{"notice", safe(n)})
	}
	items := []item{{text: "This recording", heading: true}}
	for _, fact := range facts {
		if text := strings.TrimSpace(fact[1]); text != "" {
			items = append(items, item{key: fact[0], text: text, note: text})
		}
	}
	return items
}
