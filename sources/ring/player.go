package ring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Events yields what the ring tells in the order of time, as one recording of a live cluster: it begins with all that is known
// at From. An error is the last that it yields.
func (r *Ring) Events(ctx context.Context, reading Reading) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		p := &player{Reading: reading, ring: r, yield: func(ev sources.Event) bool { return yield(ev, nil) }}
		if err := p.play(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(sources.Event{}, err)
		}
	}
}

var (
	errStopped = errors.New("nobody wants more events")
	errPast    = errors.New("what follows is after To")
)

// player plays a ring once.
type player struct {
	Reading
	ring  *Ring
	yield func(sources.Event) bool

	known *situation // by what was read up to now; nil before the first keyframe
	last  time.Time  // of what was read
	begin time.Time  // when what was known is told. Zero if it is not yet
	order ordering
	// ahead is when the clock was set back after the segment that is read, which tells nothing later. Zero if it was not.
	ahead time.Time

	number  uint64  // of the segment that was read last, or 0
	missing bool    // segments are missing since what is known
	breaks  int     // times of which nothing was recorded
	longest stretch // of those
	clamped stretch // what was later than ahead
}

type stretch struct{ from, to time.Time }

func (p *player) play(ctx context.Context) error {
	if others := p.ring.others; len(others) > 0 {
		err := others[0].misplaced()
		if len(others) > 1 {
			err = fmt.Errorf("%w (as of %d more)", err, len(others)-1)
		}
		if err := p.say(ctx, err); err != nil {
			return err
		}
	}
	first, err := p.first(ctx)
	for i := first; err == nil && i < len(p.ring.all); i++ {
		err = p.segment(ctx, i)
	}
	if err != nil && !errors.Is(err, errPast) {
		return err
	}
	if p.known == nil {
		return p.ring.empty()
	}
	if err := p.tellKnown(p.From); err != nil {
		return err
	}
	p.sayBreaks()
	return p.hand(true)
}

// first returns which segment to begin with: the last one whose keyframe is not after From.
func (p *player) first(ctx context.Context) (int, error) {
	if p.From.IsZero() {
		return 0, nil
	}
	for i := len(p.ring.all) - 1; i > 0; i-- {
		if p.ring.all[i].start.After(p.From) {
			continue
		}
		s, at, err := p.ring.startOf(ctx, i)
		if ctx.Err() != nil {
			return 0, err
		}
		if s != nil && !at.After(p.From) {
			return i, nil
		}
	}
	return 0, nil
}

// segment plays the ith segment.
func (p *player) segment(ctx context.Context, i int) error {
	f, err := p.ring.file(ctx, i, p.Budget)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was dropped meanwhile: the next one's number says so
	}
	var s *situation
	var at time.Time
	if f != nil {
		defer f.lines.Close()
		f.keeps = p.known == nil
		s, at, err = f.keyframe()
	}
	if !errors.Is(err, errMisplaced) {
		if missing := p.follow(p.ring.all[i].number); missing != nil {
			if err := p.say(ctx, missing); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return p.say(ctx, err)
	}
	if f == nil {
		return nil
	}
	p.ahead = p.ring.setBack(i)
	if s != nil {
		f.keeps = true
		err = p.takeOver(f.segment, s, at)
		for err == nil {
			var ev sources.Event
			if ev, err = f.next(); err == nil {
				if err = p.tell(ev); err == nil {
					p.known.add(ev)
				}
			}
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, errPast) || errors.Is(err, errStopped) {
			return err
		}
		return p.say(ctx, err)
	}
	if f.trace.OnlyCut() {
		return nil
	}
	for _, n := range f.trace.Notices() {
		if err := p.say(ctx, errors.New(n)); err != nil {
			return err
		}
	}
	return nil
}

// follow notes that the segment with that number is next. The error is that others are missing before it.
func (p *player) follow(number uint64) error {
	before := p.number
	p.number = number
	if before == 0 || number <= before+1 {
		return nil
	}
	p.missing = true
	if number == before+2 {
		return fmt.Errorf("%s: segment %d is missing", p.ring.name, before+1)
	}
	return fmt.Errorf("%s: segments %d to %d are missing", p.ring.name, before+1, number-1)
}

