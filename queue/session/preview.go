package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/injectable"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// What Inject takes beside the cluster events.
const (
	MoveRequest   = injectable.MoveRequest
	BackoffFlush  = injectable.BackoffFlush
	LeftoverFlush = injectable.LeftoverFlush
)

// Injectables returns what Inject takes: what the queue does of itself, and then the cluster events.
func Injectables() []string { return injectable.Names() }

// deed returns what the injectable does, or nil if there is none of that name.
func deed(name string) func(e *timeline.Engine, now time.Time) {
	do := cluster.Injection(name)
	if do == nil {
		return nil
	}
	return func(e *timeline.Engine, now time.Time) {
		e.Note(&sources.Injected{What: name})
		do(e.Queue, now)
	}
}

// Preview is what an injection would do at the moment shown, at once.
type Preview struct {
	What string
	// Of is how many pods it could move, Moved how many it would.
	Of, Moved int
	// To is how many would go to each tier.
	To [queue.Pending + 1]int
}

// String says "would move 12 of 37: 9 to backoff, 3 to active".
func (p Preview) String() string {
	if p.Moved == 0 {
		return fmt.Sprintf("would move none of %d", p.Of)
	}
	return fmt.Sprintf("would move %d of %d: %s", p.Moved, p.Of, strings.Join(toTiers(&p.To), ", "))
}

// toTiers says how many pods go to each tier, most first.
func toTiers(to *[queue.Pending + 1]int) []string {
	var tiers []queue.Tier
	for t := queue.Active; t <= queue.Pending; t++ {
		if to[t] > 0 {
			tiers = append(tiers, t)
		}
	}
	slices.SortStableFunc(tiers, func(a, b queue.Tier) int { return to[b] - to[a] })
	var said []string
	for _, t := range tiers {
		said = append(said, fmt.Sprintf("%d to %s", to[t], words.TierWord(t)))
	}
	return said
}

// previews are worked out one after the other, at one moment.
type previews struct {
	wanted []string
	done   []Preview // as many of wanted; never modified but by appending
	base   *timeline.Engine
	board  *board.Board
	now    time.Time
	close  func()
}

// preview pauses and begins to work out what each of the injectables would do.
func (o *owner) preview(wanted []string) {
	o.endPreview()
	if len(wanted) == 0 {
		return
	}
	o.still()
	t, p := o.shownLine(), &previews{wanted: slices.Clone(wanted), now: o.now, close: func() {}}
	switch {
	case t.Forked == nil:
		p.base = t.EngineShown()
	case t.Cursor == len(t.Changes) && !o.now.Before(t.Executed):
		t.Execute(o.now)
		p.base = t.Engine
	default: // the past of a what-if
		then := t.BranchOff(o.now)
		p.base, p.close = then.Engine, then.Close
	}
	p.board = t.Shown.Unfiltered()
	o.previews = p
}

// endPreview forgets what previews there are.
func (o *owner) endPreview() {
	if o.previews != nil {
		o.previews.close()
		o.previews, o.changed = nil, true
	}
}

// workOutNext works out the next preview, of which there must be one.
func (p *previews) workOutNext() {
	name := p.wanted[len(p.done)]
	would := Preview{What: name, Of: p.board.Total(queue.Unschedulable) + p.board.Total(queue.Gated)}
	if name == BackoffFlush {
		would.Of = p.board.Total(queue.Backoff)
	}
	if do := deed(name); do != nil {
		e := p.base.Clone()
		if d := p.base.Driver; d != nil {
			e.Queue = p.base.Queue.Clone(d.Scheduler.Plugins(), e)
		}
		e.Board = p.board.Copy()
		e.Emit = func(c timeline.Change) {
			e.Board.Replace(c.Before, c.After)
			if c.Move != nil && c.Move.From != c.Move.To {
				would.Moved++
				would.To[c.Move.To]++
			}
		}
		do(e, p.now)
		e.Settle(p.now, nil)
	}
	p.done = append(p.done, would)
}

// unfinished reports whether previews are still to be worked out.
func (p *previews) unfinished() bool { return p != nil && len(p.done) < len(p.wanted) }

// injectNamed injects one of Injectables.
func (o *owner) injectNamed(name string) {
	switch name {
	case MoveRequest:
		o.moveAll()
	case BackoffFlush:
		o.flushBackoff()
	case LeftoverFlush:
		o.flushLeftover()
	default:
		o.injectEvent(name)
	}
}
