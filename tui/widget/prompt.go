package widget

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Prompt is a line into which the person types, in the place of the status line.
type Prompt struct {
	ui          *page.UI
	Title, Hint string
	input       textinput.Model
	// mistake is why the text cannot be accepted.
	mistake string
	// Accept takes the text or says what is wrong with it. changed, if there is one, is told of every
	// change and may say so, too; cancelled is told of leaving without accepting.
	Accept    func(text string) (mistake string)
	Changed   func(text string) (mistake string)
	Cancelled func()
	// After, if there is one, is what is left to do outside of Update once the text is accepted.
	After tea.Cmd
	// Complete, if there is one, returns what the last word of text may be meant to become, the likeliest first.
	Complete func(text string) []string
	// Paths, if there are some, complete paths.
	Paths *Paths

	completing
	// older is how far back in what was typed here before the text is: 0 is what is typed now.
	older int
	now   string
}

// Ask opens p on d with text in it. What is left to do is to read the folder of which files are offered, if it is of files.
func Ask(d *page.UI, p Prompt, text string) tea.Cmd {
	p.ui = d
	p.input = textinput.New()
	p.input.SetVirtualCursor(false) // the terminal's own is used: it needs no ticks to blink
	p.input.CharLimit = 4096        // a path is no longer
	p.input.SetValue(text)
	p.input.CursorEnd()
	p.input.Focus()
	if p.Paths != nil {
		p.Complete = p.Paths.complete
	}
	d.Overlays.Open(&p)
	return p.look()
}

// look has what completes the text found.
func (p *Prompt) look() tea.Cmd {
	if p.Paths == nil {
		return nil
	}
	return p.Paths.look(p.input.Value())
}

// AddPrompts adds what is done in the prompt that is open.
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

// Means implements page.Overlay: without anything to complete or to recall, no key does so.
func (p *Prompt) Means(id keymap.ID) bool {
	switch id {
	case keymap.PromptNext, keymap.PromptBefore:
		return p.Complete != nil
	case keymap.PromptOlder, keymap.PromptNewer:
		return len(p.ui.Typed[p.Title]) > 0
	}
	return true
}

func (p *Prompt) Refresh()   {}
func (p *Prompt) Settle(int) {}
func (p *Prompt) Wheel(int)  {}

func (p *Prompt) Click(_, _, _, _ int) (keymap.ID, bool) { return "", false }

// Typed has the text field take a key or pasted text.
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

// changed tells of another text.
func (p *Prompt) changed() {
	p.mistake = ""
	if p.Changed != nil {
		p.mistake = p.Changed(p.input.Value())
	}
}

// put has text take the place of what was typed.
func (p *Prompt) put(text string) {
	p.input.SetValue(text)
	p.input.CursorEnd()
	p.changed()
}

// textWidth is the width of the text field on a line of w cells.
func (p *Prompt) textWidth(w int) int { return max(10, w-len(p.Title)-4) }

// visible returns what of the text is in sight, and where in it the cursor is.
func (p *Prompt) visible(w int) (text string, cursor int) {
	runes := []rune(p.input.Value())
	head := format.Safe(string(runes[:p.input.Position()]))
	cursor = canvas.Width(head)
	text = head + format.Safe(string(runes[p.input.Position():]))
	for cursor >= w && len(text) > 0 { // scroll by whole letters
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

// Draw draws the title, the text and then what may be typed, or what is wrong, onto the status line.
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
	lines := canvas.Wrap(said, middle.W-2) // above what is typed, where all of it has room
	for i, line := range lines[:min(len(lines), middle.H)] {
		row := middle.Row(middle.H - min(len(lines), middle.H) + i)
		row.Fill(theme.Plain, " ")
		row.Text(1, 0, style, line)
	}
}
