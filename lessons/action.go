package lessons

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/sources/scenario"
)

// verb is one kind of action.
type verb struct {
	// least and most limit the number of words after the verb.
	least, most int
	// pod is true if the first word names a pod.
	pod bool
	do  func(s *session.Session, a Action)
}

// pod returns the pod that the action is about.
func (a Action) pod() types.NamespacedName {
	key, _ := podNamed(a.Words[0]) // checked
	return key
}

// verbs returns the verbs of solutions and their effect on a session.
func verbs() map[string]verb {
	return map[string]verb{
		"activate": {1, 1, true, func(s *session.Session, a Action) { s.Activate(a.pod()) }},
		"add": {1, 2, true, func(s *session.Session, a Action) {
			priority := 0
			if len(a.Words) == 2 {
				priority, _ = strconv.Atoi(a.Words[1]) // checked
			}
			s.AddPod(session.NewPod{Key: a.pod(), Priority: int32(priority)})
		}},
		"apply":    {0, 0, false, func(s *session.Session, a Action) { s.Apply("the solution", a.objects) }},
		"bind":     {1, 1, true, func(s *session.Session, a Action) { s.BindClaim(a.pod()) }},
		"delete":   {2, 2, false, remove},
		"edit":     {2, 9, false, func(s *session.Session, a Action) { s.EditNode(a.Words[0], a.Words[1:]) }},
		"event":    {1, 1, false, func(s *session.Session, a Action) { s.InjectEvent(a.Words[0]) }},
		"fits":     {1, 1, true, func(s *session.Session, a Action) { s.Fits(a.pod()) }},
		"flush":    {1, 1, false, flush},
		"like":     {1, 2, false, addNode},
		"move-all": {0, 0, false, func(s *session.Session, _ Action) { s.MoveAll() }},
		"open":     {1, 1, true, func(s *session.Session, a Action) { s.OpenGate(a.pod()) }},
		"pop":      {0, 0, false, func(s *session.Session, _ Action) { s.Pop() }},
		"reject":   {1, 9, true, func(s *session.Session, a Action) { s.Reject(a.pod(), a.Words[1:]...) }},
		"wait": {1, 1, false, func(s *session.Session, a Action) {
			t, _ := time.ParseDuration(a.Words[0]) // checked
			s.StepTime(t)
		}},
	}
}

func remove(s *session.Session, a Action) {
	key := types.NamespacedName{Name: a.Words[1]}
	if a.Words[0] == "pod" {
		key, _ = podNamed(a.Words[1]) // checked
	}
	s.DeleteObject(a.Words[0], key)
}

func flush(s *session.Session, a Action) {
	if a.Words[0] == "backoff" {
		s.FlushBackoff()
	} else {
		s.FlushLeftover()
	}
}

func addNode(s *session.Session, a Action) {
	name := ""
	if len(a.Words) == 2 {
		name = a.Words[1]
	}
	s.AddNodeLike(a.Words[0], name)
}

// Do performs the action in a what-if.
func (a Action) Do(s *session.Session) { verbs()[a.Verb].do(s, a) }

// UnmarshalYAML implements yaml.Unmarshaler. It reads a verb with words, or apply with manifests.
func (a *Action) UnmarshalYAML(n *yamlv3.Node) error {
	a.Line = n.Line
	if n.Kind == yamlv3.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "apply" {
		m, err := manifest.Parse("apply", []byte(n.Content[1].Value))
		if err != nil {
			return scenario.At(n, "%w", err)
		}
		a.Text, a.Verb, a.objects = "apply", "apply", m.Objects
		return nil
	}
	a.Text = string(sentence(n.Value))
	words := strings.Fields(a.Text)
	if len(words) == 0 {
		return scenario.At(n, "empty action: use a verb and its object, like activate web-1")
	}
	a.Verb, a.Words = words[0], words[1:]
	v, ok := verbs()[a.Verb]
	if !ok {
		return scenario.At(n, "unknown action %q: use one of %s", a.Verb, strings.Join(verbNames(), ", "))
	}
	if err := a.check(v); err != nil {
		return scenario.At(n, "%q: %w", a.Text, err)
	}
	return nil
}

func verbNames() []string {
	var names []string
	for name := range verbs() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// check returns an error if the words don't fit the verb.
func (a *Action) check(v verb) error {
	if len(a.Words) < v.least || len(a.Words) > v.most {
		return fmt.Errorf("%s takes %d to %d words", a.Verb, v.least, v.most)
	}
	if v.pod {
		if _, err := podNamed(a.Words[0]); err != nil {
			return err
		}
	}
	switch a.Verb {
	case "apply":
		return fmt.Errorf("apply needs manifests: use apply: |")
	case "add":
		if len(a.Words) == 2 {
			_, err := strconv.ParseInt(a.Words[1], 10, 32)
			return err
		}
	case "delete":
		if a.Words[0] != "pod" && a.Words[0] != "node" {
			return fmt.Errorf("delete takes pod or node")
		}
		_, err := podNamed(a.Words[1])
		return err
	case "event":
		if !slices.Contains(queue.InjectableLabels(), a.Words[0]) {
			return fmt.Errorf("unknown cluster event %s", sources.Sanitize(a.Words[0]))
		}
	case "flush":
		if a.Words[0] != "backoff" && a.Words[0] != "leftover" {
			return fmt.Errorf("flush takes backoff or leftover")
		}
	case "wait":
		if t, err := time.ParseDuration(a.Words[0]); err != nil || t <= 0 {
			return fmt.Errorf("wait takes a time like 10s")
		}
	}
	return nil
}