// say tells that something of the ring can't be read. Where it has to be, that is an error.
func (p *player) say(ctx context.Context, why error) error {
	if p.Strict || ctx.Err() != nil {
		return why
	}
	if p.Notice != nil {
		p.Notice(why.Error())
	}
	return nil
}

// setBack returns when the clock was set back after the ith segment, if it was: one that was begun later has that time.
func (r *Ring) setBack(i int) (at time.Time) {
	for _, s := range r.all[i+1:] {
		if s.began && (at.IsZero() || s.start.Before(at)) {
			at = s.start
		}
	}
	return at
}

// takeOver goes on from what was known when a segment began.
func (p *player) takeOver(from segment, now *situation, at time.Time) error {
	before, since := p.known, p.last
	missing := p.missing
	p.missing = false
	if before == nil {
		p.known, p.last = now, at
		if !at.Before(p.From) {
			return p.tellKnown(at)
		}
		return nil
	}
	// The changes are told of what was known before, and make of it what is known now.
	defer func() { p.known = now }()
	changes, breaks := before.changes(now, since, at), (from.began || missing) && at.Sub(since) >= time.Second
	if breaks { // what is told at its end may have been at any time in it
		gap := sources.Gap{Since: since}
		changes = slices.Insert(changes, 0, sources.Event{Time: since, Fact: &sources.Unheard{Gap: gap}})
		gap.Until = at
		changes = append(changes, sources.Event{Time: at, Fact: &sources.Unheard{Gap: gap}})
	}
	for _, ev := range changes {
		if err := p.tell(ev); err != nil {
			return err
		}
	}
	if !breaks {
		return nil
	}
	if p.breaks++; at.Sub(since) > p.longest.to.Sub(p.longest.from) {
		p.longest = stretch{since, at}
	}
	return p.tell(sources.Event{Time: at, Fact: &sources.Mark{Text: sources.SafeText("not recorded since " + since.UTC().Format("15:04:05"))}})
}

// tellKnown tells all that is known, as what was there at that time, if it is not told yet.
func (p *player) tellKnown(at time.Time) error {
	if !p.begin.IsZero() {
		return nil
	}
	p.begin = at
	for _, ev := range p.known.events(at) {
		p.order.add(ev)
	}
	return p.hand(false)
}

// tell tells ev, if it is within what is wanted.
func (p *player) tell(ev sources.Event) error {
	if !p.ahead.IsZero() && ev.Time.After(p.ahead) {
		if p.clamped.from = p.ahead; ev.Time.After(p.clamped.to) {
			p.clamped.to = ev.Time
		}
		ev.Time = p.ahead
	}
	if ev.Time.After(p.last) {
		p.last = ev.Time
	}
	if ev.Time.Before(p.begin) {
		ev.Time = p.begin // what was not known yet when a keyframe was made
	} else if ev.Time.Before(p.From) {
		return nil
	}
	if !p.To.IsZero() && ev.Time.After(p.To) {
		if ev.Time.Sub(p.To) > horizon {
			return errPast
		}
		return nil
	}
	if err := p.tellKnown(p.From); err != nil {
		return err
	}
	p.order.add(ev)
	return p.hand(false)
}

// hand hands on what nothing can come before any more, or all that is left.
func (p *player) hand(all bool) error {
	for {
		ev, ok := p.order.next(all)
		if !ok {
			return nil
		}
		if !p.yield(ev) {
			return errStopped
		}
	}
}

// sayBreaks says what the recording does not tell.
func (p *player) sayBreaks() {
	if p.Notice == nil {
		return
	}
	const format = "2006-01-02 15:04:05"
	if p.breaks > 0 {
		times := "once"
		if p.breaks > 1 {
			times = fmt.Sprintf("%d times, the longest time", p.breaks)
		}
		p.Notice(fmt.Sprintf("%s: nothing was recorded %s, from %s to %s: what changed meanwhile is told at its end",
			p.ring.name, times, p.longest.from.UTC().Format(format), p.longest.to.UTC().Format(format)))
	}
	if !p.clamped.to.IsZero() {
		p.Notice(fmt.Sprintf("%s: the clock was set back: what was recorded until %s is told at %s",
			p.ring.name, p.clamped.to.UTC().Format(format), p.clamped.from.UTC().Format(format)))
	}
}
