package manifest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// steps splits a path in an error: "spec.containers[0].name", "spec.limits[cpu]".
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// lineOf returns the line of the value at the path, or of its nearest existing parent.
func (d *document) lineOf(path []string) int {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if key := findKey(d.node, path); key != nil {
			return d.skip + key.Line
		}
	}
	return d.line
}

// find returns the value at the path, or nil.
func find(n *yamlv3.Node, path []string) *yamlv3.Node {
	n = target(n)
	for _, step := range path {
		if _, n = child(n, step); n == nil {
			return nil
		}
	}
	return n
}

// findKey is find, but returns the name of a member instead of its value.
func findKey(n *yamlv3.Node, path []string) *yamlv3.Node {
	key, _ := child(find(n, path[:len(path)-1]), path[len(path)-1])
	return key
}

// child returns a member's name and value, or an element twice.
func child(n *yamlv3.Node, step string) (key, value *yamlv3.Node) {
	if n == nil {
		return nil, nil
	}
	if n.Kind == yamlv3.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], target(n.Content[i])
		}
		return nil, nil
	}
	if n.Kind != yamlv3.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i], target(n.Content[i+1])
		}
	}
	return nil, nil
}

// target resolves documents and aliases.
func target(n *yamlv3.Node) *yamlv3.Node {
	for n != nil {
		switch {
		case n.Kind == yamlv3.DocumentNode && len(n.Content) > 0:
			n = n.Content[0]
		case n.Kind == yamlv3.AliasNode:
			n = n.Alias
		default:
			return n
		}
	}
	return nil
}

// walk calls visit for each value in raw, which is JSON, until visit returns false: with its path, which is valid until
// visit returns, and with the offset of its end. For an object or a list, it is that of the opening bracket.
func walk(raw []byte, visit func(path []string, value json.Token, end int) bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value func(path []string) bool
	value = func(path []string) bool {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		if !visit(path, tok, int(dec.InputOffset())) {
			return false
		}
		if _, ok := tok.(json.Delim); !ok {
			return true
		}
		for i := 0; dec.More(); i++ {
			step := strconv.Itoa(i)
			if tok == json.Delim('{') {
				name, err := dec.Token()
				if err != nil {
					return false
				}
				step, _ = name.(string)
			}
			if !value(append(path, step)) {
				return false
			}
		}
		_, err = dec.Token()
		return err == nil
	}
	value(nil)
}

// join is the inverse of steps, for sentences.
func join(path []string) string {
	var b strings.Builder
	for i, s := range path {
		if _, err := strconv.Atoi(s); err == nil {
			b.WriteString("[" + s + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return short(b.String())
}
