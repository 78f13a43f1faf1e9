package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is an error in the configured keys of an action.
type Problem struct {
	ID   ID
	Text string
}

// retired are the actions of earlier versions, and those that took their place.
var retired = map[ID]ID{"copy": CopyMore, "leave-what-if": WhatIf}

// renewed returns keys with those of retired actions added to their successors'.
func renewed(bindings []Binding, keys map[ID][]string) map[ID][]string {
	now := maps.Clone(keys)
	for _, b := range bindings {
		for old, successor := range retired {
			if given, ok := keys[old]; ok && successor == b.ID {
				if _, configured := now[successor]; !configured {
					now[successor] = b.Keys
				}
				now[successor] = slices.Concat(now[successor], given)
			}
		}
	}
	for old := range retired {
		delete(now, old)
	}
	return now
}

// yield takes the configured keys away from the other actions' defaults, as far as the palette can
// replace those.
func yield(bindings []Binding, configured map[ID][]string) {
	type place struct {
		context Context
		key     string
	}
	taken := make(map[place]bool) // also the first of two keys
	for _, b := range bindings {
		for _, key := range configured[b.ID] {
			taken[place{b.Context, key}] = true
		}
	}
	for i, b := range bindings {
		if _, ok := configured[b.ID]; ok || b.Context != Board || b.ID == Quit {
			continue
		}
		bindings[i].Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool {
			first, _ := split(key)
			return taken[place{b.Context, key}] || taken[place{b.Context, first}]
		})
	}
}

// Override returns bindings with the configured keys in place of the defaults. A configured key takes
// precedence over another action's default. An action may have no key; it stays available in the
// palette. Problems with unknown actions come first, then the others in the order of bindings. If there
// are problems, the bindings must not be used.
func Override(bindings []Binding, keys map[ID][]string) ([]Binding, []Problem) {
	var problems []Problem
	keys = renewed(bindings, keys)
	wrong := func(id ID, format string, args ...any) {
		problems = append(problems, Problem{id, fmt.Sprintf(format, args...)})
	}
	for _, id := range unknown(bindings, keys) {
		wrong(id, "unknown action %q%s", id, similar(bindings, id))
	}
	all := slices.Clone(bindings)
	for i := range all {
		given, ok := keys[all[i].ID]
		if !ok {
			continue
		}
		all[i].Keys = slices.Clone(given)
		for _, key := range given {
			if problem := checkKeys(all[i].Context, key); problem != "" {
				wrong(all[i].ID, "%s", problem)
			}
		}
		if len(given) == 0 && all[i].Context != Board || len(given) == 0 && all[i].ID == Quit {
			wrong(all[i].ID, "%s needs a key: the palette can't replace it", all[i].ID)
		}
	}
	yield(all, keys)
	for _, c := range Conflicts(all) {
		culprit := c.Second
		if _, ok := keys[culprit]; !ok {
			culprit = c.First
		}
		if _, ok := keys[culprit]; ok { // otherwise the defaults conflict, which a test checks
			other := c.First
			if other == culprit {
				other = c.Second
			}
			wrong(culprit, "%q is also the key of %s (%s): use another key for one of them", c.Key, other, strings.ToLower(string(c.Context)))
		}
	}
	return all, problems
}

// Conflict is a key with two meanings in one context: of two actions, or of one and the first key of
// another.
type Conflict struct {
	Context       Context
	Key           string
	First, Second ID
}

// Conflicts returns all conflicts among bindings.
func Conflicts(bindings []Binding) []Conflict {
	type place struct {
		context Context
		key     string
	}
	first := make(map[place]ID)
	var all []Conflict
	for _, b := range bindings {
		for _, key := range b.Keys {
			at := place{b.Context, key}
			if other, taken := first[at]; taken {
				all = append(all, Conflict{b.Context, key, other, b.ID})
			} else {
				first[at] = b.ID
			}
		}
	}
	for _, b := range bindings {
		for _, key := range b.Keys {
			if leader, _ := split(key); leader != "" && b.Context == Board {
				if other, taken := first[place{b.Context, leader}]; taken {
					all = append(all, Conflict{b.Context, leader, other, b.ID})
				}
			}
		}
	}
	return all
}

// unknown returns the IDs in keys that have no binding, sorted.
func unknown(bindings []Binding, keys map[ID][]string) []ID {
	var ids []ID
	for id := range keys {
		if !slices.ContainsFunc(bindings, func(b Binding) bool { return b.ID == id }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// similar returns a suggestion of actions with similar names, or "".
func similar(bindings []Binding, id ID) string {
	var near []string
	for _, word := range strings.Split(string(id), "-") {
		for _, b := range bindings {
			if len(word) > 2 && strings.Contains(string(b.ID), word) && !slices.Contains(near, string(b.ID)) && len(near) < 4 {
				near = append(near, string(b.ID))
			}
		}
	}
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, ", ") + "?"
}

// namedKeys are the keys with names, in bubbletea's spelling.
var namedKeys = []string{
	"space", "tab", "enter", "esc", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

// modifiers are the prefixes of a key, in the required order.
var modifiers = []string{"ctrl+", "alt+", "shift+"}

// sameAs maps keys to the keys that most terminals send for them.
var sameAs = map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}

// checkKeys returns the error in a key, or in two on the board, or "".
func checkKeys(context Context, keys string) string {
	first, second := split(keys)
	switch {
	case first == "" || second == "":
		return checkKey(keys)
	case context != Board:
		return fmt.Sprintf("invalid key %q: only actions of the board can have two keys", keys)
	}
	return cmp.Or(checkKey(first), checkKey(second))
}

// checkKey returns the error in a key name, or "".
func checkKey(key string) string {
	if other, same := sameAs[key]; same {
		return fmt.Sprintf("%q is %q on most terminals: use that", key, other)
	}
	base, modified := key, false
	for _, m := range modifiers {
		if rest, ok := strings.CutPrefix(base, m); ok && rest != "" {
			base, modified = rest, true
		}
	}
	if slices.Contains(namedKeys, base) {
		return ""
	}
	r, size := utf8.DecodeRuneInString(base)
	switch {
	case size == len(base) && size > 0 && r != utf8.RuneError && unicode.IsGraphic(r) && r != ' ':
		if strings.HasPrefix(key, "shift+") || modified && unicode.IsUpper(r) {
			return fmt.Sprintf("invalid key %q: use the letter it types, like K or ctrl+k", key)
		}
		return ""
	case base == " ":
		return `invalid key " ": use "space"`
	}
	return fmt.Sprintf("invalid key %q: use a letter or %s, with ctrl+, alt+ or shift+ in front", key, strings.Join(namedKeys[:15], ", "))
}
