package board

import (
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// rows is a list of pods of one or more tiers, one below the other, of which some fit on the screen.
// It holds positions only: the pods stay in the board, and nobody looks at one that is not shown.
type rows struct {
	tiers []queue.Tier
	// cursor is the row that the next key moves from; top is the first that is shown.
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

// index returns the row that shows p, if it is here and not filtered away.
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

// settle puts the cursor on the selected pod if it is here, and otherwise leaves it on its row, and
// scrolls so that the cursor is among the height rows that are shown.
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
