package keymap

import (
	"slices"
	"strings"
)

// Leader is the first of two keys. Its popup shows which keys may follow.
type Leader struct {
	// ID is the action that opens the popup.
	ID   ID
	Key  string
	Name string
}

// leaders are the leaders of the built-in bindings.
var leaders = [...]Leader{
	{Key: "g", Name: "go to"}, {Key: "e", Name: "change"}, {Key: "v", Name: "view"}, {Key: "W", Name: "what-ifs"}, {Key: "o", Name: "open"},
}

// leaderBar is the position of leaders on the bar: after the keys that everybody needs.
const leaderBar = 9

// binding returns the binding that opens the popup of l, with the names of the words among bindings.
func (l Leader) binding(bindings []Binding) Binding {
	var names []string
	for _, b := range bindings {
		if slices.ContainsFunc(b.Keys, func(keys string) bool { first, _ := split(keys); return first == l.Key }) {
			names = append(names, b.Name)
		}
	}
	return Binding{ID: l.ID, Keys: []string{l.Key}, Name: l.Name + " …", Context: Board, Group: InPopup, Bar: leaderBar,
		Description: "Show the keys that may follow: " + strings.Join(names, ", ") + "."}
}

// Word is a binding with two keys, of which the first is a leader.
type Word struct {
	Key string // the second
	Binding
}

// split returns the two keys of a sequence, or "" and the key.
func split(keys string) (first, second string) {
	if first, second, two := strings.Cut(keys, " "); two {
		return first, second
	}
	return "", keys
}

// Leaders returns the leaders of all words, in the order of the table.
func (m *Map) Leaders() []Leader { return m.leaders }

// Leader returns the leader with that key.
func (m *Map) Leader(key string) (Leader, bool) {
	for _, l := range m.leaders {
		if l.Key == key {
			return l, true
		}
	}
	return Leader{}, false
}

// LeaderOf returns the leader of the first key of an action, if that is the first of two.
func (m *Map) LeaderOf(id ID) (Leader, bool) {
	b, ok := m.ByID(id)
	if !ok || len(b.Keys) == 0 {
		return Leader{}, false
	}
	first, _ := split(b.Keys[0])
	return m.Leader(first)
}

// Words returns the words that begin with key, in the order of the table.
func (m *Map) Words(key string) []Word {
	var words []Word
	for _, b := range m.bindings {
		for _, keys := range b.Keys {
			if first, second := split(keys); first == key {
				words = append(words, Word{second, b})
			}
		}
	}
	return words
}

// leadersOf returns the leaders of bindings. One that only the user has is named by its key.
func leadersOf(bindings []Binding) []Leader {
	used := map[string]bool{}
	var order []string
	for _, b := range bindings {
		for _, keys := range b.Keys {
			if first, _ := split(keys); first != "" && !used[first] {
				used[first] = true
				order = append(order, first)
			}
		}
	}
	var all []Leader
	for _, l := range leaders {
		if used[l.Key] {
			l.ID = ID("leader " + l.Key)
			all, used[l.Key] = append(all, l), false
		}
	}
	for _, key := range order {
		if used[key] {
			all = append(all, Leader{ID("leader " + key), key, "more"})
		}
	}
	return all
}
