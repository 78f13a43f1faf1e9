package trace

import (
	"bytes"
	"unicode/utf8"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
)

// maxWords limits how many strings a Reader interns. Pods, labels, plugins and messages recur.
const maxWords = 1 << 14

// usualMove reads a move as a Writer writes it. It is several times as fast as encoding/json and interns strings. It returns
// nil for anything else, which is left to encoding/json.
func (t *Reader) usualMove(raw []byte) *move {
	m, usual := &move{}, true
	rest, whole, err := jsonscan.First(raw, func(name, value []byte) bool {
		switch string(name) {
		case "pod":
			usual = t.word(value, &m.Pod)
		case "to":
			var to string
			usual = t.word(value, &to)
			m.To = sources.Tier(to)
		case "event":
			usual = t.word(value, &m.Event)
		case "restated":
			m.Restated = string(value) == "true"
			usual = m.Restated
		case "plugins":
			m.Plugins, usual = t.wordsOf(value)
		case "gatingPlugin":
			usual = t.word(value, &m.GatingPlugin)
		case "message":
			usual = t.word(value, &m.Message)
		case "node":
			usual = t.word(value, &m.Node)
		case "unplaced":
			m.Unplaced = string(value) == "true"
			usual = m.Unplaced
		default:
			usual = false
		}
		return usual
	})
	if err != nil || !whole || !usual || len(rest) > 0 || endsInComma(raw) {
		return nil
	}
	return m
}

// word reads a string without escapes.
func (t *Reader) word(raw []byte, into *string) bool {
	text := jsonscan.Text(raw)
	if text == nil || len(text) > sources.MaxText {
		return false
	}
	word, known := t.words[string(text)]
	if !known {
		if !utf8.Valid(text) || bytes.IndexFunc(text, func(c rune) bool { return c == '\\' || c < ' ' }) >= 0 {
			return false
		}
		if len(t.words) >= maxWords {
			clear(t.words)
		}
		word = string(text)
		t.words[word] = word
	}
	*into = word
	return true
}

// wordsOf reads a list of such strings.
func (t *Reader) wordsOf(raw []byte) (words []string, usual bool) {
	usual = true
	err := jsonscan.Elements(raw, func(value []byte) error {
		var word string
		if usual = usual && t.word(value, &word); !usual {
			return jsonscan.ErrNotJSON
		}
		words = append(words, word)
		return nil
	})
	return words, err == nil && words != nil && !endsInComma(raw)
}

// endsInComma reports whether an object or a list has a comma after its last member, which jsonscan does not check.
func endsInComma(raw []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(raw[:len(raw)-1], " \t\r\n"), []byte(","))
}
