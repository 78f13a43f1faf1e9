package jsonscan

import (
	"bytes"
	"encoding/json"
)

// Salvage calls visit with each whole JSON object of a line that is not one object: several glued together,
// or one that was torn and has another behind it. Behind what is torn, an object is looked for where the text
// goes on with one of begins, and must reach to the line's end or to another object: what is inside a torn
// object is not taken for one of its own.
//
// It takes as many bytes from the budget as it looks at, and stops where that is used up. lost tells whether
// something is left that is not in an object. The error is visit's.
func Salvage(line []byte, begins []string, budget *int, visit func(object []byte) error) (lost bool, err error) {
	here := true // an object may begin here whatever it begins with
	for text := bytes.TrimSpace(line); len(text) > 0; {
		if *budget <= 0 {
			return true, nil
		}
		*budget -= len(text)
		if object, rest := Whole(text); object != nil && (here || len(rest) == 0 || rest[0] == '{') {
			if err := visit(object); err != nil {
				return lost, err
			}
			text, here = rest, true
			continue
		}
		lost, here = true, false
		text = nextBeginning(text[1:], begins)
	}
	return lost, nil
}

// Whole returns the JSON object that text begins with, and what follows it but for white space; or nil if it
// begins with none. Unlike First it checks all of the object.
func Whole(text []byte) (object, rest []byte) {
	rest, ok, err := First(text, func(_, _ []byte) bool { return true })
	if err != nil || !ok {
		return nil, nil
	}
	object = text[:len(text)-len(rest)]
	if !json.Valid(object) {
		return nil, nil
	}
	return object, bytes.TrimSpace(rest)
}

// nextBeginning returns text from where the first of begins is in it, or nil if none is.
func nextBeginning(text []byte, begins []string) []byte {
	at := -1
	for _, b := range begins {
		before := text
		if at >= 0 {
			before = text[:min(len(text), at+len(b))]
		}
		if i := bytes.Index(before, []byte(b)); i >= 0 {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	return text[at:]
}
