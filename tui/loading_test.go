package tui

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session"
)

var errGone = errors.New("the file is gone")

// loads has a Load that ends when the test sends to end.
type loads struct {
	report func(Progress)
	end    chan error
}

func (l *loads) load(t *testing.T) Load {
	l.end = make(chan error)
	return func(ctx context.Context, report func(Progress)) (func() (*session.Session, Options, error), error) {
		l.report = report
		select {
		case err := <-l.end:
			return func() (*session.Session, Options, error) { return paused(t, sample), Options{}, nil }, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// loading starts the program with the loading page.
func loading(t *testing.T, w, h int, load Load) (*person, *loadingPage) {
	ctx, cancel := context.WithCancel(t.Context())
	l := startLoading(ctx, "day.audit.gz", load)
	page := newLoadingPage(ctx, l, Options{})
	p := &person{t: t}
	p.begin(ctx, cancel, w, h, page, Options{})
	t.Cleanup(l.stop)
	return p, page
}

// TestLoadingPage: the page shows the progress, the remaining time and the keys, and fits small
// terminals.
func TestLoadingPage(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {200, 60}, {20, 5}} {
		synctest.Test(t, func(t *testing.T) {
			var l loads
			p, _ := loading(t, size[0], size[1], l.load(t))
			p.seesNot("%").seesNot("left")
			l.report(Progress{"day.audit.gz", 0.25, 25_000_000, 100_000_000})
			p.wait(5 * time.Second)
			if size[0] >= 60 {
				p.sees("Reading day.audit.gz", "━", "25%", "25.0 of 100.0 MB", "0:05 so far, about 0:15 left", "esc or q: cancel")
			}
			l.report(Progress{Name: "night.audit.gz", Share: 0.5})
			p.wait(time.Second + 2*loadingTick)
			p.sees("night.aud")
			if size[0] >= 60 {
				p.sees("50%", "0:01 so far")
			}
		})
	}
}

// TestLoadingEnds: the same program shows the board, or ends with the error.
func TestLoadingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l loads
		p, _ := loading(t, 80, 24, l.load(t))
		p.sees("Reading day.audit.gz")
		l.end <- nil
		p.idle()
		p.sees("1 activeQ", "‖ paused").seesNot("Reading")
		p.resize(120, 40)
		p.sees("3 unschedulable")
	})
	synctest.Test(t, func(t *testing.T) {
		var l loads
		p, page := loading(t, 80, 24, l.load(t))
		l.end <- errGone
		if err := <-p.over; err != nil || page.leave() != errGone || p.terminal.IsAltScreen() {
			t.Errorf("%v, %v, alternate screen: %t", err, page.leave(), p.terminal.IsAltScreen())
		}
	})
}

// TestLoadingIsCancelled: esc, q and ctrl+c cancel, other keys do not.
func TestLoadingIsCancelled(t *testing.T) {
	for _, key := range []tea.Key{{Code: tea.KeyEscape}, {Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		synctest.Test(t, func(t *testing.T) {
			var l loads
			p, page := loading(t, 80, 24, l.load(t))
			p.press("j")
			p.press("enter")
			p.sees("Reading")
			p.program.Send(tea.KeyPressMsg(key))
			if err := <-p.over; err != nil || !errors.Is(page.leave(), context.Canceled) {
				t.Errorf("%s: %v, %v", key, err, page.leave())
			}
			page.loader.stop()
			if !errors.Is(page.loader.err, context.Canceled) {
				t.Errorf("%s: loading ended with %v", key, page.loader.err)
			}
		})
	}
}

// TestLoadingCrashes: a panic while loading, or while the session is created, restores the
// terminal.
func TestLoadingCrashes(t *testing.T) {
	create := func() (*session.Session, Options, error) { panic("on purpose") }
	for name, load := range map[string]Load{
		"loading": func(context.Context, func(Progress)) (func() (*session.Session, Options, error), error) {
			panic("on purpose")
		},
		"creating": func(context.Context, func(Progress)) (func() (*session.Session, Options, error), error) {
			return create, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, page := loading(t, 80, 24, load)
			if err := <-p.over; err != nil || page.crashed() == nil || page.crashed().What != "on purpose" || p.terminal.IsAltScreen() {
				t.Errorf("%s: %v, %v", name, err, page.crashed())
			}
		})
	}
}

// TestSmallFilesShowNoLoadingPage: a file that is read almost at once shows no loading page.
func TestSmallFilesShowNoLoadingPage(t *testing.T) {
	for takes, within := range map[time.Duration]bool{loadingDelay - time.Millisecond: true, loadingDelay + time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			l := startLoading(t.Context(), "day.audit.gz", func(context.Context, func(Progress)) (func() (*session.Session, Options, error), error) {
				time.Sleep(takes)
				return nil, errGone
			})
			defer l.stop()
			if l.endsWithin(loadingDelay) != within {
				t.Errorf("endsWithin is wrong for a file that takes %s", takes)
			}
		})
	}
}
