package lessons

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// Claim is a statement of a lesson in checkable form. It is checked by playing the lesson, or by
// looking up Source in upstream's code. Either may be missing.
type Claim struct {
	Line int
	// Of quotes the words of the statement. They must occur in the step, or in the head of the
	// lesson.
	Of sources.SafeText
	// At is the moment since the start of the scenario, to a hundredth of a second.
	At time.Duration
	// At that moment, Pod is in Tier, bound or nominated to Node, with this number of Attempts. Rejected are the plugins that
	// last rejected it, Backoff is its length and Over the time its backoff ends. Nil and empty
	// fields are not checked.
	Pod           types.NamespacedName
	Tier          *queue.Tier
	Node          string
	Attempts      *int
	Rejected      []string
	Backoff, Over *time.Duration
	// Move comes at that moment, as the first such move from After on. By is its event, Pod its
	// pod.
	Move  Move
	After time.Duration
	By    string
	// Event moves exactly the pods in Wakes out of the unschedulable and gated pods at that moment.
	Event string
	Wakes []types.NamespacedName
	// Since and UpTo are the first and the last release for which the claim holds when the lesson
	// is played under its rules. If both are empty, the claim is about the lesson's own release.
	Since, UpTo string
	Source      Source
}

// Source is a place in upstream's code: words in a file of k8s.io/kubernetes at a release.
type Source struct{ File, Release, Words string }

// claim is the YAML form of Claim.
type claim struct {
	line     int
	Of       string             `yaml:"of"`
	At       *scenario.Duration `yaml:"at"`
	Pod      podRef             `yaml:"pod"`
	Tier     string             `yaml:"tier"`
	Node     string             `yaml:"node"`
	Attempts *int               `yaml:"attempts"`
	Rejected []string           `yaml:"rejected"`
	Backoff  *scenario.Duration `yaml:"backoff"`
	Over     *scenario.Duration `yaml:"over"`
	Move     Move               `yaml:"move"`
	After    scenario.Duration  `yaml:"after"`
	By       string             `yaml:"by"`
	Event    string             `yaml:"event"`
	Wakes    []podRef           `yaml:"wakes"`
	Since    string             `yaml:"since"`
	UpTo     string             `yaml:"up-to"`
	Source   string             `yaml:"source"`
}

// UnmarshalYAML implements yaml.Unmarshaler and records the line.
func (c *claim) UnmarshalYAML(n *yamlv3.Node) error {
	type plain claim
	c.line = n.Line
	return decode(n, (*plain)(c))
}

// sourceForm is the syntax of a source: a file of k8s.io/kubernetes, its release, and words in the
// file.
var sourceForm = regexp.MustCompile(`^([\w./-]+)@(v1\.\d+\.\d+) (.+)$`)

// parseClaims reads the claims about the texts in said.
func (l *Lesson) parseClaims(in []claim, said []sources.SafeText, line func(int) int) ([]Claim, error) {
	var all []Claim
	for _, each := range in {
		c, err := each.parse(l.Scenario.End)
		if err == nil && !slices.ContainsFunc(said, func(text sources.SafeText) bool { return strings.Contains(string(text), string(c.Of)) }) {
			err = fmt.Errorf("the text does not contain %q", c.Of)
		}
		if err != nil {
			return nil, l.errorf(line(each.line), "claims: %w", err)
		}
		c.Line = line(each.line)
		all = append(all, c)
	}
	return all, nil
}

// parse reads a claim about a scenario that ends at end.
func (in *claim) parse(end time.Duration) (Claim, error) {
	c := Claim{Of: sentence(in.Of), Pod: types.NamespacedName(in.Pod), Node: in.Node, Attempts: in.Attempts, Rejected: in.Rejected, Backoff: (*time.Duration)(in.Backoff), Over: (*time.Duration)(in.Over),
		Move: in.Move, After: time.Duration(in.After), By: in.By, Event: in.Event, Since: in.Since, UpTo: in.UpTo}
	for _, pod := range in.Wakes {
		c.Wakes = append(c.Wakes, types.NamespacedName(pod))
	}
	if in.At != nil {
		c.At = time.Duration(*in.At)
	}
	if in.Tier != "" {
		tier, err := filter.Tier(in.Tier)
		if err != nil {
			return c, err
		}
		c.Tier = &tier
	}
	if in.Source != "" {
		m := sourceForm.FindStringSubmatch(in.Source)
		if m == nil || path.Clean(m[1]) != m[1] {
			return c, fmt.Errorf("invalid source %q: use a source like pkg/scheduler/scheduler.go@v1.37.1 func New", sources.Sanitize(in.Source))
		}
		c.Source = Source{File: m[1], Release: m[2], Words: m[3]}
	}
	checks := 0
	for _, given := range []bool{c.Pod.Name != "" && c.Move.text == "", c.Move.text != "", c.Event != ""} {
		if given {
			checks++
		}
	}
	switch {
	case c.Of == "":
		return c, fmt.Errorf("missing of: the words that the claim is about")
	case checks > 1 || checks == 0 && c.Source.File == "":
		return c, fmt.Errorf("a claim needs exactly one of pod, move and event, or a source")
	case checks == 0 && (in.At != nil || c.Since != "" || c.UpTo != ""):
		return c, fmt.Errorf("at, since and up-to need a pod, a move or an event")
	case checks > 0 && in.At == nil:
		return c, fmt.Errorf("missing at: the moment to check")
	case c.At > end:
		return c, fmt.Errorf("at is %s, but the scenario ends at %s", c.At, end)
	case c.Pod.Name != "" && c.Move.text == "" && c.Tier == nil && c.Node == "" && c.Attempts == nil && c.Rejected == nil && c.Backoff == nil && c.Over == nil:
		return c, fmt.Errorf("empty claim about %s: use tier, node, attempts, rejected, backoff or over", c.Pod)
	}
	for _, release := range []string{c.Since, c.UpTo} {
		if release == "" {
			continue
		}
		if _, err := queue.ForRelease(release); err != nil {
			return c, err
		}
	}
	return c, nil
}

