package lessons

import (
	"slices"
	"strings"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// Version is the version of the lesson format.
const Version = 1

// Limits of a lesson.
const (
	maxSteps   = 100
	maxAnswers = 6
)

// header is the first document of a lesson.
type header struct {
	Schedq            string  `yaml:"schedq"`
	Version           int     `yaml:"version"`
	Name              string  `yaml:"name"`
	Title             string  `yaml:"title"`
	Misconception     string  `yaml:"misconception"`
	Behaviour         string  `yaml:"behaviour"`
	Holds             string  `yaml:"holds"`
	Because           string  `yaml:"because"`
	Recording         string  `yaml:"recording"`
	Claims            []claim `yaml:"claims"`
	scenario.Settings `yaml:",inline"`
}

// step is the YAML form of Step.
type step struct {
	Step    string             `yaml:"step"`
	Text    string             `yaml:"text"`
	Notes   string             `yaml:"notes"`
	At      *scenario.Duration `yaml:"at"`
	Until   Move               `yaml:"until"`
	Look    podRef             `yaml:"look"`
	Predict *predict           `yaml:"predict"`
	Find    *find              `yaml:"find"`
	Goal    *goal              `yaml:"goal"`
	Claims  []claim            `yaml:"claims"`
}

type predict struct {
	line     int
	Pod      podRef             `yaml:"pod"`
	Until    Move               `yaml:"until"`
	After    *scenario.Duration `yaml:"after"`
	Queue    []answer           `yaml:"queue"`
	When     []answer           `yaml:"when"`
	Backoff  []answer           `yaml:"backoff"`
	Which    []answer           `yaml:"which"`
	Woken    []answer           `yaml:"woken"`
	Attempts []answer           `yaml:"attempts"`
	Ask      map[Kind]string    `yaml:"ask"`
}

// find is the YAML form of a finding.
type find struct {
	line   int
	Pod    podRef             `yaml:"pod"`
	Shows  *scenario.Duration `yaml:"shows"`
	Cause  []answer           `yaml:"cause"`
	Which  []answer           `yaml:"which"`
	Plugin []answer           `yaml:"plugin"`
	Event  []answer           `yaml:"event"`
	Ask    map[Kind]string    `yaml:"ask"`
}

type answer struct {
	line   int
	Answer string `yaml:"answer"`
	Right  bool   `yaml:"right"`
	Says   string `yaml:"says"`
}

type goal struct {
	line     int
	Pod      podRef   `yaml:"pod"`
	Enters   string   `yaml:"enters"`
	By       string   `yaml:"by"`
	Without  []string `yaml:"without"`
	Person   bool     `yaml:"person"`
	Hints    []string `yaml:"hints"`
	Solution []Action `yaml:"solution"`
}

// podRef is NAME or NAMESPACE/NAME.
type podRef types.NamespacedName

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *podRef) UnmarshalYAML(n *yamlv3.Node) error {
	key, err := podNamed(n.Value)
	if err != nil {
		return scenario.At(n, "%w", err)
	}
	*p = podRef(key)
	return nil
}

