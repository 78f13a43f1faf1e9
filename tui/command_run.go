package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// Machine runs programs on the user's machine. The zero value runs none.
type Machine struct {
	// Run runs a program until ctx ends, without a terminal, and writes its output to out.
	Run func(ctx context.Context, words []string, out io.Writer) error
	// RunOnTerminal gives a program the terminal, and calls ended with its error.
	RunOnTerminal func(ctx context.Context, words []string, ended func(error) tea.Msg) tea.Cmd
}

// commands are the user-defined commands in the order of the configuration.
type commands struct {
	*page.UI
	ctx     context.Context // stops running programs
	all     []Command
	machine Machine
	output  *widget.Text
}

// addCommands adds the list of commands, which run on a machine until ctx ends.
func addCommands(ctx context.Context, d *page.UI, all []Command, machine Machine, actions page.Actions) {
	c := &commands{UI: d, ctx: ctx, all: all, machine: machine, output: &widget.Text{UI: d}}
	actions[keymap.Commands] = page.Do(c.choose).DisabledWhen(func() string {
		switch {
		case c.machine.Run == nil:
			return "commands can't be run from here"
		case len(c.all) == 0:
			return "the configuration has no commands: see docs/reference/settings.md"
		}
		return ""
	})
}

// choose lists the commands.
func (c *commands) choose() tea.Cmd {
	l := widget.List{Title: "run a command", Choose: func(chosen []int) tea.Cmd { return c.run(c.all[chosen[0]]) }}
	for _, each := range c.all {
		it := widget.Item{Text: format.Safe(each.Name), Note: format.SafeList(each.Words, " ")}
		if words, why := c.words(each); why != "" {
			it.Note, it.Disabled = "can't: "+format.Safe(why), true
		} else {
			it.Note = format.SafeList(words, " ")
		}
		l.Items = append(l.Items, it)
	}
	return widget.OpenList(c.UI, l, 0)
}

// words returns the words of a command for the selected pod.
func (c *commands) words(each Command) (words []string, why string) {
	p := &board.Pod{}
	if each.isAboutPod() {
		if why := c.NotSelected(); why != "" {
			return nil, why
		}
		if p = c.Pod(); p == nil {
			return nil, c.Selected.Key.String() + " is not known at this time"
		}
	}
	words, err := each.about(p)
	if err != nil {
		return nil, err.Error()
	}
	return words, ""
}

// run runs a command, on the terminal or in the background.
func (c *commands) run(each Command) tea.Cmd {
	words, why := c.words(each)
	if why != "" {
		return c.Refuse(each.Name + ": " + why)
	}
	if each.Terminal {
		return c.machine.RunOnTerminal(c.ctx, words, func(err error) tea.Msg {
			return page.Ready(func() tea.Cmd {
				if err != nil {
					return c.Refuse(each.Name + ": " + err.Error())
				}
				return nil
			})
		})
	}
	return c.Begin(c.ctx, "running "+each.Name, func(ctx context.Context, _ *page.Work) func(late bool) tea.Cmd {
		said := c.machine.wrote(ctx, words)
		if strings.TrimSpace(said) == "" {
			said = "No output."
		}
		return func(late bool) tea.Cmd {
			show := func() tea.Cmd { return c.output.Show(each.Name, said) }
			if late {
				return c.QueueNotice(page.Notice{Text: each.Name + " has finished", Open: show})
			}
			return show()
		}
	})
}

// maxOutput limits how many bytes of a command's output are kept.
const maxOutput = 1 << 20

// wrote runs a program without a terminal until ctx ends, and returns its output and, unless it succeeded, its exit status.
func (m Machine) wrote(ctx context.Context, words []string) string {
	var out bounded
	err := m.Run(ctx, words, &out)
	text := out.text()
	var ended interface {
		error
		ExitCode() int
	}
	switch {
	case errors.As(err, &ended):
		return strings.TrimRight(text, "\n") + fmt.Sprintf("\n\n%s ended with %s.", words[0], ended)
	case err != nil:
		return text + err.Error()
	}
	return text
}

// bounded is a writer that keeps the first bytes.
type bounded struct {
	kept bytes.Buffer
	lost int
}

// Write implements io.Writer. It accepts everything, so that the command never blocks.
func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), maxOutput-b.kept.Len())
	b.kept.Write(p[:keep])
	b.lost += len(p) - keep
	return len(p), nil
}

// text returns the output if it is text.
func (b *bounded) text() string {
	kept := b.kept.Bytes()
	whole := kept
	for b.lost > 0 && len(whole) > 0 && len(kept)-len(whole) < utf8.UTFMax && !utf8.Valid(whole) {
		whole = whole[:len(whole)-1] // a letter cut in two
	}
	switch {
	case bytes.IndexByte(kept, 0) >= 0 || !utf8.Valid(whole):
		return fmt.Sprintf("%s bytes of binary output.", format.Number(len(kept)+b.lost))
	case b.lost > 0:
		return string(whole) + fmt.Sprintf("\n\n… and %s bytes more.", format.Number(b.lost))
	}
	return string(whole)
}
