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

// NewLearn returns schedq learn, with the commands for who writes lessons below it.
func NewLearn() *cobra.Command {
	var look cli.Look
	var list, stands bool
	var step int
	var course string
	cmd := &cobra.Command{
		Use:   "learn [LESSON]",
		Short: "Learn the queue: lessons that ask what comes next before it does",
		Long: `learn teaches one of the lessons inside this program, by its number or name, or one in a FILE. Without any it
goes on where you left. How far you came is kept in the state directory. A course is a FILE that puts lessons in an order with times.`,
		Example: "  schedq learn\n  schedq learn 3 --projector\n  schedq learn my-lesson.yaml\n  schedq learn --list\n  schedq learn --progress\n  schedq learn --course workshop.yaml --list",
		Args:    cli.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			taught, err := cli.Course(cmd.Context(), course)
			if err != nil {
				return err
			}
			all := taught.Lessons
			kept, err := OpenProgress(cmd.Context())
			if err != nil {
				return err
			}
			standings := kept.Recall()
			if list {
				return listLessons(cmd.OutOrStdout(), taught, standings)
			}
			if stands {
				return tellProgress(cmd.OutOrStdout(), taught, course, standings)
			}
			if err := look.Check(); err != nil {
				return err
			}
			lesson := all[max(0, slices.IndexFunc(all, func(l *lessons.Lesson) bool { return !standings[l.Name].Done }))]
			if len(args) > 0 {
				if lesson, err = cli.Lesson(cmd.Context(), all, args[0]); err != nil {
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
	cmd.Flags().StringVar(&course, "course", "", "the lessons of a course, from a `FILE`; default all, in their order")
	cmd.Flags().IntVar(&step, "step", 0, "the step to begin with, from 1")
	cmd.AddCommand(newNew(), newLint())
	return cmd
}

// teach takes the screen and teaches a lesson. A negative step is where it was left.
func teach(ctx context.Context, look *cli.Look, all []*lessons.Lesson, lesson *lessons.Lesson, step int, kept *progressFile) error {
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
	shown := append([]*lessons.Lesson{lesson}, all...) // which may have another by its name
	if s := standings[lesson.Name]; step < 0 && !s.Done {
		step = s.Step
	}
	opts = look.Session(opts)
	opts.Filter = timeline.Options{}.Filter // a lesson speaks of all its pods
	screen := look.Options(nil)
	screen.Memory = nil
	err = tui.RunLesson(ctx, first, tui.LessonOptions{Session: opts, Lessons: all, Plan: plan, Step: step,
		Standings: standings, Progress: kept, Stage: func(s lessons.Stage) {
			at := progressStage{Stage: s}
			if i := slices.IndexFunc(shown, func(l *lessons.Lesson) bool { return l.Name == s.Lesson }); i >= 0 {
				at.File = shown[i].Path()
			}
			kept.Tell(at)
		}}, screen)
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq learn --list works without one", err)
	}
	return err
}

// listLessons prints the lessons of a course.
func listLessons(w io.Writer, c *lessons.Course, standings map[string]lessons.Standing) error {
	rows := [][]string{{"", "lesson", "title", "under", "minutes", "so far"}}
	for i, l := range c.Lessons {
		so := ""
		if s, ok := standings[l.Name]; ok && s.Done {
			so = fmt.Sprintf("done, %d of %d answers right", s.Right, s.Asked)
		} else if ok {
			so = fmt.Sprintf("step %d of %d", s.Step+1, len(l.Steps))
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), l.Name, string(l.Title), l.Scenario.Release, fmt.Sprint(int(l.Planned.Minutes())), so})
	}
	var b strings.Builder
	cli.WriteColumns(&b, rows)
	_, err := io.WriteString(w, "\n"+b.String())
	return err
}

// tellProgress says how much of a course is done and how long the rest is planned to take, how many answers were right, and how
// to come to the questions of those that were not. file is the course's, or empty.
func tellProgress(w io.Writer, c *lessons.Course, file string, standings map[string]lessons.Standing) error {
	done, asked, right := 0, 0, 0
	rest := c.Planned()
	again := "schedq learn "
	if file != "" {
		again += "--course " + c.File + " "
	}
	var missed [][]string
	for i, l := range c.Lessons {
		s := standings[l.Name]
		if !s.Done {
			continue
		}
		done, asked, right, rest = done+1, asked+s.Asked, right+s.Right, rest-l.Planned
		for _, m := range s.Missed {
			if question := m.Question(l); question != "" {
				missed = append(missed, []string{fmt.Sprintf("%s%d --step %d", again, i+1, m.Step+1), string(l.Steps[m.Step].Title), string(question)})
			}
		}
	}
	text := fmt.Sprintf("%s\n%d of %d lessons are done", c.Title, done, len(c.Lessons))
	if done < len(c.Lessons) {
		text += fmt.Sprintf(", and the others take about %d minutes", int(rest.Minutes()))
	}
	if text += "."; asked > 0 {
		text += fmt.Sprintf(" %d of %d answers were right.", right, asked)
	}
	if _, err := fmt.Fprintln(w, text); err != nil || len(missed) == 0 {
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
