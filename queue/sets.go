package queue

import (
	"maps"
	"slices"
)

// setID stands for a set of plugin names. Few distinct sets occur, so a pod holds a number.
type setID uint32

// pluginSets gives each distinct set of plugin names a number; 0 is the empty set.
type pluginSets struct {
	ids     map[string]setID // by the sorted names, each followed by a NUL
	members [][]string
	key     []byte // scratch
	names   []string
}

func newPluginSets() pluginSets {
	return pluginSets{ids: map[string]setID{"": 0}, members: [][]string{nil}}
}

// idOf returns the number of the set of names, in any order and with repetitions.
func (s *pluginSets) idOf(names ...string) setID {
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
	id := setID(len(s.members))
	s.members = append(s.members, slices.Clone(s.names))
	s.ids[string(s.key)] = id
	return id
}

// withName returns the number of the set id with name added to it.
func (s *pluginSets) withName(id setID, name string) setID {
	if slices.Contains(s.members[id], name) {
		return id
	}
	return s.idOf(append(slices.Clone(s.members[id]), name)...)
}

func (s *pluginSets) clone() pluginSets {
	return pluginSets{ids: maps.Clone(s.ids), members: slices.Clone(s.members)}
}

// onlyName returns the only name of a set of one, or "".
func (s *pluginSets) onlyName(id setID) string {
	if id == 0 {
		return ""
	}
	return s.members[id][0]
}