// exact is the tolerance for times in claims.
const exact = 10 * time.Millisecond

// isAt reports whether a and b are equal within the tolerance.
func isAt(a, b time.Duration) bool { return (a - b).Abs() <= exact }

// played is a scenario played under a release's rules: its moves, with times since start.
type played struct {
	start time.Time
	moves []*board.Transition
}

// check returns what happened instead of the claim, or "" if the claim holds.
func (p played) check(c *Claim) string {
	switch {
	case c.Move.text != "":
		return p.checkMove(c)
	case c.Pod.Name != "":
		return p.checkPod(c)
	case c.Event != "":
		return p.checkWakes(c)
	}
	return ""
}

// checkPod checks a claim about a pod.
func (p played) checkPod(c *Claim) string {
	var pod *board.Pod
	var failed time.Time
	for _, m := range p.moves {
		if m.Pod.Key != c.Pod || m.Time.Sub(p.start) > c.At {
			continue
		}
		pod = m.Pod
		if m.Event == queue.ScheduleAttemptFailure {
			failed = m.Time
		}
	}
	if pod == nil {
		return fmt.Sprintf("there is no pod %s", c.Pod)
	}
	over, backoff := pod.BackoffExpiry.Sub(p.start), pod.BackoffExpiry.Sub(failed)
	switch {
	case c.Tier != nil && pod.Last.To != *c.Tier:
		return fmt.Sprintf("%s is %s", c.Pod.Name, pod.Last.To)
	case c.Node != "" && pod.Node != c.Node && pod.NominatedNode != c.Node:
		return fmt.Sprintf("%s is not on %s, but on %q", c.Pod.Name, c.Node, cmp.Or(pod.Node, pod.NominatedNode))
	case c.Attempts != nil && pod.Attempts != *c.Attempts:
		return fmt.Sprintf("%s has had %d attempts", c.Pod.Name, pod.Attempts)
	case c.Rejected != nil && !slices.Equal(pod.RejectorPlugins(), c.Rejected):
		return fmt.Sprintf("%s was rejected by %s", c.Pod.Name, strings.Join(pod.RejectorPlugins(), ", "))
	case (c.Backoff != nil || c.Over != nil) && pod.BackoffExpiry.IsZero():
		return c.Pod.Name + " has no backoff"
	case c.Backoff != nil && !isAt(backoff, *c.Backoff):
		return fmt.Sprintf("the backoff of %s is %s", c.Pod.Name, backoff.Round(time.Millisecond))
	case c.Over != nil && !isAt(over, *c.Over):
		return fmt.Sprintf("the backoff of %s is over at %s", c.Pod.Name, over.Round(time.Millisecond))
	}
	return ""
}

// checkMove checks a claim about a move.
func (p played) checkMove(c *Claim) string {
	for _, m := range p.moves {
		at := m.Time.Sub(p.start)
		if at < c.After || c.Move.condition.Matches == nil || !c.Move.condition.Matches(m) {
			continue
		}
		switch {
		case !isAt(at, c.At):
			return fmt.Sprintf("that move comes at %s", at.Round(time.Millisecond))
		case c.Pod.Name != "" && m.Pod.Key != c.Pod:
			return "the pod of that move is " + m.Pod.Key.Name
		case c.By != "" && m.Event != c.By:
			return fmt.Sprintf("the event of that move is %s", m.Event)
		}
		return ""
	}
	return "no such move comes"
}

// checkWakes checks a claim about the pods that an event wakes.
func (p played) checkWakes(c *Claim) string {
	var woken, claimed []string
	for _, m := range p.moves {
		name := m.Pod.Key.String()
		if m.Event == c.Event && isAt(m.Time.Sub(p.start), c.At) && isWoken(m) && !slices.Contains(woken, name) {
			woken = append(woken, name)
		}
	}
	for _, pod := range c.Wakes {
		claimed = append(claimed, pod.String())
	}
	slices.Sort(woken)
	slices.Sort(claimed)
	if slices.Equal(woken, claimed) {
		return ""
	}
	if len(woken) == 0 {
		return c.Event + " wakes no pod"
	}
	return fmt.Sprintf("%s wakes %s", c.Event, strings.Join(woken, ", "))
}
