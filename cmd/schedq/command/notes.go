package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources"
)

// NewNotes returns schedq notes.
func NewNotes() *cobra.Command {
	return &cobra.Command{
		Use:   "notes",
		Short: "Show the speaker notes of the lesson in another terminal",
		Long: `Follow the lesson that schedq learn shows in another terminal of this machine: print the speaker notes
of its step, every answer with its explanation, and the title of the next step.`,
		Example: "  schedq notes",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress, err := openProgress(cmd.Context())
			if err != nil {
				return err
			}
			all, err := lessons.All()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "schedq: waiting for schedq learn; press ctrl+c to quit")
			return followNotes(cmd.Context(), cmd.OutOrStdout(), progress, all)
		},
	}
}

// notesInterval is how often followNotes looks for another step.
const notesInterval = 200 * time.Millisecond

// followNotes writes the notes of each step that progress publishes until ctx ends. all are the
// embedded lessons. On a terminal the notes of a step replace the previous ones.
func followNotes(ctx context.Context, w io.Writer, progress *progressFile, all []*lessons.Lesson) error {
	var shown publishedStage
	began := false
	ticker := time.NewTicker(notesInterval)
	defer ticker.Stop()
	for {
		stage, found, err := progress.Published(ctx)
		if err != nil {
			return err
		}
		if found && (!began || stage != shown) {
			shown, began = stage, true
			if err := writeNotes(ctx, w, stage, all); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// writeNotes writes the notes of one step.
func writeNotes(ctx context.Context, w io.Writer, stage publishedStage, all []*lessons.Lesson) error {
	l, err := lessonOf(ctx, stage, all)
	if err != nil {
		_, err = fmt.Fprintln(w, err)
		return err
	}
	if stage.Step < 0 || stage.Step >= len(l.Steps) {
		return nil // the lesson's file changed
	}
	width := 80
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = max(40, columns)
		}
		if _, err := fmt.Fprint(w, ansi.EraseEntireScreen+ansi.CursorHomePosition); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w, ansi.Wrap(notesOf(l, stage.Step), width-1, ""))
	return err
}

// lessonOf returns the lesson of a stage, from its file or from all.
func lessonOf(ctx context.Context, stage publishedStage, all []*lessons.Lesson) (*lessons.Lesson, error) {
	if stage.File != "" {
		return lessons.Read(ctx, stage.File)
	}
	i, err := lessons.Find(all, string(sources.Sanitize(stage.Lesson)))
	if err != nil {
		return nil, err
	}
	return all[i], nil
}

// notesOf returns the speaker notes of a step of l.
func notesOf(l *lessons.Lesson, step int) string {
	var b strings.Builder
	s := &l.Steps[step]
	fmt.Fprintf(&b, "%s · step %d of %d: %s\n\n", l.Title, step+1, len(l.Steps), s.Title)
	if s.Notes != "" {
		fmt.Fprintf(&b, "%s\n\n", s.Notes)
	}
	if s.Prediction != nil {
		for _, a := range s.Prediction.Asks {
			fmt.Fprintln(&b, a.Question)
			for i, answer := range a.Answers {
				mark := "✗"
				if i == a.Right() {
					mark = "✓"
				}
				fmt.Fprintf(&b, "%s %s: %s\n", mark, answer.Text, answer.Says)
			}
			b.WriteByte('\n')
		}
	}
	if s.Goal != nil {
		for _, d := range s.Goal.Solution {
			fmt.Fprintf(&b, "solution: %s\n", d.Text)
		}
		b.WriteByte('\n')
	}
	if step+1 < len(l.Steps) {
		fmt.Fprintf(&b, "next: %s\n", l.Steps[step+1].Title)
	} else {
		fmt.Fprintf(&b, "This is the last step. The misconception: %s\n", l.Misconception)
	}
	return b.String()
}
