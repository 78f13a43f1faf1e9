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

// verb is one kind of deed.
type verb struct {
	// least and most are how many words follow.
	least, most int
	// pod is true if the first of them names a pod.
	pod bool
	do  func(s *session.Session, d Deed)
}

// pod is the pod that the deed is about.
func (d Deed) pod() types.NamespacedName {
	key, _ := podNamed(d.Words[0]) // checked
	return key
}

// verbs are what a solution is made of, and what each does to a session.
func verbs() map[string]verb {
	return map[string]verb{
		"activate": {1, 1, true, func(s *session.Session, d Deed) { s.Activate(d.pod()) }},
		"add": {1, 2, true, func(s *session.Session, d Deed) {
			priority := 0
			if len(d.Words) == 2 {
				priority, _ = strconv.Atoi(d.Words[1]) // checked
			}
			s.AddPod(session.NewPod{Key: d.pod(), Priority: int32(priority)})
		}},
		"apply":    {0, 0, false, func(s *session.Session, d Deed) { s.Apply("the solution", d.objects) }},
		"bind":     {1, 1, true, func(s *session.Session, d Deed) { s.BindClaim(d.pod()) }},
		"delete":   {2, 2, false, remove},
		"edit":     {2, 9, false, func(s *session.Session, d Deed) { s.EditNode(d.Words[0], d.Words[1:]) }},
		"event":    {1, 1, false, func(s *session.Session, d Deed) { s.InjectEvent(d.Words[0]) }},
		"fits":     {1, 1, true, func(s *session.Session, d Deed) { s.Fits(d.pod()) }},
		"flush":    {1, 1, false, flush},
		"like":     {1, 2, false, addNode},
		"move-all": {0, 0, false, func(s *session.Session, _ Deed) { s.MoveAll() }},
		"open":     {1, 1, true, func(s *session.Session, d Deed) { s.OpenGate(d.pod()) }},
		"pop":      {0, 0, false, func(s *session.Session, _ Deed) { s.Pop() }},
		"reject":   {1, 9, true, func(s *session.Session, d Deed) { s.Reject(d.pod(), d.Words[1:]...) }},
		"wait": {1, 1, false, func(s *session.Session, d Deed) {
			t, _ := time.ParseDuration(d.Words[0]) // checked
			s.StepTime(t)
		}},
	}
}

func remove(s *session.Session, d Deed) {
	key := types.NamespacedName{Name: d.Words[1]}
	if d.Words[0] == "pod" {
		key, _ = podNamed(d.Words[1]) // checked
	}
	s.DeleteObject(d.Words[0], key)
}

func flush(s *session.Session, d Deed) {
	if d.Words[0] == "backoff" {
		s.FlushBackoff()
	} else {
		s.FlushLeftover()
	}
}

func addNode(s *session.Session, d Deed) {
	name := ""
	if len(d.Words) == 2 {
		name = d.Words[1]
	}
	s.AddNodeLike(d.Words[0], name)
}

// Do does it in a what-if.
func (d Deed) Do(s *session.Session) { verbs()[d.Verb].do(s, d) }

// UnmarshalYAML implements yaml.Unmarshaler: a verb and words, or apply with manifests.
func (d *Deed) UnmarshalYAML(n *yamlv3.Node) error {
	d.Line = n.Line
	if n.Kind == yamlv3.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "apply" {
		m, err := manifest.Parse("apply", []byte(n.Content[1].Value))
		if err != nil {
			return scenario.At(n, "%w", err)
		}
		d.Text, d.Verb, d.objects = "apply", "apply", m.Objects
		return nil
	}
	d.Text = string(sentence(n.Value))
	words := strings.Fields(d.Text)
	if len(words) == 0 {
		return scenario.At(n, "a deed is a verb and what it is about: activate web-1")
	}
	d.Verb, d.Words = words[0], words[1:]
	v, ok := verbs()[d.Verb]
	if !ok {
		return scenario.At(n, "there is no deed %q: %s", d.Verb, strings.Join(verbNames(), ", "))
	}
	if err := d.check(v); err != nil {
		return scenario.At(n, "%q: %w", d.Text, err)
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

// check returns an error if the words are not what the verb takes.
func (d *Deed) check(v verb) error {
	if len(d.Words) < v.least || len(d.Words) > v.most {
		return fmt.Errorf("%s takes %d to %d words", d.Verb, v.least, v.most)
	}
	if v.pod {
		if _, err := podNamed(d.Words[0]); err != nil {
			return err
		}
	}
	switch d.Verb {
	case "apply":
		return fmt.Errorf("apply is written with the manifests: apply: |")
	case "add":
		if len(d.Words) == 2 {
			_, err := strconv.ParseInt(d.Words[1], 10, 32)
			return err
		}
	case "delete":
		if d.Words[0] != "pod" && d.Words[0] != "node" {
			return fmt.Errorf("delete takes pod or node")
		}
		_, err := podNamed(d.Words[1])
		return err
	case "event":
		if !slices.Contains(queue.InjectableLabels(), d.Words[0]) {
			return fmt.Errorf("there is no cluster event %s", sources.Sanitize(d.Words[0]))
		}
	case "flush":
		if d.Words[0] != "backoff" && d.Words[0] != "leftover" {
			return fmt.Errorf("flush takes backoff or leftover")
		}
	case "wait":
		if t, err := time.ParseDuration(d.Words[0]); err != nil || t <= 0 {
			return fmt.Errorf("wait takes a time like 10s")
		}
	}
	return nil
}
