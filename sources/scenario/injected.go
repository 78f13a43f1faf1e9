package scenario

import (
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// injected are names of what the queue does: a list of injectable.Names.
type injected []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (in *injected) UnmarshalYAML(n *yamlv3.Node) error {
	names := queue.InjectableNames()
	if n.Kind != yamlv3.SequenceNode {
		return At(n, "inject is a list of events: [NodeAdd]")
	}
	for _, word := range n.Content {
		if !slices.Contains(names, word.Value) {
			return At(word, "%q can't be injected; what can is %s", sources.Sanitize(word.Value), strings.Join(names, ", "))
		}
		*in = append(*in, word.Value)
	}
	return nil
}

// pods are names of pods: NAME or NAMESPACE/NAME.
type pods []types.NamespacedName

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *pods) UnmarshalYAML(n *yamlv3.Node) error {
	if n.Kind != yamlv3.SequenceNode {
		return At(n, "activate is a list of pods: [web-1]")
	}
	for _, word := range n.Content {
		key, err := podName(word.Value)
		if err != nil {
			return At(word, "%w", err)
		}
		*p = append(*p, key)
	}
	return nil
}
