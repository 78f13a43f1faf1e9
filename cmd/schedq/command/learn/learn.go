package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/flags"
	"github.com/schedq/schedq/cmd/schedq/progress"
	"github.com/schedq/schedq/cmd/schedq/table"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui"
)

// NewLearn returns schedq learn, with the commands for who writes lessons below it.
func NewLearn() *cobra.Command {
	var look flags.Look
	var list, stands bool
	var step int
	cmd := &cobra.Command{
		Use:   "learn [LESSON]",
		Short: "Learn the queue: lessons that ask what comes next before it does",
		Long: `learn teaches one of the lessons inside this program, by its number or name, or one in a FILE. Without any it
goes on where you left. How far you came is kept in the state directory.`,
		Example: "  schedq learn\n  schedq learn 3 --projector\n  schedq learn my-lesson.yaml\n  schedq learn --list\n  schedq learn --progress",
		Args:    flags.Args(cobra.MaximumNArgs(1)),
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
			if stands {
				return tellProgress(cmd.OutOrStdout(), all, standings)
			}
			if err := look.Check(); err != nil {
				return err
			}
			lesson := all[max(0, slices.IndexFunc(all, func(l *lessons.Lesson) bool { return !standings[l.Name].Done }))]
			if len(args) > 0 {
				if lesson, err = flags.Lesson(cmd.Context(), all, args[0]); err != nil {
					return err
				}
			}
			return teach(cmd.Context(), &look, all, lesson, step-1, kept)
		},
	}
	look.Register(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "list the lessons, and how far you came in each")
	cmd.Flags().BoolVar(&stands, "progress", false, "tell where you stand, and which questions you answered wrongly")
	cmd.MarkFlagsMutuallyExclusive("list", "progress")
	cmd.Flags().IntVar(&step, "step", 0, "the step to begin with, from 1")
	cmd.AddCommand(newNew(), newLint())
	return cmd
}

// teach takes the screen and teaches a lesson. A negative step is where it was left.
func teach(ctx context.Context, look *flags.Look, all []*lessons.Lesson, lesson *lessons.Lesson, step int, kept *progress.File) error {
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
	opts = look.Session(opts)
	opts.Filter = session.Options{}.Filter // a lesson speaks of all its pods
	screen := look.Options(nil)
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

// listLessons prints the lessons.
func listLessons(w io.Writer, all []*lessons.Lesson, standings map[string]lessons.Standing) error {
	rows := [][]string{{"", "lesson", "title", "under", "so far"}}
	for i, l := range all {
		so := ""
		if s, ok := standings[l.Name]; ok && s.Done {
			so = fmt.Sprintf("done, %d of %d answers right", s.Right, s.Asked)
		} else if ok {
			so = fmt.Sprintf("step %d of %d", s.Step+1, len(l.Steps))
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), l.Name, string(l.Title), l.Scenario.Release, so})
	}
	return table.Numbers(w, rows)
}

// tellProgress says how many lessons are done, how many answers were right, and how to come to the questions of those that
// were not.
func tellProgress(w io.Writer, all []*lessons.Lesson, standings map[string]lessons.Standing) error {
	done, asked, right := 0, 0, 0
	var missed [][]string
	for i, l := range all {
		s := standings[l.Name]
		if !s.Done {
			continue
		}
		done, asked, right = done+1, asked+s.Asked, right+s.Right
		for _, m := range s.Missed {
			if question := m.Question(l); question != "" {
				missed = append(missed, []string{fmt.Sprintf("schedq learn %d --step %d", i+1, m.Step+1), string(l.Steps[m.Step].Title), string(question)})
			}
		}
	}
	if _, err := fmt.Fprintf(w, "%d of %d lessons are done. %d of %d answers were right.\n", done, len(all), right, asked); err != nil || len(missed) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(w, "\nAnswered wrongly, and how to try again:"); err != nil {
		return err
	}
	for _, m := range missed {
		if _, err := fmt.Fprintf(w, "  %-24s  %s: %s\n", m[0], m[1], m[2]); err != nil {
			return err
		}
	}
	return nil
}
