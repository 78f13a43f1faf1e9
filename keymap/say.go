package keymap

import "strings"

// Say returns text with the key of each action that it names in braces, as the person has it: "{what-if} makes one" is
// "w makes one". Of an action without a key the palette's and the action's name stand there. What is no action stays.
func (m *Map) Say(text string) string {
	var b strings.Builder
	b.Grow(len(text)) // most keys are shorter than their actions' names
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		id, after, closed := strings.Cut(rest, "}")
		binding, known := m.ByID(ID(id))
		if !closed || !known {
			b.WriteByte('{')
			text = rest
			continue
		}
		b.WriteString(m.keyOf(binding))
		text = after
	}
}

// keyOf is how a person does b.
func (m *Map) keyOf(b Binding) string {
	if key := b.Key(); key != "" {
		return key
	}
	if palette, ok := m.ByID(Palette); ok && palette.Key() != "" {
		return palette.Key() + " " + b.Name
	}
	return b.Name
}
