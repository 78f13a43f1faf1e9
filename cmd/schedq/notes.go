package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// notesInterval is how often it is looked where the lesson is.
const notesInterval = 200 * time.Millisecond

// maxStage is how large the file that says it may be, in bytes.
const maxStage = 64 << 10

func newNotes() *cobra.Command {
	return &cobra.Command{
		Use:   "notes",
		Short: "Show the speaker's notes of the lesson that runs in another terminal",
		Long: `notes follows the lesson that schedq learn shows in another terminal on this machine: the speaker's notes of
its step, the right answers, and what comes next.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress, err := keptProgress(cmd.Context())
			if err != nil {
				return err
			}
			all, err := lessons.All()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "schedq: waiting for schedq learn; ctrl+c leaves")
			return followNotes(cmd.Context(), cmd.OutOrStdout(), progress, all)
		},
	}
}

// stageFile says where the lesson is that is shown.
type stageFile struct {
	lessons.Stage
	// File is the lesson's, if it is none of the program's own.
	File string `json:"file,omitempty"`
}

// followNotes writes the notes of each step that is shown, until ctx ends.
func followNotes(ctx context.Context, w io.Writer, progress *progressFile, all []*lessons.Lesson) error {
	shown := ""
	ticker := time.NewTicker(notesInterval)
	defer ticker.Stop()
	for {
		text, err := disk.Read(ctx, progress.path("stage.json"), maxStage)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("where the lesson is can't be read: %w", err)
		}
		if err == nil && string(text) != shown {
			shown = string(text)
			if err := writeNotes(ctx, w, text, all); err != nil {
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
func writeNotes(ctx context.Context, w io.Writer, text []byte, all []*lessons.Lesson) error {
	var at stageFile
	if json.Unmarshal(text, &at) != nil {
		return nil // of another version
	}
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
func shownLesson(ctx context.Context, at stageFile, all []*lessons.Lesson) (*lessons.Lesson, error) {
	if at.File != "" {
		return readLesson(ctx, at.File)
	}
	i, err := lessons.Find(all, string(sources.Sanitize(at.Lesson)))
	if err != nil {
		return nil, err
	}
	return all[i], nil
}

// notesOf is what the speaker sees at a step.
func notesOf(l *lessons.Lesson, step int) string {
	var b strings.Builder
	s := &l.Steps[step]
	fmt.Fprintf(&b, "%s · step %d of %d: %s\n\n", l.Title, step+1, len(l.Steps), s.Title)
	if s.Notes != "" {
		fmt.Fprintf(&b, "%s\n\n", s.Notes)
	}
	if s.Prediction != nil {
		for _, a := range s.Prediction.Asks {
			right := a.Answers[a.Right()]
			fmt.Fprintf(&b, "%s → %s. %s\n", a.Question, right.Text, right.Says)
		}
		b.WriteByte('\n')
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
