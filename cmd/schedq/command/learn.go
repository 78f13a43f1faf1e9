package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/tui"
)

// NewLearn returns schedq learn, with new and lint for lesson authors.
func NewLearn() *cobra.Command {
	var display cli.Display
	var list, showProgress bool
	var step int
	var courseFile string
	cmd := &cobra.Command{
		Use:   "learn [LESSON]",
		Short: "Learn the queue in interactive lessons",
		Long: `Start a lesson, by its number or name, or from a FILE. Without LESSON, continue with the first lesson
that is not done. Your progress is saved in the state directory. A course is a FILE that lists lessons
and their times.`,
		Example: "  schedq learn\n  schedq learn 3 --projector\n  schedq learn my-lesson.yaml\n  schedq learn --list\n  schedq learn --progress\n  schedq learn --course workshop.yaml --list",
		Args:    cli.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			course, err := cli.Course(cmd.Context(), courseFile)
			if err != nil {
				return err
			}
			all := course.Lessons
			progress, err := openProgress(cmd.Context())
			if err != nil {
				return err
			}
			standings := progress.Recall()
			if list {
				return listLessons(cmd.OutOrStdout(), course, standings)
			}
			if showProgress {
				return writeProgress(cmd.OutOrStdout(), course, courseFile, standings)
			}
			if err := display.Check(); err != nil {
				return err
			}
			lesson := all[max(0, slices.IndexFunc(all, func(l *lessons.Lesson) bool { return !standings[l.Name].Done }))]
			if len(args) > 0 {
				if lesson, err = cli.Lesson(cmd.Context(), all, args[0]); err != nil {
					return cli.Suggest(err, args[0], []string{"new", "lint"})
				}
			}
			return teach(cmd.Context(), &display, all, lesson, step-1, progress)
		},
	}
	display.Register(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "list the lessons and your progress in each")
	cmd.Flags().BoolVar(&showProgress, "progress", false, "summarize your progress and list wrong answers")
	cmd.MarkFlagsMutuallyExclusive("list", "progress")
	cmd.Flags().StringVar(&courseFile, "course", "", "`FILE` with a course; default all lessons in order")
	cmd.Flags().IntVar(&step, "step", 0, "start at this step, from 1")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		course, err := cli.Course(cmd.Context(), courseFile)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var offers []cobra.Completion
		for _, l := range course.Lessons {
			offers = append(offers, cobra.CompletionWithDesc(l.Name, string(l.Title)))
		}
		return offers, cobra.ShellCompDirectiveDefault // or a lesson's file
	}
	cmd.AddCommand(newLessonCommand(), newLintCommand())
	return cmd
}

// teach shows a lesson on the screen. A negative step continues where the learner left.
func teach(ctx context.Context, display *cli.Display, all []*lessons.Lesson, lesson *lessons.Lesson, step int, progress *progressFile) error {
	opts, err := lessons.Options()
	if err != nil {
		return err
	}
	plan := func(l *lessons.Lesson) (*lessons.Plan, error) { return l.Plan(ctx, opts) }
	first, err := plan(lesson)
	if err != nil {
		return err
	}
	standings := progress.Recall()
	shown := append([]*lessons.Lesson{lesson}, all...) // first, since all may have another of its name
	if s := standings[lesson.Name]; step < 0 && !s.Done {
		step = s.Step
	}
	opts = display.Session(opts)
	opts.Filter = timeline.Options{}.Filter // a lesson needs all its pods
	screen := display.Options(nil)
	screen.Memory = nil
	err = tui.RunLesson(ctx, first, tui.LessonOptions{Session: opts, Lessons: all, Plan: plan, Step: step,
		Standings: standings, Progress: progress, Stage: func(s lessons.Stage) {
			stage := publishedStage{Stage: s}
			if i := slices.IndexFunc(shown, func(l *lessons.Lesson) bool { return l.Name == s.Lesson }); i >= 0 {
				stage.File = shown[i].Path()
			}
			progress.Publish(stage)
		}}, screen)
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq learn --list works without one", err)
	}
	return err
}

// listLessons writes the lessons of a course.
func listLessons(w io.Writer, c *lessons.Course, standings map[string]lessons.Standing) error {
	rows := [][]string{{"", "lesson", "title", "release", "minutes", "progress"}}
	for i, l := range c.Lessons {
		progress := ""
		if s, ok := standings[l.Name]; ok && s.Done {
			progress = fmt.Sprintf("done, %d of %d answers right", s.Right, s.Asked)
		} else if ok {
			progress = fmt.Sprintf("step %d of %d", s.Step+1, len(l.Steps))
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), l.Name, string(l.Title), l.Scenario.Release, fmt.Sprint(int(l.Planned.Minutes())), progress})
	}
	var b strings.Builder
	cli.WriteColumns(&b, rows)
	return cli.WriteText(w, "\n"+b.String())
}

// writeProgress writes how much of a course is done, the time left, the share of right answers, and how
// to retry the wrong ones. file is the course's, or empty.
func writeProgress(w io.Writer, c *lessons.Course, file string, standings map[string]lessons.Standing) error {
	done, asked, right := 0, 0, 0
	left := c.Planned()
	retry := "schedq learn "
	if file != "" {
		retry += "--course " + c.File + " "
	}
	var missed strings.Builder
	for i, l := range c.Lessons {
		s := standings[l.Name]
		if !s.Done {
			continue
		}
		done, asked, right, left = done+1, asked+s.Asked, right+s.Right, left-l.Planned
		for _, m := range s.Missed {
			if question := m.Question(l); question != "" {
				fmt.Fprintf(&missed, "  %-24s  %s: %s\n", fmt.Sprintf("%s%d --step %d", retry, i+1, m.Step+1), l.Steps[m.Step].Title, question)
			}
		}
	}
	text := fmt.Sprintf("%s\n%d of %d lessons done", c.Title, done, len(c.Lessons))
	if done < len(c.Lessons) {
		text += fmt.Sprintf(", about %d minutes left", int(left.Minutes()))
	}
	if text += "."; asked > 0 {
		text += fmt.Sprintf(" %d of %d answers right.", right, asked)
	}
	text += "\n"
	if missed.Len() > 0 {
		text += "\nRetry your wrong answers:\n" + missed.String()
	}
	return cli.WriteText(w, text)
}
