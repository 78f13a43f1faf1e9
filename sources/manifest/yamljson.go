package manifest

// YAML is converted to JSON as in kubectl.

import (
	"bytes"
	"errors"
	"fmt"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/sources"
)

// ObjectJSON returns the object of a document as JSON. An error is one sentence without a name: it is no YAML or no object,
// it has too many values, or it has aliases, of which a few lines make gigabytes.
func ObjectJSON(doc []byte) ([]byte, error) {
	if err := sources.CheckYAML(doc); err != nil {
		return nil, err
	}
	if bytes.IndexByte(doc, '*') >= 0 {
		var node yamlv3.Node
		if err := yamlv3.Unmarshal(doc, &node); err != nil {
			return nil, notYAML(err)
		}
		if hasAlias(&node) {
			return nil, errors.New("it has aliases (*NAME), which no tool writes that hands out objects")
		}
	}
	raw, err := yaml.YAMLToJSON(doc) // not from a node: kubectl reads YAML 1.1, in which yes is true
	switch {
	case err != nil:
		return nil, notYAML(err)
	case raw[0] != '{':
		return nil, errors.New("the document is no object")
	}
	return raw, nil
}

func notYAML(err error) error {
	return fmt.Errorf("it is no YAML: %s", sources.Sanitize(err.Error()))
}

// hasAlias reports whether there is an alias in n.
func hasAlias(n *yamlv3.Node) bool {
	if n.Kind == yamlv3.AliasNode {
		return true
	}
	for _, c := range n.Content {
		if hasAlias(c) {
			return true
		}
	}
	return false
}
