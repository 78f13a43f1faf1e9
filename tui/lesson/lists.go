package lesson

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/widget"
)

// chooseStep lists the steps of the lesson.
func (l *Lesson) chooseStep() tea.Cmd {
	steps := widget.List{Title: "steps of " + string(l.plan.Lesson.Title), Choose: func(chosen []int) tea.Cmd { return l.toStep(chosen[0]) }}
	for i, s := range l.plan.Lesson.Steps {
		steps.Items = append(steps.Items, widget.Item{Text: fmt.Sprintf("%2d %s %s", i+1, stepGlyph(&s), s.Title), Aside: "  " + format.Span(l.plan.Steps[i].From.At), Note: l.Keys.Say(string(s.Text))})
	}
	return widget.OpenList(l.UI, steps, l.step)
}

// stepGlyph returns the glyph for the kind of a step.
func stepGlyph(s *lessons.Step) string {
	switch {
	case s.Prediction != nil:
		return "?"
	case s.Goal != nil:
		return "!"
	}
	return "·"
}

// chooseLesson lists the lessons.
func (l *Lesson) chooseLesson() tea.Cmd {
	all := l.options.Lessons
	offered := widget.List{Title: "lessons", Choose: func(chosen []int) tea.Cmd { return l.openLesson(all[chosen[0]]) }}
	at := 0
	for i, lesson := range all {
		if lesson.Name == l.plan.Lesson.Name {
			at = i
		}
		offered.Items = append(offered.Items, widget.Item{Text: fmt.Sprintf("%2d %s", i+1, lesson.Title), Aside: "  " + standing(l.standings, lesson),
			Note: "\"" + strings.TrimSuffix(string(lesson.Misconception), ".") + "\": " + string(lesson.Behaviour)})
	}
	return widget.OpenList(l.UI, offered, at)
}

// standing returns the progress of a lesson.
func standing(all map[string]lessons.Standing, l *lessons.Lesson) string {
	switch s, ok := all[l.Name]; {
	case !ok:
		return ""
	case s.Done && s.Asked > 0:
		return fmt.Sprintf("✓ %d of %d answers right", s.Right, s.Asked)
	case s.Done:
		return "✓ done"
	default:
		return fmt.Sprintf("step %d of %d", s.Step+1, len(l.Steps))
	}
}
