package widget

import (
	"cmp"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Prompt is a text field in place of the status line.
type Prompt struct {
	ui          *page.UI
	Title, Hint string
	// History names the texts that can be recalled, those of prompts with the same name. "": Title.
	History string
	input   textinput.Model
	// mistake is why the text is invalid, or "".
	mistake string
	// Accept takes the text, or returns what is wrong with it. Changed, if set, does the same on every change. Cancelled, if set, is
	// called if the prompt is closed otherwise.
	Accept    func(text string) (mistake string)
	Changed   func(text string) (mistake string)
	Cancelled func()
	// After, if set, runs outside of Update after Accept.
	After tea.Cmd
	// Complete, if set, returns the candidates for the last word of text, best first.
	Complete func(text string) []string
	// Paths, if set, completes file names.
	Paths *Paths

	completing
	// older is how far back in the history the text is: 0 is the text being typed.
	older int
	now   string
}

// Ask opens p with text in it. The command that it returns reads the folder whose files are offered, if any.
func Ask(d *page.UI, p Prompt, text string) tea.Cmd {
	p.ui = d
	p.input = textinput.New()
	p.input.SetVirtualCursor(false) // the terminal's cursor blinks without ticks
	p.input.CharLimit = 4096        // PATH_MAX on Linux
	p.input.SetValue(text)
	p.input.CursorEnd()
	p.input.Focus()
	if p.Paths != nil {
		p.Complete = p.Paths.complete
	}
	d.Overlays.Open(&p)
	return p.look()
}

// look reads the folder for the completion of paths.
func (p *Prompt) look() tea.Cmd {
	if p.Paths == nil {
		return nil
	}
	return p.Paths.look(p.input.Value())
}

// AddPrompts adds the actions of an open prompt.
func AddPrompts(d *page.UI, all page.Actions) {
	all[keymap.PromptCancel] = page.Command(func() {
		p := d.Overlays.Top().(*Prompt)
		d.Overlays.Close(p)
		if p.Cancelled != nil {
			p.Cancelled()
		}
	})
	all[keymap.PromptAccept] = page.Action{Do: func(string) tea.Cmd {
		p := d.Overlays.Top().(*Prompt)
		text := p.input.Value()
		if p.mistake = p.Accept(text); p.mistake != "" {
			return nil
		}
		p.remember(text)
		d.Overlays.Close(p)
		return p.After
	}}
	in := func(do func(p *Prompt)) page.Action {
		return page.Action{Do: func(string) tea.Cmd {
			p := d.Overlays.Top().(*Prompt)
			do(p)
			return p.look()
		}}
	}
	all[keymap.PromptNext] = in(func(p *Prompt) { p.complete(1) })
	all[keymap.PromptBefore] = in(func(p *Prompt) { p.complete(-1) })
	all[keymap.PromptOlder] = in(func(p *Prompt) { p.recall(1) })
	all[keymap.PromptNewer] = in(func(p *Prompt) { p.recall(-1) })
}

func (p *Prompt) Context() keymap.Context { return keymap.Prompt }

func (p *Prompt) history() string { return cmp.Or(p.History, p.Title) }

// Means implements page.Overlay: keys that complete or recall need candidates or a history.
func (p *Prompt) Means(id keymap.ID, _ string) bool {
	switch id {
	case keymap.PromptNext, keymap.PromptBefore:
		return p.Complete != nil
	case keymap.PromptOlder, keymap.PromptNewer:
		return len(p.ui.Typed[p.history()]) > 0
	}
	return true
}

func (p *Prompt) Refresh()   {}
func (p *Prompt) Settle(int) {}
func (p *Prompt) Wheel(int)  {}

func (p *Prompt) Click(_, _, _, _ int) (keymap.ID, bool) { return "", false }

// Typed implements page.Overlay: the text field gets keys and pasted text.
func (p *Prompt) Typed(msg tea.Msg) tea.Cmd {
	before := p.input.Value()
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(msg)
	if text := p.input.Value(); text != before {
		p.completing, p.older = completing{}, 0
		p.changed()
	}
	return tea.Batch(cmd, p.look())
}

// changed reports the new text to Changed.
func (p *Prompt) changed() {
	p.mistake = ""
	if p.Changed != nil {
		p.mistake = p.Changed(p.input.Value())
	}
}

// put replaces the text.
func (p *Prompt) put(text string) {
	p.input.SetValue(text)
	p.input.CursorEnd()
	p.changed()
}

// textWidth returns the width of the text field on a line of w cells.
func (p *Prompt) textWidth(w int) int { return max(10, w-len(p.Title)-4) }

// visible returns the visible part of the text and the cursor's position in it.
func (p *Prompt) visible(w int) (text string, cursor int) {
	runes := []rune(p.input.Value())
	head := format.Safe(string(runes[:p.input.Position()]))
	cursor = canvas.Width(head)
	text = head + format.Safe(string(runes[p.input.Position():]))
	for cursor >= w && len(text) > 0 { // scroll by whole clusters
		first := []rune(text)[0]
		text = text[len(string(first)):]
		cursor -= canvas.Width(string(first))
	}
	return text, cursor
}

// Caret implements page.Overlay.
func (p *Prompt) Caret(w int) (x int, shown bool) {
	_, cursor := p.visible(p.textWidth(w))
	return len(p.Title) + 3 + cursor, true
}

// Draw implements page.Overlay: it draws the title, the text, and then a hint or the mistake onto the status line.
func (p *Prompt) Draw(middle, a canvas.Area) {
	middle = middle.Sub(0, 0, middle.W, middle.H-p.drawCandidates(middle))
	x := a.Text(1, 0, theme.Accent|canvas.Bold, p.Title+": ")
	text, _ := p.visible(p.textWidth(a.W))
	x = a.Text(x, 0, theme.Plain, text) + 3
	said, style := p.Hint, theme.Dim
	if p.mistake != "" {
		said, style = p.mistake, theme.Alarm|canvas.Bold
	}
	if canvas.Width(said) < a.W-x {
		a.Text(x, 0, style, said)
		return
	}
	lines := canvas.Wrap(said, middle.W-2) // above the prompt, where it fits
	for i, line := range lines[:min(len(lines), middle.H)] {
		row := middle.Row(middle.H - min(len(lines), middle.H) + i)
		row.Fill(theme.Plain, " ")
		row.Text(1, 0, style, line)
	}
}
