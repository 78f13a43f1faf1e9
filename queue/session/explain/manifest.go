package explain

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// Manifest returns the last known state of p's object in YAML, with a comment about the fields that
// sources do not keep: environment, arguments, annotations, volumes that scheduling ignores.
func Manifest(p *board.Pod) string {
	pod := p.Object()
	if len(pod.Spec.Containers) == 0 {
		return fmt.Sprintf("# The source mentions %s but does not contain its object.\n", sources.Sanitize(p.Key.String()))
	}
	whole := pod.DeepCopy()
	whole.APIVersion, whole.Kind = v1.SchemeGroupVersion.String(), "Pod"
	text, err := yaml.Marshal(whole)
	if err != nil {
		return fmt.Sprintf("# The object of %s can't be written: %s\n", sources.Sanitize(p.Key.String()), sources.Sanitize(err.Error()))
	}
	var b strings.Builder
	b.WriteString("# Last known state. Fields the scheduler ignores were dropped: environment, arguments, annotations.\n")
	for line := range strings.Lines(string(text)) {
		b.WriteString(string(sources.Sanitize(strings.TrimSuffix(line, "\n"))) + "\n")
	}
	return b.String()
}
