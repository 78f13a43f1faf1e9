package explain

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// Manifest is p's object as the source told it last by then, in YAML, with comments that say what it lacks. What sources
// keep no part of (environment, arguments, annotations, volumes that scheduling does not read) is not in it.
func Manifest(p *board.Pod) string {
	pod := p.Object()
	if len(pod.Spec.Containers) == 0 {
		return fmt.Sprintf("# The source names %s and has no object of it.\n", sources.Sanitize(p.Key.String()))
	}
	whole := pod.DeepCopy()
	whole.APIVersion, whole.Kind = v1.SchemeGroupVersion.String(), "Pod"
	text, err := yaml.Marshal(whole)
	if err != nil {
		return fmt.Sprintf("# The object of %s can't be written: %s\n", sources.Sanitize(p.Key.String()), sources.Sanitize(err.Error()))
	}
	var b strings.Builder
	b.WriteString("# As the source told it last by then. What scheduling does not read was not kept: environment, arguments, annotations.\n")
	for line := range strings.Lines(string(text)) {
		b.WriteString(string(sources.Sanitize(strings.TrimSuffix(line, "\n"))) + "\n")
	}
	return b.String()
}
