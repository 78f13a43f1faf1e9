package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/schedq/schedq/sources"
)

// Documents splits a file at its `---` lines. Documents without content are left out. Errors are one
// sentence with the file's name and the line.
func Documents(name string, data []byte) ([]Document, error) {
	name = string(sources.Sanitize(name))
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty", name)
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var docs []Document
	current := Document{Line: 1}
	flush := func() {
		if current.Key = firstKey(current.Text); current.Key != "" {
			docs = append(docs, current)
		}
	}
	line := 0
	for l := range bytes.Lines(data) {
		line++
		if bytes.IndexByte(l, 0) >= 0 || !utf8.Valid(l) {
			return nil, fmt.Errorf("%s:%d: the line is binary, not text", name, line)
		}
		if bytes.Equal(bytes.TrimRight(l, " \t\r\n"), []byte("---")) {
			flush()
			current = Document{Line: line + 1}
			continue
		}
		current.Text = append(current.Text, l...)
	}
	flush()
	if len(docs) == 0 {
		return nil, fmt.Errorf("%s holds nothing but comments", name)
	}
	return docs, nil
}

// firstKey returns the first top-level key of a document, what its first line has if it has none, or nothing
// if it is empty.
func firstKey(text []byte) string {
	for l := range bytes.Lines(text) {
		l = bytes.TrimRight(l, " \t\r\n")
		if trimmed := bytes.TrimSpace(l); len(trimmed) == 0 || trimmed[0] == '#' || trimmed[0] == '%' {
			continue
		}
		key, _, _ := strings.Cut(string(l), ":")
		return strings.Trim(key, `"' `)
	}
	return ""
}

// LineOf returns the line of a top-level key, or of the first one if it is not there.
func (d Document) LineOf(key string) int {
	first, line := 0, d.Line-1
	for l := range bytes.Lines(d.Text) {
		line++
		text := bytes.TrimRight(l, " \t\r\n")
		if first == 0 && len(text) > 0 && text[0] != '#' && text[0] != '%' {
			first = line
		}
		if rest, ok := bytes.CutPrefix(text, []byte(key)); ok && bytes.HasPrefix(rest, []byte(":")) {
			return line
		}
	}
	return max(first, d.Line)
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// Decode reads the document into out, strictly: an unknown key is an error, which names the file and the
// line.
func (d Document) Decode(name string, out any) error {
	dec := yamlv3.NewDecoder(bytes.NewReader(d.Text))
	dec.KnownFields(true)
	err := dec.Decode(out)
	if err == nil && dec.Decode(&yamlv3.Node{}) != io.EOF {
		err = errors.New("more follows the document: put --- between documents")
	}
	if err == nil {
		return nil
	}
	text, line := err.Error(), d.Line
	var located *Error
	if errors.As(err, &located) {
		return located.inFile(name, d.Line)
	}
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		if n, bad := strconv.Atoi(text[m[2]:m[3]]); bad == nil {
			line = d.Line + n - 1
		}
		text = text[m[1]:]
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "yaml: "), "\n")
	if field, _, ok := strings.Cut(text, " not found in type "); ok {
		text = "there is no key " + strings.TrimPrefix(field, "field ") + " here"
	} else if rest, ok := strings.CutPrefix(text, "cannot unmarshal "); ok {
		value, _, _ := strings.Cut(rest, " into ")
		_, value, _ = strings.Cut(value, " ")
		text = "this is not what belongs here: " + value
	}
	return fmt.Errorf("%s:%d: %s", sources.Sanitize(name), line, sources.Sanitize(text))
}

// Error is an error about a line of a document, from 1.
type Error struct {
	Line int
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// inFile returns e with the name of the file and the line in it. The document begins in line first of the file.
func (e *Error) inFile(name string, first int) error {
	return fmt.Errorf("%s:%d: %w", sources.Sanitize(name), first+e.Line-1, e.Err)
}

// At returns an error about what n is.
func At(n *yamlv3.Node, format string, args ...any) error {
	return &Error{n.Line, fmt.Errorf(format, args...)}
}
