package seed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/manifest"
)

// yaml reads successive documents.
func (r *reader) yaml(in *bufio.Reader) error {
	var doc []byte
	flush := func() error {
		defer func() { doc = doc[:0] }()
		if len(bytes.TrimSpace(doc)) == 0 {
			return nil
		}
		return r.yamlDocument(doc)
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if separates(line) && (len(doc) == 0 || doc[len(doc)-1] == '\n') {
			if err := flush(); err != nil {
				return err
			}
			line = line[:0]
		}
		if doc = append(doc, line...); len(doc) > maxYAML {
			return fmt.Errorf("a document in it has more than %d MiB of YAML: ask for JSON (-o json), which is read item by item", maxYAML>>20)
		}
		if err == io.EOF {
			return flush()
		}
	}
}

func separates(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	return string(line) == "---" || string(line) == "..." || bytes.HasPrefix(line, []byte("--- #"))
}

// yamlDocument reads an object or a list in YAML. It decodes a long list item by item.
func (r *reader) yamlDocument(doc []byte) error {
	if err := sources.CheckYAML(doc); err != nil {
		if rest, items := splitItems(doc); items != nil {
			return r.yamlItems(rest, items)
		}
		r.leaveOut(err)
		return nil
	}
	raw, err := manifest.ObjectJSON(doc)
	if err != nil {
		return err
	}
	return r.document(raw)
}

// yamlItems reads the items of a list. rest is the list without them.
func (r *reader) yamlItems(rest []byte, items iter.Seq[[]byte]) error {
	raw, err := manifest.ObjectJSON(rest)
	if err != nil {
		return err
	}
	var list metav1.TypeMeta
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("a list in it has no kind: %s", sources.Sanitize(err.Error()))
	}
	for item := range items {
		raw, err := manifest.ObjectJSON(item)
		if err != nil {
			r.leaveOut(err)
		} else if err := r.item(raw, list.APIVersion, list.Kind); err != nil {
			return err
		}
	}
	return nil
}

// splitItems splits a YAML list in the usual layout: each item begins with a dash on a new line. It returns the list without
// its items, and the items without the dashes, each valid until the next one. They are nil if doc is anything else.
func splitItems(doc []byte) (rest []byte, items iter.Seq[[]byte]) {
	const key = "items:\n"
	at := bytes.Index(doc, []byte("\n"+key)) + 1
	if at == 0 && !bytes.HasPrefix(doc, []byte(key)) {
		return nil, nil
	}
	begin := at + len(key)
	indent := len(doc[begin:]) - len(bytes.TrimLeft(doc[begin:], " "))
	end := begin
	for line := range bytes.Lines(doc[begin:]) {
		depth := len(line) - len(bytes.TrimLeft(line, " "))
		if text := bytes.TrimSpace(line); len(text) > 0 && (depth < indent || depth == indent && !isItem(line, indent)) {
			break
		}
		end += len(line)
	}
	if end == begin {
		return nil, nil
	}
	rest = append(append(rest, doc[:begin]...), doc[end:]...)
	return rest, func(yield func([]byte) bool) {
		from, to := begin, begin
		for line := range bytes.Lines(doc[begin:end]) {
			if isItem(line, indent) {
				if to > from && !yield(doc[from:to]) {
					return
				}
				from = to
				doc[to+indent] = ' '
			}
			to += len(line)
		}
		yield(doc[from:to])
	}
}

// isItem reports whether a line begins an item whose dash has that indentation.
func isItem(line []byte, indent int) bool {
	line = bytes.TrimRight(line, "\r\n")
	return len(line) > indent && line[indent] == '-' && len(bytes.TrimLeft(line[:indent], " ")) == 0 && (len(line) == indent+1 || line[indent+1] == ' ')
}
