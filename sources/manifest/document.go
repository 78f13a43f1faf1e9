package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/sources"
)

// maxExpanded limits the size of a document with its aliases expanded, because of alias bombs.
const maxExpanded = 4 * maxFile

// document is one object of the file.
type document struct {
	file string
	line int          // its first
	json []byte       // its content
	node *yamlv3.Node // tells lines; nil in the odd JSON that is no YAML
	skip int          // of the file's lines, how many are above the node's first

	apiVersion, kind, name string
}

// split parses the documents of a file. It skips empty ones.
func split(file string, data []byte) ([]*document, error) {
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty", file)
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", file, maxFile>>20)
	case bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte(",")) > maxSplit:
		return nil, fmt.Errorf("%s has more than %d lines and commas", file, maxSplit)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var docs []*document
	start, first := 0, 1 // of the current document: its offset and its line
	flush := func(end int) error {
		more, err := parse(file, first, data[start:end])
		docs = append(docs, more...)
		return err
	}
	line, at := 0, 0
	for l := range bytes.Lines(data) {
		line++
		if bytes.IndexByte(l, 0) >= 0 || !utf8.Valid(l) {
			return nil, fmt.Errorf("%s:%d: the line is binary, not text", file, line)
		}
		switch {
		case separates(l, "---"): // what follows it on its line is the next document's
			if err := flush(at); err != nil {
				return nil, err
			}
			start, first = at, line
		case separates(l, "..."):
			if err := flush(at); err != nil {
				return nil, err
			}
			start, first = at+len(l), line+1
		}
		at += len(l)
	}
	return docs, flush(len(data))
}

func separates(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// parse parses the text between two separators, from that line on: a YAML document, successive JSON objects, or nothing.
func parse(file string, first int, text []byte) ([]*document, error) {
	top := head(text)
	if docs := parseJSON(file, first, text); docs != nil {
		for _, d := range docs {
			if err := d.envelope(); err != nil {
				return nil, err
			}
		}
		return docs, nil
	}
	d := &document{file: file, line: first + top, skip: first - 1, node: &yamlv3.Node{}}
	dec := yamlv3.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(d.node); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, d.syntaxError(err)
	}
	// kubectl ignores the rest.
	if err := dec.Decode(&yamlv3.Node{}); err != nil && err != io.EOF {
		return nil, d.syntaxError(err)
	} else if err == nil {
		return nil, d.errorf("", "more follows the document: put --- between documents")
	}
	if _, err := expanded(d.node, map[*yamlv3.Node]int{}); err != nil {
		return nil, d.errorf("", "%w", err)
	}
	var err error
	// Not from the nodes: kubectl reads YAML 1.1, in which yes is true.
	if d.json, err = yaml.YAMLToJSONStrict(text); err != nil {
		return nil, d.syntaxError(err)
	}
	if string(d.json) == "null" {
		return nil, nil
	}
	return []*document{d}, d.envelope()
}

// head counts the lines above the first with content.
func head(text []byte) (n int) {
	for l := range bytes.Lines(bytes.TrimPrefix(text, []byte("---"))) {
		if l = bytes.TrimSpace(l); len(l) > 0 && l[0] != '#' && l[0] != '%' {
			break
		}
		n++
	}
	return n
}

