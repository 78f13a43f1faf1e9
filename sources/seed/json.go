package seed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
)

// errTooLarge is the error about an excessively large object.
var errTooLarge = fmt.Errorf("an object in it has more than %d MiB", maxObject>>20)

// window limits how far ahead of the consumed text is read.
type window struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (w *window) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errTooLarge
	}
	n, err := w.from.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err
}

// jsonReader reads objects from JSON, item by item: a list may not fit into memory.
type jsonReader struct {
	*reader
	window *window
	dec    *json.Decoder
}

// json reads successive objects and lists.
func (r *reader) json(in io.Reader) error {
	j := jsonReader{reader: r, window: &window{in, 0}}
	j.dec = json.NewDecoder(j.window)
	for {
		j.open()
		token, err := j.dec.Token()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return unread(err)
		case token == json.Delim('['):
			if err := j.elements(); err == io.EOF {
				return unread(io.ErrUnexpectedEOF)
			} else if err != nil {
				return unread(err)
			}
			continue
		case token != json.Delim('{'):
			return errors.New("it is no object")
		}
		if err := j.object(true); err == io.EOF {
			return unread(io.ErrUnexpectedEOF)
		} else if err != nil {
			return unread(err)
		}
	}
}

// open lets another object be read.
func (j *jsonReader) open() { j.window.left = maxObject }

// unread describes an error in JSON.
func unread(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it is not JSON throughout: %s", sources.Sanitize(err.Error()))
	}
	return err
}

// object reads the text after a brace: an object or a list, or a k8shark record that contains one.
func (j *jsonReader) object(outer bool) error {
	members := map[string]json.RawMessage{}
	var nameless [][]byte
	isList, size := false, 0
	for j.dec.More() {
		token, err := j.dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		switch {
		case name == "items" && !isList:
			isList = true
			if err := j.items(members, &nameless); err != nil {
				return err
			}
			continue
		case name == "response_body" && outer:
			if err := j.record(members); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := j.dec.Decode(&value); err != nil {
			return err
		}
		if size += len(value); size > maxObject {
			return errTooLarge
		}
		members[name] = value
		j.open()
	}
	if _, err := j.dec.Token(); err != nil {
		return err
	}
	if isList {
		for _, raw := range nameless {
			if err := j.item(raw, text(members["apiVersion"]), text(members["kind"])); err != nil {
				return err
			}
		}
		return nil
	}
	if members["kind"] == nil && members["metadata"] == nil {
		return nil
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	if members["kind"] == nil {
		return j.nameless(raw)
	}
	return j.add(raw)
}

// elements reads an array after its bracket: objects, or lists of them.
func (j *jsonReader) elements() error {
	for j.dec.More() {
		j.open()
		var raw json.RawMessage
		if err := j.dec.Decode(&raw); err != nil {
			return err
		}
		if err := j.document(raw); err != nil {
			return err
		}
	}
	_, err := j.dec.Token()
	return err
}

// items reads the items of a list. members were read before; the kind may follow after the items.
func (j *jsonReader) items(members map[string]json.RawMessage, nameless *[][]byte) error {
	token, err := j.dec.Token()
	if err != nil || token != json.Delim('[') {
		if token == nil && err == nil {
			return nil // null
		}
		return errors.Join(err, errors.New("the items of a list in it are no list"))
	}
	size := 0
	for j.dec.More() {
		j.open()
		var raw json.RawMessage
		if err := j.dec.Decode(&raw); err != nil {
			return err
		}
		if kind := text(members["kind"]); kind != "" {
			if err := j.item(raw, text(members["apiVersion"]), kind); err != nil {
				return err
			}
			continue
		}
		if text := kindOf(raw); text != "" {
			if err := j.item(raw, "", ""); err != nil {
				return err
			}
			continue
		}
		if size += len(raw); size > maxNameless {
			return errors.New("a list in it says only at its end what its items are")
		}
		*nameless = append(*nameless, raw)
	}
	j.open()
	_, err = j.dec.Token()
	return err
}

// record reads what an API server answered, in a record of k8shark (docs/archive-format.md of it): what was asked and when
// stands before it.
func (j *jsonReader) record(members map[string]json.RawMessage) error {
	at, _ := time.Parse(time.RFC3339Nano, text(members["captured_at"]))
	if sources.CheckTime(at) != nil {
		at = time.Time{}
	}
	j.file.Lists = append(j.file.Lists, List{Source: text(members["api_path"]), Taken: at.UTC()})
	j.open()
	token, err := j.dec.Token()
	if err != nil {
		return err
	}
	if token == json.Delim('[') { // of nothing that is of use
		for j.dec.More() {
			j.open()
			var skipped json.RawMessage
			if err := j.dec.Decode(&skipped); err != nil {
				return err
			}
		}
		_, err := j.dec.Token()
		return err
	}
	if token != json.Delim('{') {
		return nil
	}
	return j.object(false)
}

func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

func kindOf(raw []byte) string {
	var o struct{ Kind string }
	_ = json.Unmarshal(raw, &o)
	return o.Kind
}
