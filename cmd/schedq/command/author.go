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

func newLint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check lessons and courses: what is written, every right answer, every solution",
		Long: `lint plays a lesson and says what is wrong with it, with the line: an unknown key, a typo in a manifest, a
prediction whose right answer is not what the model does, a claim that does not hold, a solution that does not reach
its goal, what small screens have no room for. It warns of answers that the board shows already, and of times and releases
that neither a claim nor a source backs. Of a course it checks the order, the times, and the lessons that are files.`,
		Args: cli.Args(1, cli.Any),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := lessons.Options()
			if err != nil {
				return err
			}
			wrong := 0
			for _, path := range args {
				if err := lintFile(cmd, path, opts); err != nil {
					if cmd.Context().Err() != nil {
						return err
					}
					wrong++
					fmt.Fprintln(cmd.ErrOrStderr(), err)
				}
			}
			if wrong > 0 {
				if len(args) == 1 {
					return fmt.Errorf("%s is not right", sources.Sanitize(args[0]))
				}
				return fmt.Errorf("%d of %d are not right", wrong, len(args))
			}
			return nil
		},
	}
}

// lintFile checks a lesson, or a course with those of its lessons that are files.
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
			continue // it was checked when the program was made
		}
		if err := lintLesson(cmd, l, opts); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %q is right: %s, %s\n", c.File, c.Title,
		format.Plural(len(c.Lessons), "lesson"), format.Plural(int(c.Planned().Minutes()), "minute"))
	return err
}

// lintLesson checks one lesson, and says what it found of it.
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %q is right: %s, %s, %s\n", l.File, l.Title,
		format.Plural(len(plan.Steps), "step"), format.Plural(questions, "question"), format.Plural(goals, "goal"))
	return err
}

func newNew() *cobra.Command {
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "Write the beginning of a lesson, which is right and can be played",
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
			opts.Mode = 0o644 // nothing in it is anybody's own
			return disk.WriteBytes(cmd.Context(), args[0], opts, text)
		},
	}
	force.Register(cmd)
	return cmd
}
