package board

import (
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// rows is a list of pods of one or more tiers, partly visible. It holds only positions: the pods
// stay in the board, and invisible ones cost nothing.
type rows struct {
	tiers []queue.Tier
	// cursor is the row that keys start from, top the first visible one.
	cursor, top int
	// loose is true while the wheel has scrolled the cursor out of sight.
	loose bool
}

func (r *rows) len(b *board.Board) int {
	n := 0
	for _, tier := range r.tiers {
		n += b.Len(tier)
	}
	return n
}

// at returns the i-th pod, or nil.
func (r *rows) at(b *board.Board, i int) *board.Pod {
	for _, tier := range r.tiers {
		n := b.Len(tier)
		if i < n {
			return b.At(tier, i)
		}
		i -= n
	}
	return nil
}

// index returns the row of p, if it is here and matches the filter.
func (r *rows) index(b *board.Board, p *board.Pod) (int, bool) {
	before := 0
	p = b.RowOf(p)
	for _, tier := range r.tiers {
		if tier == p.Listed() {
			i := b.Index(p)
			at := b.At(tier, i)
			return before + i, at != nil && at.Key == p.Key
		}
		before += b.Len(tier)
	}
	return 0, false
}

// settle puts the cursor on the selected pod if it is here, and scrolls so that the cursor is
// visible among height rows.
func (r *rows) settle(b *board.Board, selected *board.Pod, height int) {
	n := r.len(b)
	if selected != nil {
		if i, here := r.index(b, selected); here {
			r.cursor = i
		}
	}
	r.cursor = min(max(r.cursor, 0), max(n-1, 0))
	if height <= 0 {
		return
	}
	if !r.loose {
		r.top = min(max(r.top, r.cursor-height+1), r.cursor)
	}
	r.top = min(max(r.top, 0), max(n-height, 0))
}
