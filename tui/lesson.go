package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui/lesson"
	"github.com/schedq/schedq/tui/whatif"
)

// LessonOptions say what a lesson has to do with the world. The zero value will do: then it has nothing to do with it.
type LessonOptions = lesson.Options

// NewLesson returns a screen that teaches a lesson. It needs no terminal of its own and ends when ctx does.
func NewLesson(ctx context.Context, plan *lessons.Plan, l LessonOptions, o Options) tea.Model {
	return newLesson(ctx, plan, l, o)
}

// RunLesson teaches a lesson on the terminal, as Run shows a session.
func RunLesson(ctx context.Context, plan *lessons.Plan, l LessonOptions, o Options) error {
	return run(ctx, o, func(ctx context.Context, o Options) *model { return newLesson(ctx, plan, l, o) })
}

func newLesson(ctx context.Context, plan *lessons.Plan, o LessonOptions, screen Options) *model {
	m := newModel(ctx, plan.Open(o.Session), screen)
	m.origin.session = nil // one leads to the next, and not back
	m.lesson = lesson.New(m.board, plan, o, m.show)
	lesson.Add(m.lesson, m.Actions)
	m.Pages.Begin(m.lesson)
	return m
}

// NewPlay returns a screen with a cluster of one small node to play with, by a release's rules: empty is the
// newest. It is made as NewLesson makes one with a lesson.
func NewPlay(ctx context.Context, release string, opts timeline.Options, o Options) (tea.Model, error) {
	story, err := whatif.EmptyScenario(release)
	if err != nil {
		return nil, err
	}
	return newPlay(ctx, story, opts, o), nil
}

// RunPlay shows it on the terminal, and returns as a scenario what the person made.
func RunPlay(ctx context.Context, release string, opts timeline.Options, o Options) (*scenario.Scenario, error) {
	story, err := whatif.EmptyScenario(release)
	if err != nil {
		return nil, err
	}
	var shown *model
	err = run(ctx, o, func(ctx context.Context, o Options) *model {
		shown = newPlay(ctx, story, opts, o)
		return shown
	})
	if err != nil {
		return nil, err
	}
	return shown.origin.session.ForkScenario()
}

func newPlay(ctx context.Context, story *scenario.Scenario, opts timeline.Options, o Options) *model {
	m := newModel(ctx, session.New(story.Recording(), opts), o)
	m.play = whatif.NewPlay(m.UI)
	whatif.AddPlay(m.play, m.Actions)
	m.export.Own = true
	m.Session.ToggleScheduler()
	return m
}
