package lessons

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// shownAlready returns warnings about questions that the board beside them answers: nothing happens
// before the answer, or a countdown shows it. A countdown that shows a wrong answer is as bad.
func (l *Lesson) shownAlready(o outcome) []string {
	var warnings []string
	pod := o.from.Board.Get(o.prediction.Pod)
	if pod == nil {
		return nil
	}
	warn := func(a Answer, format string, args ...any) {
		warnings = append(warnings, l.errorf(a.Line, "warning: "+format, args...).Error())
	}
	for _, a := range o.prediction.Asks {
		right := a.Answers[a.Right()]
		switch a.Kind {
		case AskQueue, AskAttempts:
			if o.from.Log.Len() == o.to.Log.Len() && (o.took == 0 || isAboutNow(a.Question)) {
				warn(right, "the board already shows the answer %s: nothing happens before it", right.Text)
			}
		case AskWhen, AskBackoff:
			wait := o.from.Wait(pod)
			if !wait.Bounded() {
				continue
			}
			left := wait.Remaining(o.from.Now)
			for _, answer := range a.Answers {
				if (left - answer.time).Abs() <= max(50*time.Millisecond, left/50) {
					warn(answer, "the board counts down %s for %s, and %s is an answer", left.Round(10*time.Millisecond), pod.Key.Name, answer.Text)
				}
			}
		}
	}
	return warnings
}

// figure matches what playing the lesson or upstream's source can verify: a time of day, a
// duration, a release.
var figure = regexp.MustCompile(`\d:\d\d|\bv1\.\d+|(^|[^+\w.])\d+(\.\d+)? ?(ms|s|min|minutes|seconds|times)\b`)

// sentenceEnd separates sentences.
var sentenceEnd = regexp.MustCompile(`[.?!:] `)

// unbacked returns the sentences of said that contain a figure but have no claim.
func unbacked(said []sources.SafeText, claims []Claim) []string {
	var all []string
	for _, text := range said {
		for _, s := range sentenceEnd.Split(string(text), -1) {
			if figure.MatchString(s) && !slices.ContainsFunc(claims, func(c Claim) bool {
				return strings.Contains(string(text), string(c.Of)) && overlap(string(text), s, string(c.Of))
			}) {
				all = append(all, s)
			}
		}
	}
	return all
}

// overlap reports whether two parts of text overlap.
func overlap(text, a, b string) bool {
	i, j := strings.Index(text, a), strings.Index(text, b)
	return i < j+len(b) && j < i+len(a)
}

// isAboutNow reports whether a question is about the current moment, not one "from now".
func isAboutNow(question sources.SafeText) bool {
	words := strings.FieldsFunc(string(question), func(r rune) bool { return !unicode.IsLetter(r) })
	i := slices.Index(words, "now")
	return i > 0 && words[i-1] != "from"
}

// warnUnbacked returns warnings about sentences with a figure but no claim or source. The start and
// end times of a step need none: the clock shows them.
func (p *Plan) warnUnbacked() []string {
	l := p.Lesson
	var warnings []string
	add := func(line int, sentences []string) {
		for _, s := range sentences {
			warnings = append(warnings, l.errorf(line, "warning: no claim or source backs %q", s).Error())
		}
	}
	add(1, unbacked(l.said(), l.Claims))
	for i := range l.Steps {
		s, planned := &l.Steps[i], p.Steps[i]
		for _, sentence := range unbacked(s.said(), s.Claims) {
			for _, place := range []Place{planned.From, planned.To} {
				sentence = strings.ReplaceAll(sentence, l.Scenario.Start.Add(place.At).UTC().Format("15:04:05.9"), "now")
			}
			if figure.MatchString(sentence) {
				add(s.Line, []string{sentence})
			}
		}
	}
	return warnings
}

// checkRelease returns an error if the lesson runs under an older release without saying why.
func (l *Lesson) checkRelease() error {
	newest := queue.Releases()[0]
	if r := l.Scenario.Release; r != "" && r != newest && l.Because == "" {
		return fmt.Errorf("%s: the lesson runs under %s instead of %s: say why in because", l.File, r, newest)
	}
	return nil
}
