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

// Events yields the ring's events in order of time, as one recording of a live cluster. It begins with all that was known
// at From. After an error it ends.
func (r *Ring) Events(ctx context.Context, reading ReadOptions) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		p := &player{ReadOptions: reading, ring: r, yield: func(ev sources.Event) bool { return yield(ev, nil) }}
		if err := p.play(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(sources.Event{}, err)
		}
	}
}

var (
	errStopped = errors.New("the caller has stopped")
	errAfterTo = errors.New("the rest is after To")
)

// player plays a ring once.
type player struct {
	ReadOptions
	ring  *Ring
	yield func(sources.Event) bool

	known     *snapshot // what was read so far; nil before the first keyframe
	last      time.Time // of the events read
	startedAt time.Time // the time of emitKnown, zero before
	order     sorter
	// clockSetBack is to when the clock was set back after the current segment: its events get no later time. Zero if
	// it was not.
	clockSetBack time.Time

	lastNumber uint64 // of the last segment, or 0
	missing    bool   // segments are missing after known
	gaps       int    // number of times without a recording
	longestGap period
	clamped    period // the times after clockSetBack
}

type period struct{ from, to time.Time }

func (p *player) play(ctx context.Context) error {
	if others := p.ring.misplaced; len(others) > 0 {
		err := others[0].misplaced()
		if len(others) > 1 {
			err = fmt.Errorf("%w (as of %d more)", err, len(others)-1)
		}
		if err := p.report(ctx, err); err != nil {
			return err
		}
	}
	first, err := p.first(ctx)
	for i := first; err == nil && i < len(p.ring.all); i++ {
		err = p.segment(ctx, i)
	}
	if err != nil && !errors.Is(err, errAfterTo) {
		return err
	}
	if p.known == nil {
		return p.ring.empty()
	}
	if err := p.emitKnown(p.From); err != nil {
		return err
	}
	p.reportGaps()
	return p.release(true)
}

// first returns the index of the first segment to play: the last one whose keyframe is not after From.
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

// segment plays the i-th segment.
func (p *player) segment(ctx context.Context, i int) error {
	f, err := p.ring.file(ctx, i, p.Budget)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was dropped meanwhile, which the number of the next one shows
	}
	var s *snapshot
	var at time.Time
	if f != nil {
		defer f.lines.Close()
		f.retains = p.known == nil
		s, at, err = f.keyframe()
	}
	if !errors.Is(err, errMisplaced) {
		if missing := p.checkNumber(p.ring.all[i].number); missing != nil {
			if err := p.report(ctx, missing); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return p.report(ctx, err)
	}
	if f == nil {
		return nil
	}
	p.clockSetBack = p.ring.clockSetBackAfter(i)
	if s != nil {
		f.retains = true
		err = p.startSegment(f.segment, s, at)
		for err == nil {
			var ev sources.Event
			if ev, err = f.next(); err == nil {
				if err = p.emit(ev); err == nil {
					p.known.add(ev)
				}
			}
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, errAfterTo) || errors.Is(err, errStopped) {
			return err
		}
		return p.report(ctx, err)
	}
	if f.trace.OnlyCut() {
		return nil
	}
	for _, n := range f.trace.Notices() {
		if err := p.report(ctx, errors.New(n)); err != nil {
			return err
		}
	}
	return nil
}

// checkNumber records the number of the current segment. It returns an error if segments before it are missing.
func (p *player) checkNumber(number uint64) error {
	before := p.lastNumber
	p.lastNumber = number
	if before == 0 || number <= before+1 {
		return nil
	}
	p.missing = true
	if number == before+2 {
		return fmt.Errorf("%s: segment %d is missing", p.ring.name, before+1)
	}
	return fmt.Errorf("%s: segments %d to %d are missing", p.ring.name, before+1, number-1)
}

// report reports a part of the ring that can't be read. It returns the error if the options are strict.
func (p *player) report(ctx context.Context, why error) error {
	if p.Strict || ctx.Err() != nil {
		return why
	}
	if p.Notice != nil {
		p.Notice(why.Error())
	}
	return nil
}

