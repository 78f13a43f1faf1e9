package files

import (
	"cmp"
	"context"
	"io"
	"iter"
	"sync"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/schedlog"
)

// longLog is a scheduler's log that is read as often as need be, and not kept.
type longLog struct {
	of    *file
	other io.Writer // gets the lines that are an audit log's
	log   schedlog.Log
	known bool // log is what is known of it as a whole
}

// tellsMoves and isPartly report whether it tells moves, and whether not all of them.
func (l *longLog) tellsMoves() bool { return l.log.Moves }
func (l *longLog) isPartly() bool   { return len(l.log.Spans) > 0 }

// joined returns what it is put together with others as. One that is not known passes for one that tells all moves, and becomes known
// when it is read.
func (l *longLog) joined() *joined.Log {
	if !l.known {
		return &joined.Log{Moves: true, Events: func(ctx context.Context) joined.Events { return sources.Ahead(ctx, l.survey) }}
	}
	return &joined.Log{First: l.log.First, Last: l.log.Last, Moves: l.log.Moves, Spans: l.log.Spans, Starts: l.log.Starts,
		Events: func(ctx context.Context) joined.Events { return sources.Ahead(ctx, l.events) }}
}

// survey reads it for what must be known of it as a whole. It yields nearly what a log tells that tells all moves.
func (l *longLog) survey(ctx context.Context) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		r, ended, err := l.of.again(ctx)
		if err != nil {
			yield(sources.Event{}, err)
			return
		}
		defer r.Close()
		r.Divert(isAudit, l.other)
		for ev, err := range l.log.Survey(r, l.of.year) {
			if !yield(ev, err) || err != nil {
				return
			}
		}
		l.of.reader, l.known = r, true
		l.of.part = &sources.Part{Format: schedlog.Format, First: l.log.First, Last: l.log.Last, Notices: append(ended(), l.log.Notices...)}
	}
}

// events reads what it tells.
func (l *longLog) events(ctx context.Context) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		r, _, err := l.of.again(ctx)
		if err != nil {
			yield(sources.Event{}, err)
			return
		}
		defer r.Close()
		l.log.Events(r)(yield)
	}
}

// surveyAll makes all of them known.
func surveyAll(ctx context.Context, logs []*longLog) error {
	errs := make([]error, len(logs))
	var wg sync.WaitGroup
	for i, l := range logs {
		wg.Go(func() {
			for _, err := range l.survey(ctx) {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// tellMoves reports whether all of them tell all moves, by their beginnings.
func tellMoves(ctx context.Context, logs []*longLog) bool {
	for _, l := range logs {
		begun := *l.of
		begun.begins = lines.NewBeginning(atFirst)
		r, _, err := begun.again(ctx)
		if err != nil {
			return false
		}
		log, err := schedlog.Survey(r, l.of.year)
		if r.Close(); err != nil || !log.Moves || len(log.Spans) > 0 {
			return false
		}
	}
	return true
}