func podNamed(text string) (types.NamespacedName, error) {
	if !strings.Contains(text, "/") {
		text = metav1.NamespaceDefault + "/" + text
	}
	return sources.ParsePod(text)
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (m *Move) UnmarshalYAML(n *yamlv3.Node) (err error) {
	m.text, m.line = n.Value, n.Line
	if m.condition, err = board.ParseCondition(n.Value); err != nil {
		return scenario.At(n, "invalid condition %q: %w", sources.Sanitize(n.Value), err)
	}
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler and records the line.
func (p *predict) UnmarshalYAML(n *yamlv3.Node) error {
	type plain predict
	p.line = n.Line
	return decode(n, (*plain)(p))
}

// UnmarshalYAML implements yaml.Unmarshaler and records the line.
func (f *find) UnmarshalYAML(n *yamlv3.Node) error {
	type plain find
	f.line = n.Line
	return decode(n, (*plain)(f))
}

// UnmarshalYAML implements yaml.Unmarshaler and records the line.
func (a *answer) UnmarshalYAML(n *yamlv3.Node) error {
	type plain answer
	a.line = n.Line
	return decode(n, (*plain)(a))
}

// UnmarshalYAML implements yaml.Unmarshaler and records the line.
func (g *goal) UnmarshalYAML(n *yamlv3.Node) error {
	type plain goal
	g.line = n.Line
	return decode(n, (*plain)(g))
}

// decode decodes n and rejects unknown keys, which a node's own decoder does not.
func decode(n *yamlv3.Node, out any) error {
	if n.Kind != yamlv3.MappingNode {
		return scenario.At(n, "expected a mapping")
	}
	known := scenario.Keys(out)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !slices.Contains(known, key.Value) {
			return scenario.At(key, "unknown key %s: use one of %s", sources.Sanitize(key.Value), strings.Join(known, ", "))
		}
	}
	return n.Decode(out)
}

// Parse reads the content of a lesson's file. Errors are one sentence with the file's name and the
// line. Parse does not check whether the lesson is right: see Check.
func Parse(file string, data []byte) (*Lesson, error) {
	docs, err := scenario.Documents(file, data)
	if err != nil {
		return nil, err
	}
	var h header
	if err := docs[0].Decode(file, &h); err != nil {
		return nil, err
	}
	l := &Lesson{File: string(sources.Sanitize(file)), path: file, Recorded: h.Recording, Name: h.Name, Title: sources.Sanitize(h.Title),
		Misconception: sentence(h.Misconception), Behaviour: sentence(h.Behaviour), Holds: sentence(h.Holds), Because: sentence(h.Because)}
	first := docs[0].LineOf("schedq")
	switch {
	case h.Schedq != "lesson":
		return nil, l.errorf(first, "schedq: %q is not a lesson", sources.Sanitize(h.Schedq))
	case h.Version != Version:
		return nil, l.errorf(docs[0].LineOf("version"), "unsupported lesson version %d: use %d", h.Version, Version)
	case sources.CheckName(h.Name) != nil:
		return nil, l.errorf(docs[0].LineOf("name"), "name: %w", sources.CheckName(h.Name))
	case h.Title == "" || h.Misconception == "" || h.Holds == "":
		return nil, l.errorf(first, "a lesson needs title, misconception and holds (the releases it applies to)")
	}
	if h.Release != "" {
		if _, err := queue.ForRelease(h.Release); err != nil {
			return nil, l.errorf(docs[0].LineOf("release"), "release: %w", err)
		}
	}
	steps := slices.IndexFunc(docs, func(d scenario.Document) bool { return d.Key == "step" })
	if steps < 0 {
		return nil, l.errorf(first, "the lesson has no steps")
	}
	if h.Recording != "" && (steps > 1 || h.Start.IsZero() || h.End == 0) {
		return nil, l.errorf(docs[0].LineOf("recording"), "a lesson on a recording needs start and end, and can't have its own story")
	}
	if l.Scenario, err = scenario.Play(file, h.Settings, docs[1:steps]); err != nil {
		return nil, err
	}
	if l.Claims, err = l.parseClaims(h.Claims, l.said(), func(of int) int { return docs[0].Line + of - 1 }); err != nil {
		return nil, err
	}
	for _, d := range docs[steps:] {
		if len(l.Steps) >= maxSteps {
			return nil, l.errorf(d.Line, "too many steps: at most %d", maxSteps)
		}
		s, err := l.parseStep(d)
		if err != nil {
			return nil, err
		}
		l.Steps = append(l.Steps, *s)
	}
	return l, nil
}

// sentence returns text with line ends turned into spaces, so that it can be wrapped again.
func sentence(text string) sources.SafeText {
	return sources.Sanitize(strings.Join(strings.Fields(text), " "))
}

// parseStep reads a step.
func (l *Lesson) parseStep(d scenario.Document) (*Step, error) {
	if d.Key != "step" {
		return nil, l.errorf(d.LineOf(""), "only steps can follow the first step, not %q", sources.Sanitize(d.Key))
	}
	var in step
	if err := d.Decode(l.File, &in); err != nil {
		return nil, err
	}
	line := func(of int) int { return d.Line + of - 1 }
	s := &Step{Line: d.LineOf("step"), Title: sentence(in.Step), Text: sentence(in.Text), Notes: sentence(in.Notes), At: -1, Until: in.Until, Look: types.NamespacedName(in.Look)}
	s.Until.line = line(in.Until.line)
	switch {
	case s.Title == "" || s.Text == "":
		return nil, l.errorf(s.Line, "a step needs a title and a text")
	case in.Predict != nil && in.Goal != nil, in.Find != nil && (in.Predict != nil || in.Goal != nil):
		return nil, l.errorf(s.Line, "a step can have only one of predict, find and goal")
	case in.At != nil && in.Until.text != "":
		return nil, l.errorf(s.Line, "a step has either at or until")
	case in.At != nil:
		if s.At = time.Duration(*in.At); s.At > l.Scenario.End {
			return nil, l.errorf(d.LineOf("at"), "the step is at %s, but the scenario ends at %s", s.At, l.Scenario.End)
		}
	}
	var err error
	if in.Predict != nil {
		if s.Prediction, err = l.parsePrediction(in.Predict, line); err != nil {
			return nil, err
		}
		if s.Look.Name == "" {
			s.Look = s.Prediction.Pod
		}
	}
	if in.Find != nil {
		if s.Prediction, err = l.parseFinding(in.Find, line); err != nil {
			return nil, err
		}
	}
	if in.Goal != nil {
		if s.Goal, err = l.parseGoal(in.Goal, line); err != nil {
			return nil, err
		}
		if s.Look.Name == "" {
			s.Look = s.Goal.Pod
		}
	}
	s.Claims, err = l.parseClaims(in.Claims, s.said(), line)
	return s, err
}

func (l *Lesson) parseGoal(in *goal, line func(int) int) (*Goal, error) {
	g := &Goal{Line: line(in.line), Pod: types.NamespacedName(in.Pod), By: in.By, Without: in.Without, Person: in.Person, Solution: in.Solution}
	for i := range g.Solution {
		g.Solution[i].Line = line(g.Solution[i].Line)
	}
	for _, h := range in.Hints {
		g.Hints = append(g.Hints, sentence(h))
	}
	var err error
	switch g.Tier, err = filter.Tier(in.Enters); {
	case err != nil:
		return nil, l.errorf(g.Line, "enters: %w", err)
	case g.Pod.Name == "":
		return nil, l.errorf(g.Line, "a goal needs a pod")
	case len(g.Hints) == 0:
		return nil, l.errorf(g.Line, "a goal needs hints")
	case len(g.Solution) == 0:
		return nil, l.errorf(g.Line, "a goal needs a solution")
	}
	return g, nil
}
