package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/tui/format"
)

// newLintCommand returns schedq learn lint.
func newLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check lesson and course files",
		Long: `Play a lesson and report what is wrong with it, by line: unknown keys, typos in manifests, right
answers that the model disagrees with, claims that do not hold, solutions that miss their goal, and
text that does not fit on small screens. lint warns about answers that the board already shows, and
about times and releases that neither a claim nor a source supports. In a course it checks the order,
the times and the lesson files.`,
		Args: cli.Args(1, cli.Any),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := lessons.Options()
			if err != nil {
				return err
			}
			failed := 0
			for _, path := range args {
				if err := lintFile(cmd, path, opts); err != nil {
					if cmd.Context().Err() != nil {
						return err
					}
					failed++
					fmt.Fprintln(cmd.ErrOrStderr(), err)
				}
			}
			if failed > 0 {
				if len(args) == 1 {
					return fmt.Errorf("%s has errors", sources.Sanitize(args[0]))
				}
				return fmt.Errorf("%d of %d files have errors", failed, len(args))
			}
			return nil
		},
	}
}

// lintFile checks a lesson, or a course together with its lesson files.
func lintFile(cmd *cobra.Command, path string, opts timeline.Options) error {
	text, err := disk.Read(cmd.Context(), path, lessons.MaxFile)
	if err != nil {
		return err
	}
	if !lessons.IsCourse(text) {
		l, err := lessons.Parse(path, text)
		if err != nil {
			return err
		}
		return lintLesson(cmd, l, opts)
	}
	c, err := lessons.ParseCourse(cmd.Context(), path, text)
	if err != nil {
		return err
	}
	for _, l := range c.Lessons {
		if l.Path() == "" {
			continue // embedded, and checked by the tests
		}
		if err := lintLesson(cmd, l, opts); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %q is valid: %s, %s\n", c.File, c.Title,
		format.Plural(len(c.Lessons), "lesson"), format.Plural(int(c.Planned().Minutes()), "minute"))
	return err
}

// lintLesson checks one lesson and prints its warnings and a summary.
func lintLesson(cmd *cobra.Command, l *lessons.Lesson, opts timeline.Options) error {
	plan, err := l.Check(cmd.Context(), opts)
	if err != nil {
		return err
	}
	for _, warning := range plan.Warnings {
		if _, err := fmt.Fprintln(cmd.ErrOrStderr(), warning); err != nil {
			return err
		}
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %q is valid: %s, %s, %s\n", l.File, l.Title,
		format.Plural(len(plan.Steps), "step"), format.Plural(questions, "question"), format.Plural(goals, "goal"))
	return err
}

// newLessonCommand returns schedq learn new.
func newLessonCommand() *cobra.Command {
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "Write a lesson to start from",
		Args:  cli.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(args[0]), ".yaml"), ".yml")
			text, err := lessons.New(name)
			if err != nil {
				return cli.UsageError{Err: err}
			}
			if args[0] == "-" {
				_, err := cmd.OutOrStdout().Write(text)
				return err
			}
			opts := force.Options()
			opts.Mode = 0o644 // a lesson is not private
			return disk.WriteBytes(cmd.Context(), args[0], opts, text)
		},
	}
	force.Register(cmd)
	return cmd
}
