package lessons

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/sources"
)

// page is what a screen has for a lesson, in cells and lines.
type page struct {
	screen       string
	width, lines int
}

// pages are those of the smallest screens that a lesson is for: that of a terminal of 80×24 in a room, whose bar takes a
// line of it, and the smallest that schedq draws on at all.
var pages = [...]page{{"80×23", 76, 9}, {"60×20", 56, 10}}

// count is how many lines text takes where each has so many cells less than the page.
func (p page) count(text sources.SafeText, less int) int {
	return strings.Count(ansi.Wrap(string(text), p.width-less, ""), "\n") + 1
}

// glyph is what stands before an answer or a hint, in cells.
const glyph = 2

// checkLength returns an error if a step does not fit on a small screen: a text with its question and answers, what is
// said of the answers, a goal with two hints.
func (l *Lesson) checkLength(s *Step) error {
	for _, p := range pages {
		text := p.count(s.Text, 0)
		if s == &l.Steps[0] && l.Because != "" {
			text += p.count(sources.SafeText(l.Under()), 0)
		}
		if text > p.lines {
			return l.errorf(s.Line, "the text takes %d lines of %d letters, and a screen of %s has room for %d", text, p.width, p.screen, p.lines)
		}
		if s.Prediction != nil {
			before := text
			if s.Prediction.Finding { // which is answered on a page without the text
				before = 0
			}
			for _, a := range s.Prediction.Asks {
				if n := text + p.count(a.Question, 0); s.Prediction.Finding && n+1 > p.lines {
					return l.errorf(s.Line, "the text and the question %q take %d lines, and a screen of %s has room for %d", a.Question, n+1, p.screen, p.lines)
				}
				for _, answer := range a.Answers {
					if len(" a  ")+ansi.StringWidth(string(answer.Text)) > p.width {
						return l.errorf(answer.Line, "the answer %q has no room in a line of %d letters, which a screen of %s has", answer.Text, p.width, p.screen)
					}
				}
				if n := before + p.count(a.Question, 0) + p.rows(a); n > p.lines {
					return l.errorf(s.Line, "the text, the question %q and its answers take %d lines, and a screen of %s has room for %d", a.Question, n, p.screen, p.lines)
				}
			}
			if n := p.judged(s.Prediction); n > p.lines {
				return l.errorf(s.Line, "what the answers say takes %d lines where they are wrong, and a screen of %s has room for %d", n, p.screen, p.lines)
			}
		}
		if s.Goal != nil {
			before := 0
			for _, h := range s.Goal.Hints {
				n := p.count(h, glyph)
				if text+before+n > p.lines {
					return l.errorf(s.Goal.Line, "the text and two hints take %d lines, and a screen of %s has room for %d", text+before+n, p.screen, p.lines)
				}
				before = n
			}
		}
	}
	return nil
}

// rows is how many lines the answers take, each with its key before it.
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

// judged is how many lines the longest thing takes that is said of the answers: to each question a wrong one, and the right
// one.
func (p page) judged(prediction *Prediction) int {
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
