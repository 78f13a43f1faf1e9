package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/progress"
	"github.com/schedq/schedq/cmd/schedq/table"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/tui"
)

func newLearn() *cobra.Command {
	var look lookFlags
	var list bool
	var step int
	cmd := &cobra.Command{
		Use:   "learn [LESSON]",
		Short: "Learn the queue: lessons that ask what comes next before it does",
		Long: `learn teaches one of the lessons inside this program, by its number or name, or one in a FILE. Without any it
goes on where you left. How far you came is kept in the state directory.`,
		Example: "  schedq learn\n  schedq learn 3 --projector\n  schedq learn my-lesson.yaml\n  schedq learn --list",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := lessons.All()
			if err != nil {
				return err
			}
			kept, err := progress.Open(cmd.Context())
			if err != nil {
				return err
			}
			standings := kept.Recall()
			if list {
				return listLessons(cmd.OutOrStdout(), all, standings)
			}
			if err := look.check(); err != nil {
				return err
			}
			lesson, err := chosenLesson(cmd.Context(), all, standings, args)
			if err != nil {
				return err
			}
			return teach(cmd.Context(), &look, all, lesson, step-1, kept)
		},
	}
	look.register(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "list the lessons, and how far you came in each")
	cmd.Flags().IntVar(&step, "step", 0, "the step to begin with, from 1")
	cmd.AddCommand(newLearnNew(), newLearnLint())
	return cmd
}

// teach takes the screen and teaches a lesson. A negative step is where it was left.
func teach(ctx context.Context, look *lookFlags, all []*lessons.Lesson, lesson *lessons.Lesson, step int, kept *progress.File) error {
	opts, err := lessons.Options()
	if err != nil {
		return err
	}
	plan := func(l *lessons.Lesson) (*lessons.Plan, error) { return l.Plan(ctx, opts) }
	first, err := plan(lesson)
	if err != nil {
		return err
	}
	standings := kept.Recall()
	if s := standings[lesson.Name]; step < 0 && !s.Done {
		step = s.Step
	}
	opts = look.session(opts)
	opts.Filter = session.Options{}.Filter // a lesson speaks of all its pods
	screen := look.options(nil)
	screen.Memory = nil
	err = tui.RunLesson(ctx, first, tui.LessonOptions{Session: opts, Lessons: all, Plan: plan, Step: step,
		Standings: standings, Progress: kept, Stage: func(s lessons.Stage) {
			at := progress.Stage{Stage: s}
			if s.Lesson == lesson.Name && !slices.Contains(all, lesson) {
				at.File, _ = filepath.Abs(lesson.File)
			}
			kept.Tell(at)
		}}, screen)
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq learn --list works without one", err)
	}
	return err
}

// chosenLesson is the lesson that is asked for: of the program's own or in a file, and without any the first that
// is not done.
func chosenLesson(ctx context.Context, all []*lessons.Lesson, standings map[string]lessons.Standing, args []string) (*lessons.Lesson, error) {
	if len(args) == 0 {
		i := slices.IndexFunc(all, func(l *lessons.Lesson) bool { return !standings[l.Name].Done })
		return all[max(i, 0)], nil
	}
	if strings.HasSuffix(args[0], ".yaml") || strings.HasSuffix(args[0], ".yml") || strings.ContainsRune(args[0], filepath.Separator) {
		return lessons.Read(ctx, args[0])
	}
	i, err := lessons.Find(all, args[0])
	if err != nil {
		return nil, usageError{err}
	}
	return all[i], nil
}

// listLessons prints the lessons.
func listLessons(w io.Writer, all []*lessons.Lesson, standings map[string]lessons.Standing) error {
	rows := [][]string{{"", "lesson", "title", "under", "so far"}}
	for i, l := range all {
		so := ""
		if s, ok := standings[l.Name]; ok && s.Done {
			so = fmt.Sprintf("done, %d of %d right", s.Right, s.Asked)
		} else if ok {
			so = fmt.Sprintf("step %d of %d", s.Step+1, len(l.Steps))
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), l.Name, string(l.Title), l.Scenario.Release, so})
	}
	return table.Numbers(w, rows)
}

func newLearnLint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check lessons: what is written, every right answer, every solution",
		Long: `lint plays a lesson and says what is wrong with it, with the line: an unknown key, a typo in a manifest, a
prediction whose right answer is not what the model does, a solution that does not reach its goal.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := lessons.Options()
			if err != nil {
				return err
			}
			wrong := 0
			for _, path := range args {
				if err := lintLesson(cmd, path, opts); err != nil {
					if cmd.Context().Err() != nil {
						return err
					}
					wrong++
					fmt.Fprintln(cmd.ErrOrStderr(), err)
				}
			}
			if wrong > 0 {
				return fmt.Errorf("%d of %d lessons are not right", wrong, len(args))
			}
			return nil
		},
	}
}

// lintLesson checks one lesson, and says what it found of it.
func lintLesson(cmd *cobra.Command, path string, opts session.Options) error {
	l, err := lessons.Read(cmd.Context(), path)
	if err != nil {
		return err
	}
	plan, err := l.Check(cmd.Context(), opts)
	if err != nil {
		return err
	}
	questions, goals := 0, 0
	for _, s := range l.Steps {
		if s.Prediction != nil {
			questions += len(s.Prediction.Asks)
		}
		if s.Goal != nil {
			goals++
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %q is right: %d steps, %d questions, %d goals\n", l.File, l.Title, len(plan.Steps), questions, goals)
	return err
}

func newLearnNew() *cobra.Command {
	var force forceFlag
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "Write the beginning of a lesson, which is right and can be played",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(args[0]), ".yaml"), ".yml")
			text, err := lessons.New(name)
			if err != nil {
				return usageError{err}
			}
			if args[0] == "-" {
				_, err := cmd.OutOrStdout().Write(text)
				return err
			}
			opts := force.options()
			opts.Mode = 0o644 // nothing in it is anybody's own
			return disk.WriteBytes(cmd.Context(), args[0], opts, text)
		},
	}
	force.register(cmd)
	return cmd
}
