package command

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui"
)

// opener returns what opens a visitor's screen: a lesson, unless a recording or free play is asked for. Each visitor
// has a session of their own, and nothing that reaches this machine.
func (f *serveFlags) opener(ctx context.Context) (room.Open, error) {
	if f.recording == "" && !f.play {
		return f.lessons(ctx)
	}
	plugins, err := cycle.InTree()
	if err != nil {
		return nil, err
	}
	opts := timeline.Options{Plugins: plugins, Paused: true}
	if f.play {
		return func(v *room.Visitor) (tea.Model, error) {
			v.SetPlace("free play")
			return tui.NewPlay(v.Context(), "", opts, tui.Options{}.Served())
		}, nil
	}
	rec, err := embedded.Open(ctx, f.recording)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	shown := embedded.All()[slices.Index(cli.EmbeddedNames(), f.recording)]
	rec.Name = sources.SafeText(shown.Title)
	opts.Opens = shown.Opens
	return func(v *room.Visitor) (tea.Model, error) {
		v.SetPlace(shown.Title)
		return tui.NewServed(v.Context(), session.New(rec, opts), tui.Options{}), nil
	}, nil
}

// lessons returns what opens the lessons, at first the one that is asked for, by its number or name or in a file.
func (f *serveFlags) lessons(ctx context.Context) (room.Open, error) {
	course, err := cli.Course(ctx, f.course)
	if err != nil {
		return nil, err
	}
	all := course.Lessons
	begin, err := cli.Lesson(ctx, all, f.lesson)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, begin) {
		all = append([]*lessons.Lesson{begin}, all...)
	}
	f.speaker = new(speaker)
	return openClass(ctx, all, begin, f.speaker)
}
