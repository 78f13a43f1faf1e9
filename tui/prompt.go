package tui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// prompt is a line into which the person types, in the place of the status line.
type prompt struct {
	title, hint string
	input       textinput.Model
	// mistake is why the text cannot be accepted.
	mistake string
	// accept takes the text or says what is wrong with it. changed, if there is one, is told of every
	// change and may say so, too; cancelled is told of leaving without accepting.
	accept    func(text string) (mistake string)
	changed   func(text string) (mistake string)
	cancelled func()
}

// ask opens p with text in it.
func (m *model) ask(p prompt, text string) {
	p.input = textinput.New()
	p.input.SetVirtualCursor(false) // the terminal's own is used: it needs no ticks to blink
	p.input.CharLimit = 200
	p.input.SetValue(text)
	p.input.CursorEnd()
	p.input.Focus()
	m.prompt = &p
}

// key accepts, cancels or types.
func (p *prompt) key(m *model, msg tea.KeyPressMsg) tea.Cmd {
	if b, ok := m.keys.Lookup(keymap.Prompt, msg.String()); ok {
		return p.do(m, b.ID)
	}
	return p.update(m, msg)
}

// do does what a binding of prompts means.
func (p *prompt) do(m *model, id keymap.ID) tea.Cmd {
	switch id {
	case keymap.PromptCancel:
		m.prompt = nil
		if p.cancelled != nil {
			p.cancelled()
		}
		return nil
	case keymap.PromptAccept:
		if p.mistake = p.accept(p.input.Value()); p.mistake == "" {
			m.prompt = nil
		}
		cmd := m.pending
		m.pending = nil
		return cmd
	}
	return nil
}

// update has the text field take a key or pasted text.
func (p *prompt) update(m *model, msg tea.Msg) tea.Cmd {
	before := p.input.Value()
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(msg)
	if text := p.input.Value(); text != before {
		p.mistake = ""
		if p.changed != nil {
			p.mistake = p.changed(text)
		}
	}
	return cmd
}

// textWidth is the width of the text field on a line of w cells.
func (p *prompt) textWidth(w int) int { return max(10, w-len(p.title)-4) }

// visible returns what of the text is in sight, and where in it the cursor is.
func (p *prompt) visible(w int) (text string, cursor int) {
	runes := []rune(p.input.Value())
	head := safe(string(runes[:p.input.Position()]))
	cursor = canvas.Width(head)
	text = head + safe(string(runes[p.input.Position():]))
	for cursor >= w && len(text) > 0 { // scroll by whole letters
		first := []rune(text)[0]
		text = text[len(string(first)):]
		cursor -= canvas.Width(string(first))
	}
	return text, cursor
}

// cursor returns where on the screen the cursor is, for a prompt drawn at r.
func (p *prompt) cursor(r rect) (x, y int) {
	_, cursor := p.visible(p.textWidth(r.w))
	return r.x + len(p.title) + 3 + cursor, r.y
}

// Draw draws the title, the text and then what may be typed, or what is wrong.
func (p *prompt) Draw(a canvas.Area) {
	x := a.Text(1, 0, accent|canvas.Bold, p.title+": ")
	text, _ := p.visible(p.textWidth(a.W))
	x = a.Text(x, 0, plain, text) + 3
	if p.mistake != "" {
		a.Text(x, 0, alarm|canvas.Bold, canvas.Truncate(p.mistake, a.W-x-1))
	} else {
		a.Text(x, 0, dim, canvas.Truncate(p.hint, a.W-x-1))
	}
}
