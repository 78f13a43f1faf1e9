// Package keymap holds every key binding of the screen as data. One table drives dispatch, the help
// screen, the bar at the bottom and docs/reference/keys.md, so they cannot disagree.
package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// ID names an action. Code and tests refer to actions by ID, never by key.
type ID string

// Context is a part of the screen with its own key bindings. A key has one meaning per context.
type Context string

// The contexts.
const (
	// Board is the screen with the three panes.
	Board Context = "On the board"
	// Chart is a timeline, the lanes or the plots. Keys not bound here work as on the board.
	Chart Context = "In a chart"
	// Cycle is the page of a scheduling cycle. Keys not bound here work as on the board.
	Cycle Context = "On the page of a scheduling cycle"
	// Sides is the screen with two sessions side by side. Its keys take precedence over all contexts
	// except List and Prompt.
	Sides Context = "With two side by side"
	// Lesson is a lesson below the board. Keys not bound here work as on the board.
	Lesson Context = "In a lesson"
	// Question is a lesson's open question. Its answer keys take precedence.
	Question Context = "At a lesson's question"
	// List is a pop-up list: the events, the plugins, the recordings, the help.
	List Context = "In a list"
	// Prompt is the line for typed input.
	Prompt Context = "In a prompt"
	// Popup shows the keys that may follow a leader.
	Popup Context = "After the first of two keys"
)

// Group is a heading in the help and the docs.
type Group string

// The groups, in the order of help and docs.
const (
	Time      Group = "Time"
	Look      Group = "View"
	Inject    Group = "Changing things (in a what-if)"
	Ask       Group = "Asking the real scheduler (in a what-if)"
	Scheduler Group = "Making the scheduler's decisions"
	Program   Group = "Program"
	InChart   Group = "Charts (timeline, lanes, plots, stack)"
	InCycle   Group = "Scheduling cycle"
	InSides   Group = "Two side by side"
	InLesson  Group = "Lessons"
	InList    Group = "Lists"
	InPrompt  Group = "Prompts"
	InPopup   Group = "The first of two keys"
)

// Groups returns all groups in order.
func Groups() []Group {
	return []Group{Time, Look, Inject, Ask, Scheduler, Program, InChart, InCycle, InSides, InLesson, InList, InPrompt, InPopup}
}

// Binding is an action and its keys.
type Binding struct {
	ID ID
	// Keys are key names in bubbletea's spelling: "space", "shift+tab", "?". On the board they may be
	// two that are pressed one after the other: "g p". The first is the one shown where there is room
	// for only one. An action without keys is available in the palette.
	Keys []string
	// Name is the short name for the bar, two or three words.
	Name string
	// Description is a sentence for help and docs.
	Description string
	Group       Group
	Context     Context
	// Bar is the position on the bar at the bottom, lowest first. 0 keeps the binding off the bar.
	Bar int
}

// Map finds bindings by their keys.
type Map struct {
	bindings []Binding
	byKey    map[Context]map[string]int
	byID     map[ID]int
	onBar    map[Context][]Binding
	leaders  []Leader
}

// New returns a Map of the bindings, and of one for each leader of their keys. If two bindings share a key in one context, the first one wins.
func New(bindings []Binding) *Map {
	leaders := leadersOf(bindings)
	for _, l := range leaders {
		bindings = append(slices.Clip(bindings), l.binding(bindings))
	}
	m := &Map{bindings: bindings, byKey: make(map[Context]map[string]int), byID: make(map[ID]int), onBar: make(map[Context][]Binding), leaders: leaders}
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

// Lookup returns the binding for key in context.
func (m *Map) Lookup(context Context, key string) (Binding, bool) {
	i, ok := m.byKey[context][key]
	if !ok {
		return Binding{}, false
	}
	return m.bindings[i], true
}

// All returns the bindings in table order. Callers must not modify them.
func (m *Map) All() []Binding { return m.bindings }

// ByID returns the binding with that ID.
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

// OnBar returns the bindings of context that the bar shows, most important first. Callers must not
// modify them.
func (m *Map) OnBar(context Context) []Binding { return m.onBar[context] }

// Key returns the display form of the first key of b, or "" if it has none.
func (b Binding) Key() string {
	if len(b.Keys) == 0 {
		return ""
	}
	return Display(b.Keys[0])
}

// AllKeys returns the display form of all keys of b.
func (b Binding) AllKeys() string {
	shown := make([]string, len(b.Keys))
	for i, key := range b.Keys {
		shown[i] = Display(key)
	}
	return strings.Join(shown, " ")
}

// Display returns the display form of a key or of two: arrows as arrows, other keys by name.
func Display(key string) string {
	if first, second := split(key); first != "" {
		return Display(first) + " " + Display(second)
	}
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