// clockSetBackAfter returns to when the clock was set back after the i-th segment, which is the start of a later
// segment, or zero if it was not.
func (r *Ring) clockSetBackAfter(i int) (at time.Time) {
	for _, s := range r.all[i+1:] {
		if s.discontinuous && (at.IsZero() || s.start.Before(at)) {
			at = s.start
		}
	}
	return at
}

// startSegment continues with a segment that began at that time with what was known.
func (p *player) startSegment(from segment, now *snapshot, at time.Time) error {
	before, since := p.known, p.last
	missing := p.missing
	p.missing = false
	if before == nil {
		p.known, p.last = now, at
		if !at.Before(p.From) {
			return p.emitKnown(at)
		}
		return nil
	}
	// The changes lead from what was known before to now.
	defer func() { p.known = now }()
	changes, isGap := before.changes(now, since, at), (from.discontinuous || missing) && at.Sub(since) >= time.Second
	if isGap { // the changes may have happened at any time in the gap
		gap := sources.Gap{Since: since}
		changes = slices.Insert(changes, 0, sources.Event{Time: since, Fact: &sources.WatchGap{Gap: gap}})
		gap.Until = at
		changes = append(changes, sources.Event{Time: at, Fact: &sources.WatchGap{Gap: gap}})
	}
	for _, ev := range changes {
		if err := p.emit(ev); err != nil {
			return err
		}
	}
	if !isGap {
		return nil
	}
	if p.gaps++; at.Sub(since) > p.longestGap.to.Sub(p.longestGap.from) {
		p.longestGap = period{since, at}
	}
	return p.emit(sources.Event{Time: at, Fact: &sources.Mark{Text: sources.SafeText("not recorded since " + since.UTC().Format("15:04:05"))}})
}

// emitKnown emits all that is known, as events at that time, unless it was emitted before.
func (p *player) emitKnown(at time.Time) error {
	if !p.startedAt.IsZero() {
		return nil
	}
	p.startedAt = at
	for _, ev := range p.known.events(at) {
		p.order.add(ev)
	}
	return p.release(false)
}

// emit emits ev if it is between From and To.
func (p *player) emit(ev sources.Event) error {
	if !p.clockSetBack.IsZero() && ev.Time.After(p.clockSetBack) {
		if p.clamped.from = p.clockSetBack; ev.Time.After(p.clamped.to) {
			p.clamped.to = ev.Time
		}
		ev.Time = p.clockSetBack
	}
	if ev.Time.After(p.last) {
		p.last = ev.Time
	}
	if ev.Time.Before(p.startedAt) {
		ev.Time = p.startedAt // it was not known yet when the keyframe was written
	} else if ev.Time.Before(p.From) {
		return nil
	}
	if !p.To.IsZero() && ev.Time.After(p.To) {
		if ev.Time.Sub(p.To) > maxDelay {
			return errAfterTo
		}
		return nil
	}
	if err := p.emitKnown(p.From); err != nil {
		return err
	}
	p.order.add(ev)
	return p.release(false)
}

// release yields the events that no others can precede, or all.
func (p *player) release(all bool) error {
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

// reportGaps reports the times without a recording.
func (p *player) reportGaps() {
	if p.Notice == nil {
		return
	}
	const format = "2006-01-02 15:04:05"
	if p.gaps > 0 {
		times := "once"
		if p.gaps > 1 {
			times = fmt.Sprintf("%d times, the longest time", p.gaps)
		}
		p.Notice(fmt.Sprintf("%s: nothing was recorded %s, from %s to %s: changes in that time are shown at its end",
			p.ring.name, times, p.longestGap.from.UTC().Format(format), p.longestGap.to.UTC().Format(format)))
	}
	if !p.clamped.to.IsZero() {
		p.Notice(fmt.Sprintf("%s: the clock was set back: events recorded until %s are shown at %s",
			p.ring.name, p.clamped.to.UTC().Format(format), p.clamped.from.UTC().Format(format)))
	}
}
