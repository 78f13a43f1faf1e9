package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// slowly is a recording that is read in steps set by the test.
type slowly struct {
	whole *sources.Recording
	says  chan func(context.Context, *session.Session)
}

// readSlowly returns the recording of a script with its first seconds read, and the session and
// options that show it.
func readSlowly(t *testing.T, script string, seconds time.Duration) (slowly, *session.Session, Options) {
	kept := tell(t, script)
	whole := *kept
	whole.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] { return kept.All(ctx) }
	begun := whole
	begun.Unread, begun.End, begun.Events = true, kept.Events[0].Time.Add(seconds*time.Second), nil
	for _, ev := range kept.Events {
		if !ev.Time.After(begun.End) {
			begun.Events = append(begun.Events, ev)
		}
	}
	r := slowly{&whole, make(chan func(context.Context, *session.Session))}
	s := session.New(&begun, timeline.Options{Paused: true})
	return r, s, Options{ReadOn: func(ctx context.Context) {
		for {
			select {
			case say := <-r.says:
				say(ctx, s)
			case <-ctx.Done():
				return
			}
		}
	}}
}

// far continues reading up to that many seconds after the start.
func (r slowly) far(p *person, seconds time.Duration, share float64, left time.Duration) {
	r.says <- func(_ context.Context, s *session.Session) {
		s.ReadTo(session.Reading{To: r.whole.Events[0].Time.Add(seconds * time.Second), Share: share, Left: left})
	}
	p.idle()
}

// TestReadingScreens: while a recording is read, the board shows the progress and the remaining
// time, and the progress line marks the unread part.
func TestReadingScreens(t *testing.T) {
	for _, size := range sizes[:4] {
		synctest.Test(t, func(t *testing.T) {
			r, s, o := readSlowly(t, sample, 2)
			p := sit(t, size[0], size[1], s, o)
			r.far(p, 9, 0.34, 12*time.Second)
			p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
			golden(t, fmt.Sprintf("reading/%dx%d", size[0], size[1]), p.screen()+"\n"+p.styles())
		})
	}
}

// TestReadingOn: keys, times and clicks can't reach the unread part; once the recording is
// complete, the selection and the filter are unchanged.
func TestReadingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s, o := readSlowly(t, sample, 2)
		p := sit(t, 120, 40, s, o)
		p.sees("reading 0%", "0:01+")
		r.far(p, 8, 0.5, 3*time.Second)
		p.sees("reading 50%, 0:03 left", "0:07+")
		p.goTo("+20s").sees("can't: 10:36:20", "is not read yet: read up to 10:36:07.5")
		p.goTo("10:36:30").sees("what is read so far is from 10:36:00 to 10:36:07").press("esc")
		line := p.model.mouse.progress
		p.clickAt(line.X+line.W-1, line.Y)
		p.sees("is not read yet")
		p.do(keymap.SeekEnd).sees("10:36:07.500", "‖ paused").do(keymap.Rerun).enter("v1.24").sees("can't: the recording is still being read")
		p.goTo(moment).do(keymap.Filter).enter("web").do(keymap.FocusBackoff)
		selected := p.model.Selected
		r.says <- func(ctx context.Context, s *session.Session) { s.Complete(ctx, r.whole) }
		p.idle()
		p.sees("read to the end, ", "10:36:06.500", "/ web").seesNot("reading")
		if p.model.Selected != selected {
			t.Errorf("%v is selected, want %v", p.model.Selected, selected)
		}
		p.do(keymap.Back, keymap.SeekEnd).sees("■ at the end")
	})
}

// TestReadingFails: a read error is shown, and the part read so far can be played.
func TestReadingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s, o := readSlowly(t, sample, 8)
		p := sit(t, 120, 40, s, o)
		r.says <- func(_ context.Context, s *session.Session) {
			s.StopReading(errors.New("big.log.gz: the gzip data is damaged after line 7"))
		}
		p.idle()
		p.sees("can't: read on: big.log.gz: the gzip data is damaged after line 7").seesNot("reading")
		p.do(keymap.SeekEnd).sees("■ at the end", "10:36:07.5").do(keymap.Help).types("damaged").sees("damaged after line 7")
	})
	synctest.Test(t, func(t *testing.T) {
		r, s, o := readSlowly(t, sample, 8)
		p := sit(t, 120, 40, s, o)
		r.says <- func(_ context.Context, s *session.Session) { s.StopReading(errors.New("big.log.gz: it is damaged")) }
		p.idle()
		p.sees("can't: read on: big.log.gz").do(keymap.Quit)
		if err := <-p.over; err != nil {
			t.Error(err)
		}
	})
}

// TestReadingCrashes: a panic while reading ends the program cleanly.
func TestReadingCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s, o := readSlowly(t, sample, 8)
		p := sit(t, 80, 24, s, o)
		r.says <- func(context.Context, *session.Session) { panic("on purpose") }
		if err := <-p.over; err != nil && !errors.Is(err, tea.ErrProgramKilled) {
			t.Error(err)
		}
		if p.model.crash == nil || p.model.crash.What != "on purpose" {
			t.Errorf("%+v", p.model.crash)
		}
	})
}
