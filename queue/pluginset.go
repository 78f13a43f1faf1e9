package queue

import (
	"maps"
	"slices"
)

// pluginSet identifies a set of plugin names in a pluginSets; 0 is the empty set.
type pluginSet uint32

// pluginSets interns sets of plugin names. Few distinct sets occur, so an entry stores a 4-byte number
// per set, and a move request asks once per set whether a plugin registered for the event.
type pluginSets struct {
	ids     map[string]pluginSet // by the sorted names, each followed by a NUL
	members [][]string
	key     []byte // scratch space
	names   []string
}

func newPluginSets() pluginSets {
	return pluginSets{ids: map[string]pluginSet{"": 0}, members: [][]string{nil}}
}

// Of returns the set of names, which may be unsorted and contain duplicates.
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

// With returns the set id extended by name.
func (s *pluginSets) With(id pluginSet, name string) pluginSet {
	if slices.Contains(s.members[id], name) {
		return id
	}
	return s.Of(append(slices.Clone(s.members[id]), name)...)
}

// Single returns the set that contains name only, or the empty set if name is "".
func (s *pluginSets) Single(name string) pluginSet {
	if name == "" {
		return 0
	}
	return s.Of(name)
}

// First returns the first name in the set id, or "" if it is empty.
func (s *pluginSets) First(id pluginSet) string {
	if id == 0 {
		return ""
	}
	return s.members[id][0]
}

// Names returns the sorted names in the set id. The caller must not modify the slice.
func (s *pluginSets) Names(id pluginSet) []string { return s.members[id] }

// Len returns the number of sets. Every pluginSet is smaller.
func (s *pluginSets) Len() int { return len(s.members) }

// Clone returns an independent copy.
func (s *pluginSets) Clone() pluginSets {
	return pluginSets{ids: maps.Clone(s.ids), members: slices.Clone(s.members)}
}
