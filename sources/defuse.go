package sources

import "bytes"

// outsized is the shortest text of a quantity that costs nothing to parse, and that Trim refuses: it stands
// for one that would cost too much.
const outsized = "1e999"

// Defuse decodes raw, the JSON of API objects, as Guard does, but where a quantity in it would cost too much, it
// decodes raw with 1e999 for each number that looks so: of a long list, Trim then refuses the object that holds
// the quantity, and says which it is. Decode may be called three times; what counts is the last.
func Defuse(raw []byte, decode func(raw []byte) error) error {
	found := costly(raw)
	if len(found) == 0 {
		return decode(raw)
	}
	if decode(damaged(raw, found)) == nil {
		return decode(raw)
	}
	defused := bytes.Clone(raw)
	done := 0 // up to there: a word may hold many of them
	for _, n := range found {
		if n.to <= done {
			continue
		}
		for n.from > 0 && isWord(raw[n.from-1]) {
			n.from--
		}
		for n.to < len(raw) && isWord(raw[n.to]) {
			n.to++
		}
		done = n.to
		word := defused[n.from:n.to]
		for i := copy(word, outsized); i < len(word); i++ {
			word[i] = ' '
		}
	}
	return decode(defused)
}

// DefuseText overwrites text, all of a quantity's, with 1e999 if resource.ParseQuantity would take long over
// it. It is as long as before: zeros come first.
func DefuseText(text []byte) {
	if len(costly(text)) == 0 {
		return
	}
	for i := range text[:len(text)-len(outsized)] {
		text[i] = '0'
	}
	copy(text[len(text)-len(outsized):], outsized)
}
