package board

import (
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/theme"
)

// Abbreviation is a word or a glyph on the board, and its meaning.
type Abbreviation struct{ Word, Means string }

// Legend returns the abbreviations that are on the board, the most important first.
func (b *Board) Legend() []Abbreviation {
	var columns, nextOf [unschedulablePane + 1]bool
	shows := map[string]bool{}
	arrows := false
	for id := activePane; id <= unschedulablePane; id++ {
		r := b.parts.panes[id]
		if columns[id] = r.W > 0 && paneHeadings(r.H) > 0; !columns[id] {
			continue
		}
		p := b.pane(id)
		for _, c := range p.fitted {
			shows[c.name] = true
		}
		nextOf[id] = p.shows("next")
		arrows = arrows || p.tooNarrowForPriority(paneRows(r.H, b.parts.spacing))
	}
	var all []Abbreviation
	add := func(shown bool, word, means string) {
		if shown {
			all = append(all, Abbreviation{word, means})
		}
	}
	add(shows["waiting"], "waits", "total")
	add(nextOf[backoffPane], "left", "backoff")
	add(true, theme.GlyphObserved, "observed")
	add(true, theme.GlyphModelled, "modelled")
	add(columns[unschedulablePane] && b.Frame.Board.Len(queue.Gated) > 0, theme.GlyphGated, "gated")
	add(arrows, theme.GlyphHigh, "priority")
	add(shows["reason"], "+1", "one more")
	add(shows["attempts"], "att", "attempts")
	add(nextOf[backoffPane] && b.Frame.Options.PopFromBackoffQ, theme.GlyphEarly, "at the latest")
	add(nextOf[unschedulablePane], "flush", "until a retry without an event")
	return all
}
