package lessons

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/sources"
)

// What a screen of 80×24 has for a step's text, in cells and lines.
const (
	textWidth = 76
	textLines = 9
)

// lines is how many lines text takes.
func lines(text sources.SafeText) int {
	return strings.Count(ansi.Wrap(string(text), textWidth, ""), "\n") + 1
}

// checkLength returns an error if a step does not fit on a small screen: a text with its question and answers,
// what an answer says, a goal with a hint.
func (l *Lesson) checkLength(s *Step) error {
	if n := lines(s.Text); n > textLines {
		return l.errorf(s.Line, "the text takes %d lines of %d letters, and a projector has room for %d", n, textWidth, textLines)
	}
	if s.Prediction != nil {
		for _, a := range s.Prediction.Asks {
			if n := lines(s.Text) + lines(a.Question) + 2; n > textLines {
				return l.errorf(s.Line, "the text, the question %q and its answers take %d lines, and a projector has room for %d", a.Question, n, textLines)
			}
			for _, answer := range a.Answers {
				if n := lines(answer.Says); n > 4 {
					return l.errorf(answer.Line, "what the answer says takes %d lines, and there is room for 4", n)
				}
			}
		}
		if n := s.Prediction.toldLines(); n > textLines {
			return l.errorf(s.Line, "what the answers say takes %d lines where they are wrong, and a projector has room for %d", n, textLines)
		}
	}
	if s.Goal != nil {
		for _, h := range s.Goal.Hints {
			if n := lines(s.Text) + lines(h); n > textLines {
				return l.errorf(s.Goal.Line, "the text and a hint take %d lines, and a projector has room for %d", n, textLines)
			}
		}
	}
	return nil
}

// toldLines is how many lines the longest thing takes that is said of the answers: to each question a wrong one, and
// the right one.
func (p *Prediction) toldLines() int {
	all := 0
	for _, a := range p.Asks {
		wrong := 0
		for i, answer := range a.Answers {
			if i != a.Right() {
				wrong = max(wrong, lines("You said "+answer.Text+". "+answer.Says))
			}
		}
		right := a.Answers[a.Right()]
		all += wrong + lines(right.Text+": "+right.Says)
	}
	return all
}
