package widget

import (
	"slices"
	"strings"

	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// completing is the completion of a word in progress.
type completing struct {
	// candidates replace the word, chosen is the current one. before is the text before the word.
	candidates []string
	chosen     int
	before     string
}

// MaxCandidates limits how many candidates a prompt offers.
const MaxCandidates = 50

// candidateRows is how many candidates are visible at once.
const candidateRows = 8

// lastWord splits text before its last word, which may be empty.
func lastWord(text string) (before, word string) {
	i := strings.LastIndexAny(text, " \t") + 1
	return text[:i], text[i:]
}

// complete replaces the last word with the next candidate, or with the previous one if n is negative.
func (p *Prompt) complete(n int) {
	c := &p.completing
	if len(c.candidates) == 1 { // already in place: complete what comes next
		*c = completing{}
	}
	if c.candidates == nil {
		text := p.input.Value()
		c.candidates = p.found(text)
		if c.before, _ = lastWord(text); len(c.candidates) == 0 {
			return
		}
		if c.chosen = 0; n < 0 {
			c.chosen = len(c.candidates) - 1
		}
	} else if len(c.candidates) > 0 {
		c.chosen = (c.chosen + n + len(c.candidates)) % len(c.candidates)
	}
	if len(c.candidates) > 0 {
		p.put(c.before + c.candidates[c.chosen])
	}
}

// found returns the candidates for text.
func (p *Prompt) found(text string) []string {
	if p.Complete == nil {
		return nil
	}
	all := p.Complete(text)
	return all[:min(len(all), MaxCandidates)]
}

// drawCandidates draws the candidates at the bottom of the middle of the screen, and returns how many rows they take.
func (p *Prompt) drawCandidates(a canvas.Area) (rows int) {
	all, chosen := p.candidates, p.chosen
	if len(all) <= 1 { // nothing to choose
		all, chosen = p.found(p.input.Value()), -1
	}
	if len(all) == 0 || a.H < candidateRows {
		return 0
	}
	rows = min(len(all), candidateRows)
	top := max(0, min(chosen-rows/2, len(all)-rows))
	width := 0
	for _, text := range all {
		width = max(width, canvas.Width(format.Safe(text)))
	}
	before, _ := lastWord(p.input.Value())
	width = min(width+2, a.W-2)
	x := min(len(p.Title)+2+canvas.Width(format.Safe(before)), a.W-width)
	box := a.Sub(x, a.H-rows, width, rows)
	for y := range rows {
		style := theme.Plain
		if top+y == chosen {
			style = theme.Chosen
		}
		box.Row(y).Fill(style, " ")
		box.Row(y).Text(1, 0, style, canvas.TruncateMiddle(format.Safe(all[top+y]), width-2))
	}
	if len(all) > rows {
		box.Right(width, 0, theme.Dim, "↑↓")
	}
	return rows
}

// mostTyped is how many texts each prompt remembers.
const mostTyped = 50

// remember adds text to the history of the prompt.
func (p *Prompt) remember(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if p.ui.Typed == nil {
		p.ui.Typed = map[string][]string{}
	}
	typed := slices.DeleteFunc(slices.Clone(p.ui.Typed[p.history()]), func(other string) bool { return other == text })
	typed = append(typed, text)
	p.ui.Typed[p.history()] = typed[max(0, len(typed)-mostTyped):]
}

// recall goes n texts back in the history of the prompt.
func (p *Prompt) recall(n int) {
	typed := p.ui.Typed[p.history()]
	to := min(max(p.older+n, 0), len(typed))
	if to == p.older {
		return
	}
	if p.older == 0 {
		p.now = p.input.Value()
	}
	p.completing = completing{}
	if p.older = to; to == 0 {
		p.put(p.now)
	} else {
		p.put(typed[len(typed)-to])
	}
}

// Starting returns the words that start with the last word of text, and then those that contain it. The word itself is left out.
func Starting(text string, words []string) []string {
	_, word := lastWord(text)
	word = strings.ToLower(word)
	var begin, contain []string
	for _, each := range words {
		switch lower := strings.ToLower(each); {
		case lower == word:
		case strings.HasPrefix(lower, word):
			begin = append(begin, each)
		case strings.Contains(lower, word):
			contain = append(contain, each)
		}
	}
	return append(begin, contain...)
}
