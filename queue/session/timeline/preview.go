package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
)

// Preview is the immediate effect that an injection would have at the moment shown.
type Preview struct {
	What string
	// Of is how many pods the injection could move, Moved how many it would move.
	Of, Moved int
	// To is how many would move to each tier.
	To [queue.Pending + 1]int
}

// String returns a text such as "would move 12 of 37: 9 to backoff, 3 to active".
func (p Preview) String() string {
	if p.Moved == 0 {
		return fmt.Sprintf("would move none of %d", p.Of)
	}
	var tiers []queue.Tier
	for t := queue.Active; t <= queue.Pending; t++ {
		if p.To[t] > 0 {
			tiers = append(tiers, t)
		}
	}
	slices.SortStableFunc(tiers, func(a, b queue.Tier) int { return p.To[b] - p.To[a] })
	var counts []string
	for _, t := range tiers {
		counts = append(counts, fmt.Sprintf("%d to %s", p.To[t], words.TierWord(t)))
	}
	return fmt.Sprintf("would move %d of %d: %s", p.Moved, p.Of, strings.Join(counts, ", "))
}

// Previews computes the previews of several injections at one moment, one by one.
type Previews struct {
	// Close frees what the previews are computed with.
	Close func()

	names  []string
	done   []Preview // of the first of names; elements are never modified
	engine *Engine
	board  *board.Board
	now    time.Time
}

// NewPreviews returns previews of those injectables at now, the moment shown.
func (t *Timeline) NewPreviews(names []string, now time.Time) *Previews {
	p := &Previews{names: slices.Clone(names), now: now, Close: func() {}}
	switch {
	case t.Forked == nil:
		p.engine = t.EngineShown(now)
	case t.EngineIsAt(now):
		t.Execute(now)
		p.engine = t.Engine
	default: // an earlier moment of a what-if
		fork := t.BranchOff(now)
		p.engine, p.Close = fork.Engine, fork.Close
	}
	p.board = t.Shown.Unfiltered()
	return p
}

// Done returns the previews computed so far.
func (p *Previews) Done() []Preview { return p.done[:len(p.done):len(p.done)] }

// Unfinished reports whether any preview has not been computed. p may be nil.
func (p *Previews) Unfinished() bool { return p != nil && len(p.done) < len(p.names) }

// ComputeNext computes the next preview. There must be one.
func (p *Previews) ComputeNext() {
	name := p.names[len(p.done)]
	preview := Preview{What: name, Of: p.board.Total(queue.Unschedulable) + p.board.Total(queue.Gated)}
	if name == queue.BackoffFlush {
		preview.Of = p.board.Total(queue.Backoff)
	}
	if do := Injectable(name); do != nil {
		e := p.engine.Clone()
		if d := p.engine.Driver; d != nil {
			e.Queue = p.engine.Queue.Clone(d.Scheduler.Plugins(), e)
		}
		e.Board = p.board.Copy()
		e.Emit = func(c board.Change) {
			e.Board.Replace(c.Before, c.After)
			if c.Move != nil && c.Move.From != c.Move.To {
				preview.Moved++
				preview.To[c.Move.To]++
			}
		}
		do(e, p.now)
		e.EmitMoves(p.now, nil)
	}
	p.done = append(p.done, preview)
}
