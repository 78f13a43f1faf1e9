package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources"
)

// interval is how often it is looked where the lesson is.
const notesInterval = 200 * time.Millisecond

// Follow writes the notes of each step that kept tells of, until ctx ends. all are the program's own lessons. On a
// terminal the notes of one step take the place of those of the one before.
func followNotes(ctx context.Context, w io.Writer, kept *progressFile, all []*lessons.Lesson) error {
	var shown progressStage
	began := false
	ticker := time.NewTicker(notesInterval)
	defer ticker.Stop()
	for {
		at, told, err := kept.Told(ctx)
		if err != nil {
			return err
		}
		if told && (!began || at != shown) {
			shown, began = at, true
			if err := writeNotes(ctx, w, at, all); err != nil {
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

// write writes the notes of one step.
func writeNotes(ctx context.Context, w io.Writer, at progressStage, all []*lessons.Lesson) error {
	l, err := shownLesson(ctx, at, all)
	if err != nil {
		_, err = fmt.Fprintln(w, err)
		return err
	}
	if at.Step < 0 || at.Step >= len(l.Steps) {
		return nil // the file has changed since
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
	_, err = fmt.Fprintln(w, ansi.Wrap(notesOf(l, at.Step), width-1, ""))
	return err
}

// shownLesson is the lesson that is shown.
func shownLesson(ctx context.Context, at progressStage, all []*lessons.Lesson) (*lessons.Lesson, error) {
	if at.File != "" {
		return lessons.Read(ctx, at.File)
	}
	i, err := lessons.Find(all, string(sources.Sanitize(at.Lesson)))
	if err != nil {
		return nil, err
	}
	return all[i], nil
}

// Of is what the speaker sees at a step of a lesson, which has it.
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
		fmt.Fprintf(&b, "This is the last step. People think: %s\n", l.Misconception)
	}
	return b.String()
}
