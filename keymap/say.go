package keymap

import "strings"

const signs = ".,:;!?"

// isSign reports whether text is a single punctuation mark.
func isSign(text string) bool { return len(text) == 1 && strings.Contains(signs, text) }

func startsWithSign(text string) bool { return text != "" && isSign(text[:1]) }

func endsInSign(text string) bool {
	text = strings.TrimRight(text, " ")
	return text != "" && isSign(text[len(text)-1:])
}

// Say returns text with each action ID in braces replaced by the user's key for it:
// "{what-if} makes one" becomes "w makes one". For an action without a key it writes the palette's
// key and the action's name. A key that is a punctuation mark is quoted beside another one. Braces around anything else
// stay.
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
		key := m.keyOf(binding)
		if isSign(key) && (endsInSign(before) || startsWithSign(after)) {
			key = `"` + key + `"`
		}
		b.WriteString(key)
		text = after
	}
}

// keyOf returns the text that tells the user how to run b.
func (m *Map) keyOf(b Binding) string {
	if key := b.Key(); key != "" {
		return key
	}
	if palette, ok := m.ByID(Palette); ok && palette.Key() != "" {
		return palette.Key() + " " + b.Name
	}
	return b.Name
}
