// Package keymap holds every key binding of the screen as data. One table makes dispatch, the help
// screen, the bar at the bottom and docs/reference/keys.md, so that they cannot disagree.
package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// ID names what a binding does. Code and tests speak of actions by ID, never by key.
type ID string

// Context is a situation in which keys have their own meaning.
type Context string

// The contexts. A key means the same in the whole of one.
const (
	// Board is the screen with the three panes.
	Board Context = "On the board"
	// Chart is a timeline, the lanes or the plots. Keys that mean nothing there mean what they do on the
	// board.
	Chart Context = "In a chart"
	// Sides is the screen with two sessions beside each other. Their keys come before all others but those of a list or a
	// prompt.
	Sides Context = "With two beside each other"
	// Lesson is a lesson below the board. Keys that mean nothing there mean what they do on the board.
	Lesson Context = "In a lesson"
	// Question is a lesson that asks something, whose answers come before all else.
	Question Context = "At a lesson's question"
	// List is a pop-up list: the events, the plugins, the recordings, the help.
	List Context = "In a list"
	// Prompt is the line into which the person types.
	Prompt Context = "In a prompt"
)

// Group is a heading under which bindings are listed.
type Group string

// The groups, in the order in which help and docs list them.
const (
	Time      Group = "Time"
	Look      Group = "Looking"
	Inject    Group = "Injecting (forks a what-if)"
	Ask       Group = "Asking the real scheduler (in a what-if)"
	Scheduler Group = "Being the scheduler"
	Program   Group = "The program"
	InChart   Group = "Charts (timeline, lanes, plots, stack)"
	InSides   Group = "Two beside each other"
	InLesson  Group = "Lessons"
	InList    Group = "Lists"
	InPrompt  Group = "Prompts"
)

// Groups returns all groups in their order.
func Groups() []Group {
	return []Group{Time, Look, Inject, Ask, Scheduler, Program, InChart, InSides, InLesson, InList, InPrompt}
}

// Binding is one action and the keys that do it.
type Binding struct {
	ID ID
	// Keys are the names of keys as bubbletea spells them: "space", "shift+tab", "?". The first is the
	// one that is shown where only one can be. Without any, the palette alone does it.
	Keys []string
	// Name is two or three words for the bar.
	Name string
	// Description is a sentence for help and docs.
	Description string
	Group       Group
	Context     Context
	// Bar is the binding's place on the bar at the bottom, which shows the smallest first while they can
	// be used. 0 keeps it off the bar.
	Bar int
}

// Map finds bindings by their keys.
type Map struct {
	bindings []Binding
	byKey    map[Context]map[string]int
	byID     map[ID]int
	onBar    map[Context][]Binding
}

// New returns a map of the given bindings. Of two that share a key in one context, the first has it.
func New(bindings []Binding) *Map {
	m := &Map{bindings: bindings, byKey: make(map[Context]map[string]int), byID: make(map[ID]int), onBar: make(map[Context][]Binding)}
	for i, b := range bindings {
		if _, taken := m.byID[b.ID]; !taken {
			m.byID[b.ID] = i
		}
		if b.Bar != 0 {
			m.onBar[b.Context] = append(m.onBar[b.Context], b)
		}
		keys := m.byKey[b.Context]
		if keys == nil {
			keys = make(map[string]int)
			m.byKey[b.Context] = keys
		}
		for _, key := range b.Keys {
			if _, taken := keys[key]; !taken {
				keys[key] = i
			}
		}
	}
	for _, on := range m.onBar {
		slices.SortStableFunc(on, func(a, b Binding) int { return cmp.Compare(a.Bar, b.Bar) })
	}
	return m
}

// Lookup returns the binding of key in context.
func (m *Map) Lookup(context Context, key string) (Binding, bool) {
	i, ok := m.byKey[context][key]
	if !ok {
		return Binding{}, false
	}
	return m.bindings[i], true
}

// All returns the bindings in the order of the table. They must not be modified.
func (m *Map) All() []Binding { return m.bindings }

// ByID returns the binding of that ID.
func (m *Map) ByID(id ID) (Binding, bool) {
	i, ok := m.byID[id]
	if !ok {
		return Binding{}, false
	}
	return m.bindings[i], true
}

// In returns the bindings of group.
func (m *Map) In(group Group) []Binding {
	var in []Binding
	for _, b := range m.bindings {
		if b.Group == group {
			in = append(in, b)
		}
	}
	return in
}

// OnBar returns the bindings of context that the bar shows, the most important first. They must not be modified.
func (m *Map) OnBar(context Context) []Binding { return m.onBar[context] }

// Key returns the first key of b, as it is shown. Empty if it has none.
func (b Binding) Key() string {
	if len(b.Keys) == 0 {
		return ""
	}
	return Display(b.Keys[0])
}

// AllKeys returns all keys of b, as they are shown.
func (b Binding) AllKeys() string {
	shown := make([]string, len(b.Keys))
	for i, key := range b.Keys {
		shown[i] = Display(key)
	}
	return strings.Join(shown, " ")
}

// Display returns how the screen and the docs write a key: arrows as arrows, all else as it is named.
func Display(key string) string {
	if i := strings.LastIndexByte(key, '+'); i > 0 && i < len(key)-1 {
		return key[:i+1] + Display(key[i+1:])
	}
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "pgdown":
		return "pgdn"
	default:
		return key
	}
}
