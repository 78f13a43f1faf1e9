package queue

// Package pluginset gives sets of plugin names numbers: few distinct ones occur, so that a pod holds a number.

import (
	"maps"
	"slices"
)

// ID stands for a set of plugin names; 0 is the empty set.
type pluginSet uint32

// Table has the numbers of all sets that occurred.
type pluginSets struct {
	ids     map[string]pluginSet // by the sorted names, each followed by a NUL
	members [][]string
	key     []byte // scratch
	names   []string
}

// New returns a table of the empty set.
func newPluginSets() pluginSets {
	return pluginSets{ids: map[string]pluginSet{"": 0}, members: [][]string{nil}}
}

// Of returns the number of the set of names, in any order and with repetitions.
func (s *pluginSets) Of(names ...string) pluginSet {
	if len(names) == 0 {
		return 0
	}
	s.names = append(s.names[:0], names...)
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
	s.key = s.key[:0]
	for _, n := range s.names {
		s.key = append(append(s.key, n...), 0)
	}
	if id, ok := s.ids[string(s.key)]; ok {
		return id
	}
	id := pluginSet(len(s.members))
	s.members = append(s.members, slices.Clone(s.names))
	s.ids[string(s.key)] = id
	return id
}

// With returns the number of the set id with name added to it.
func (s *pluginSets) With(id pluginSet, name string) pluginSet {
	if slices.Contains(s.members[id], name) {
		return id
	}
	return s.Of(append(slices.Clone(s.members[id]), name)...)
}

// Clone returns a copy that shares nothing which changes.
func (s *pluginSets) Clone() pluginSets {
	return pluginSets{ids: maps.Clone(s.ids), members: slices.Clone(s.members)}
}

// OfOne returns the number of the set of one name, or of none if that is "".
func (s *pluginSets) OfOne(name string) pluginSet {
	if name == "" {
		return 0
	}
	return s.Of(name)
}

// Only returns the only name of a set of one, or "".
func (s *pluginSets) Only(id pluginSet) string {
	if id == 0 {
		return ""
	}
	return s.members[id][0]
}

// Names returns the names of the set id, sorted. They are shared.
func (s *pluginSets) Names(id pluginSet) []string { return s.members[id] }

// Len returns how many sets there are: each has a smaller number.
func (s *pluginSets) Len() int { return len(s.members) }
