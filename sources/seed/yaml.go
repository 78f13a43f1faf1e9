package seed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/sources"
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
	var node yamlv3.Node
	if err := yamlv3.Unmarshal(doc, &node); err != nil {
		return fmt.Errorf("it is neither JSON nor YAML: %s", sources.Sanitize(err.Error()))
	}
	if aliased(&node) {
		return fmt.Errorf("it has aliases (*NAME), which no tool writes that hands out objects")
	}
	if len(node.Content) == 0 || node.Content[0].Kind != yamlv3.MappingNode {
		return fmt.Errorf("it holds a document that is no object")
	}
	raw, err := yaml.YAMLToJSON(doc) // not from the node: kubectl reads YAML 1.1, in which yes is true
	if err != nil {
		return fmt.Errorf("it is neither JSON nor YAML: %s", sources.Sanitize(err.Error()))
	}
	return r.document(raw)
}

// aliased reports whether there is an alias in n: a few lines with them make gigabytes.
func aliased(n *yamlv3.Node) bool {
	if n.Kind == yamlv3.AliasNode {
		return true
	}
	for _, c := range n.Content {
		if aliased(c) {
			return true
		}
	}
	return false
}
