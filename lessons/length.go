package lessons

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/sources"
)

// page is the space for a lesson on a screen, in columns and lines.
type page struct {
	screen       string
	width, lines int
}

// pages are the smallest supported screens: an 80×24 terminal in a room, whose bar takes one line,
// and the smallest screen schedq draws on.
var pages = [...]page{{"80×23", 76, 9}, {"60×20", 56, 10}}

// count returns the number of lines for text, with less columns fewer than the page.
func (p page) count(text sources.SafeText, less int) int {
	return strings.Count(ansi.Wrap(string(text), p.width-less, ""), "\n") + 1
}

// glyph is the width of the glyph in front of an answer or a hint.
const glyph = 2

// checkLength returns an error if a step does not fit on a small screen: its text with the question
// and answers, the explanations of the answers, or a goal with two hints.
func (l *Lesson) checkLength(s *Step) error {
	for _, p := range pages {
		text := p.count(s.Text, 0)
		if s == &l.Steps[0] && l.Because != "" {
			text += p.count(sources.SafeText(l.Under()), 0)
		}
		if text > p.lines {
			return l.errorf(s.Line, "the text takes %d lines of %d columns: a %s screen fits %d", text, p.width, p.screen, p.lines)
		}
		if s.Prediction != nil {
			before := text
			if s.Prediction.Finding { // answered on a page without the text
				before = 0
			}
			for _, a := range s.Prediction.Asks {
				if n := text + p.count(a.Question, 0); s.Prediction.Finding && n+1 > p.lines {
					return l.errorf(s.Line, "the text and the question %q take %d lines: a %s screen fits %d", a.Question, n+1, p.screen, p.lines)
				}
				for _, answer := range a.Answers {
					if len(" a  ")+ansi.StringWidth(string(answer.Text)) > p.width {
						return l.errorf(answer.Line, "the answer %q does not fit in the %d columns of a %s screen", answer.Text, p.width, p.screen)
					}
				}
				if n := before + p.count(a.Question, 0) + p.rows(a); n > p.lines {
					return l.errorf(s.Line, "the text, the question %q and its answers take %d lines: a %s screen fits %d", a.Question, n, p.screen, p.lines)
				}
			}
			if n := p.explained(s.Prediction); n > p.lines {
				return l.errorf(s.Line, "the explanations of the answers take %d lines: a %s screen fits %d", n, p.screen, p.lines)
			}
		}
		if s.Goal != nil {
			before := 0
			for _, h := range s.Goal.Hints {
				n := p.count(h, glyph)
				if text+before+n > p.lines {
					return l.errorf(s.Goal.Line, "the text and two hints take %d lines: a %s screen fits %d", text+before+n, p.screen, p.lines)
				}
				before = n
			}
		}
	}
	return nil
}

// rows returns the number of lines for the answers with their keys.
func (p page) rows(a Ask) int {
	rows, x := 1, 0
	for _, answer := range a.Answers {
		width := len(" a  ") + ansi.StringWidth(string(answer.Text))
		if x > 0 && x+width > p.width {
			rows, x = rows+1, 0
		}
		x += width + len("   ")
	}
	return rows
}

// explained returns the largest number of lines for the explanations: to each question, a wrong
// answer and the right one.
func (p page) explained(prediction *Prediction) int {
	all := 0
	for _, a := range prediction.Asks {
		wrong := 0
		for i, answer := range a.Answers {
			if i != a.Right() {
				wrong = max(wrong, p.count("You said "+answer.Text+". "+answer.Says, glyph))
			}
		}
		right := a.Answers[a.Right()]
		all += wrong + p.count(right.Text+": "+right.Says, glyph)
	}
	return all
}
