package seed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/schedq/schedq/sources/manifest"
)

// yaml reads documents, one after the other.
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

// yamlDocument takes an object or a list in YAML.
func (r *reader) yamlDocument(doc []byte) error {
	raw, err := manifest.ObjectJSON(doc)
	if err != nil {
		return err
	}
	return r.document(raw)
}
