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

// LessonOptions are the options of a lesson. The zero value is a lesson without progress and without other lessons.
type LessonOptions = lesson.Options

// NewLesson returns a screen for a lesson that ends with ctx. It needs no terminal.
func NewLesson(ctx context.Context, plan *lessons.Plan, l LessonOptions, o Options) tea.Model {
	return newLesson(ctx, plan, l, o)
}

// RunLesson shows a lesson on the terminal: see Run.
func RunLesson(ctx context.Context, plan *lessons.Plan, l LessonOptions, o Options) error {
	return run(ctx, o, func(ctx context.Context, o Options) *model { return newLesson(ctx, plan, l, o) })
}

func newLesson(ctx context.Context, plan *lessons.Plan, o LessonOptions, screen Options) *model {
	m := newModel(ctx, plan.Open(o.Session), screen)
	m.origin.session = nil // lessons don't go back to it
	m.lesson = lesson.New(m.board, plan, o, m.show)
	lesson.Add(m.lesson, m.Actions)
	m.Pages.Begin(m.lesson)
	return m
}

// NewPlay returns a screen for a cluster with one small node to play with, under the rules of a release; "" is the newest. Like
// NewLesson it needs no terminal.
func NewPlay(ctx context.Context, release string, opts timeline.Options, o Options) (tea.Model, error) {
	story, err := whatif.EmptyScenario(release)
	if err != nil {
		return nil, err
	}
	return newPlay(ctx, story, opts, o), nil
}

// RunPlay shows it on the terminal, and returns what the user made as a scenario.
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