// parseJSON returns nil for text that is not entirely JSON.
func parseJSON(file string, first int, text []byte) (docs []*document) {
	text = bytes.TrimPrefix(text, []byte("---"))
	if t := bytes.TrimSpace(text); len(t) == 0 || t[0] != '{' {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	for line, at := first, 0; ; {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err == io.EOF {
			return docs
		} else if err != nil {
			return nil
		}
		from := int(dec.InputOffset()) - len(raw)
		line += bytes.Count(text[at:from], []byte("\n"))
		at = from
		d := &document{file: file, line: line, skip: line - 1, json: raw, node: &yamlv3.Node{}}
		if yamlv3.Unmarshal(raw, d.node) != nil {
			d.node = nil
		}
		docs = append(docs, d)
	}
}

// expanded returns the size of a node with its aliases replaced, or an error if that is too much.
func expanded(n *yamlv3.Node, known map[*yamlv3.Node]int) (int, error) {
	if n.Alias != nil {
		n = n.Alias
		switch size, ok := known[n]; {
		case ok && size == 0:
			return 0, fmt.Errorf("the alias *%s stands within what it names", sources.Sanitize(n.Anchor))
		case ok:
			return size, nil
		}
	}
	known[n] = 0
	size := 1 + len(n.Value)
	for _, c := range n.Content {
		more, err := expanded(c, known)
		if err != nil {
			return 0, err
		}
		if size += more; size > maxExpanded {
			return 0, fmt.Errorf("the document's aliases make more than %d MiB of it", maxExpanded>>20)
		}
	}
	known[n] = size
	return size, nil
}

// envelope reads the fields that every object has.
func (d *document) envelope() error {
	var members, meta map[string]json.RawMessage
	if json.Unmarshal(d.json, &members) != nil {
		return d.errorf("", "the document is not an object with a kind: is it a Kubernetes manifest?")
	}
	text := func(from map[string]json.RawMessage, name string) (s string) {
		_ = json.Unmarshal(from[name], &s) // the typed decoding will tell
		return s
	}
	_ = json.Unmarshal(members["metadata"], &meta)
	d.apiVersion, d.kind = text(members, "apiVersion"), text(members, "kind")
	if d.name = text(meta, "name"); d.name == "" {
		d.name = text(meta, "generateName")
	}
	switch {
	case d.kind == "":
		return d.errorf("kind", "the document has no kind: is it a Kubernetes manifest?")
	case d.apiVersion == "":
		return d.errorf("apiVersion", "the %s has no apiVersion", d.title())
	}
	return nil
}

// items returns the objects of a list, or the document itself if it is not a list.
func (d *document) items() ([]*document, error) {
	kind, ok := strings.CutSuffix(d.kind, "List")
	var list struct {
		Items *[]json.RawMessage `json:"items"`
	}
	if !ok || json.Unmarshal(d.json, &list) != nil || list.Items == nil {
		return []*document{d}, nil
	}
	var out []*document
	for i, raw := range *list.Items {
		path := []string{"items", strconv.Itoa(i)}
		node := find(d.node, path)
		item := &document{file: d.file, line: d.lineOf(path), json: raw, node: node, skip: d.skip}
		if err := item.envelope(); err != nil {
			// The items of a PodList may lack a kind.
			if kind == "" || item.kind != "" {
				return nil, err
			}
			item.kind, item.apiVersion = kind, d.apiVersion
		}
		if strings.HasSuffix(item.kind, "List") {
			return nil, item.errorf("", "a %s is in a list: lists do not nest", item.title())
		}
		out = append(out, item)
	}
	return out, nil
}

// title names the object: "Deployment web".
func (d *document) title() string {
	return strings.TrimSpace(short(d.kind) + " " + short(d.name))
}

// short shortens text from the file for a sentence.
func short(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "..."
	}
	return string(sources.Sanitize(s))
}

func quote(s string) string { return `"` + short(s) + `"` }

// errorf returns an error about a field, "spec.containers[0].image", with its line or that of the nearest existing parent.
// The path "" is the document.
func (d *document) errorf(path, format string, args ...any) error {
	return d.errorAt(d.lineOf(steps(path)), format, args...)
}

func (d *document) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", d.file, line, fmt.Errorf(format, args...))
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s+)?line (\d+): `)

// syntaxError is the error of a YAML parser, which counts the document's lines, and may be off by one.
func (d *document) syntaxError(err error) error {
	text, line := err.Error(), d.line
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = d.skip + n
		}
		text = text[len(m[0]):]
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "yaml: "), "\n")
	return d.errorAt(line, "the YAML cannot be read near here: %s", short(text))
}
