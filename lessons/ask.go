package lessons

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
)

// parsePrediction reads a prediction.
func (l *Lesson) parsePrediction(in *predict, line func(int) int) (*Prediction, error) {
	p := &Prediction{Line: line(in.line), Pod: types.NamespacedName(in.Pod), Until: in.Until}
	p.Until.line = line(in.Until.line)
	if in.After != nil {
		p.After = time.Duration(*in.After)
	}
	switch {
	case p.Pod.Name == "":
		return nil, l.errorf(p.Line, "a prediction needs a pod")
	case p.After > 0 && p.Until.text != "":
		return nil, l.errorf(p.Line, "a prediction has either until or after")
	case p.After > 0 && len(in.When) > 0:
		return nil, l.errorf(p.Line, "when can't be combined with after: it asks how long a move takes")
	case p.After == 0 && p.Until.text == "":
		p.Until.condition, p.Until.text = board.MovesOf(p.Pod), "its next move"
	}
	var err error
	p.Asks, err = l.parseAsks(p.Line, []given{{AskQueue, in.Queue}, {AskWhich, in.Which}, {AskWhen, in.When}, {AskBackoff, in.Backoff}, {AskWoken, in.Woken}, {AskAttempts, in.Attempts}}, in.Ask, line)
	return p, err
}

// parseFinding reads a finding.
func (l *Lesson) parseFinding(in *find, line func(int) int) (*Prediction, error) {
	p := &Prediction{Line: line(in.line), Pod: types.NamespacedName(in.Pod), Finding: true, Shows: -1}
	if in.Shows != nil {
		if p.Shows = time.Duration(*in.Shows); p.Shows > l.Scenario.End {
			return nil, l.errorf(p.Line, "shows is %s, but the story ends at %s", p.Shows, l.Scenario.End)
		}
	}
	if p.Pod.Name == "" && len(in.Plugin)+len(in.Event) > 0 {
		return nil, l.errorf(p.Line, "plugin and event questions need a pod")
	}
	var err error
	p.Asks, err = l.parseAsks(p.Line, []given{{AskCause, in.Cause}, {AskWhich, in.Which}, {AskPlugin, in.Plugin}, {AskEvent, in.Event}}, in.Ask, line)
	return p, err
}

// given holds the answers in the file for one kind of question.
type given struct {
	kind    Kind
	answers []answer
}

// parseAsks reads the questions, in the order of all.
func (l *Lesson) parseAsks(at int, all []given, words map[Kind]string, line func(int) int) ([]Ask, error) {
	var asks []Ask
	var names []string
	for _, g := range all {
		names = append(names, string(g.kind))
		if len(g.answers) == 0 {
			continue
		}
		a, err := l.parseAsk(g.kind, g.answers, line)
		if err != nil {
			return nil, err
		}
		if a.Question = sentence(words[a.Kind]); a.Question == "" {
			a.Question = sources.SafeText(defaultQuestions[a.Kind])
		}
		asks = append(asks, *a)
	}
	for kind := range words {
		if !slices.Contains(names, string(kind)) {
			return nil, l.errorf(at, "unknown question %q", sources.Sanitize(string(kind)))
		}
	}
	if len(asks) == 0 {
		return nil, l.errorf(at, "no question: use at least one of %s", strings.Join(names, ", "))
	}
	return asks, nil
}

// defaultQuestions are used where the author does not word the question.
var defaultQuestions = map[Kind]string{
	AskQueue: "Which queue?", AskWhen: "And when?", AskBackoff: "How long is its backoff?", AskWhich: "Which pod?",
	AskWoken: "How many pods are woken?", AskAttempts: "How many attempts has it had by then?",
	AskCause: "Why?", AskPlugin: "Which plugin rejected it?", AskEvent: "Which event woke it most often?",
}

func (l *Lesson) parseAsk(kind Kind, answers []answer, line func(int) int) (*Ask, error) {
	a := &Ask{Kind: kind}
	right := 0
	for _, in := range answers {
		out := Answer{Line: line(in.line), Text: sentence(in.Answer), Right: in.Right, Says: sentence(in.Says)}
		if in.Right {
			right++
		}
		var err error
		switch kind {
		case AskQueue:
			out.tier, err = filter.Tier(in.Answer)
			if err == nil && out.tier > queue.Deleted {
				err = fmt.Errorf("a prediction can't have the answer %s", out.tier)
			}
			out.Text = sources.SafeText(out.tier.String())
		case AskWhen, AskBackoff:
			if out.time, err = time.ParseDuration(in.Answer); err != nil {
				err = fmt.Errorf("invalid time %q: use a value like 2s", sources.Sanitize(in.Answer))
			}
		case AskWoken, AskAttempts:
			if out.number, err = strconv.Atoi(in.Answer); err != nil {
				err = fmt.Errorf("invalid number %q", sources.Sanitize(in.Answer))
			}
		case AskWhich:
			_, err = podNamed(in.Answer)
		}
		switch {
		case err != nil:
			return nil, l.errorf(out.Line, "%w", err)
		case out.Says == "":
			return nil, l.errorf(out.Line, "the answer %s has no says: name the misconception behind it, or why it is right", out.Text)
		}
		a.Answers = append(a.Answers, out)
	}
	first := a.Answers[0].Line
	if kind == AskQueue { // in the order of the panes
		slices.SortStableFunc(a.Answers, func(a, b Answer) int { return int(a.tier) - int(b.tier) })
	}
	switch {
	case right != 1:
		return nil, l.errorf(first, "%s has %d right answers: mark exactly one with right: true", kind, right)
	case len(a.Answers) < 2 || len(a.Answers) > maxAnswers:
		return nil, l.errorf(first, "%s has %d answers: use 2 to %d", kind, len(a.Answers), maxAnswers)
	}
	return a, nil
}
