package await

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

var errGone = errors.New("the file is gone")

// newPage returns a page of a screen of w by h.
func newPage(w, h int) *Page {
	p := New(Look{Keys: keymap.New(keymap.Default()), Palette: func(bool) *canvas.Palette { return &canvas.Palette{} }}, "day.audit.gz")
	p.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return p
}

// rows are what the page shows, but for what is empty.
func rows(p *Page) []string {
	var all []string
	for row := range strings.Lines(p.View().Content) {
		if row = strings.TrimSpace(row); row != "" {
			all = append(all, row)
		}
	}
	return all
}

// TestPage: the page says what is read, how far that is, how long it still takes, and what stops it.
func TestPage(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {20, 5}} {
		synctest.Test(t, func(t *testing.T) {
			p := newPage(size[0], size[1])
			if got := strings.Join(rows(p), "\n"); strings.Contains(got, "%") || strings.Contains(got, "left") {
				t.Errorf("before anything is read:\n%s", got)
			}
			p.Report(0.25, 25_000_000, 100_000_000)
			time.Sleep(5 * time.Second)
			got := strings.Join(rows(p), "\n")
			for _, part := range []string{"day.audit.gz", "━", "25%", "25.0 of 100.0 MB", "0:05 so far, about 0:15 left", "esc or q stops it"} {
				if size[0] >= 60 && !strings.Contains(got, part) {
					t.Errorf("%d by %d has no %q:\n%s", size[0], size[1], part, got)
				}
			}
			for _, row := range rows(p) {
				if canvas.Width(row) > size[0] {
					t.Errorf("%d by %d: %q is wider", size[0], size[1], row)
				}
			}
		})
	}
}

// TestKeysStop: esc, q and ctrl+c stop the reading, and no other key does.
func TestKeysStop(t *testing.T) {
	for key, stops := range map[tea.Key]bool{
		{Code: tea.KeyEscape}: true, {Code: 'q', Text: "q"}: true, {Code: 'c', Mod: tea.ModCtrl}: true, {Code: 'j', Text: "j"}: false, {Code: tea.KeyEnter}: false,
	} {
		p := newPage(80, 24)
		if p.Update(tea.KeyPressMsg(key)); p.stopped != stops {
			t.Errorf("%s stops it: %v", key, p.stopped)
		}
	}
}

// TestAwait: what is read within a moment is never shown; else the page is shown until it is read, and the person may stop it,
// which stops the reading.
func TestAwait(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes time.Duration
		fails error // the reading, at its end
		stops bool  // the person, after a second
		shown bool
		want  error
		lasts time.Duration
	}{
		{name: "a short one", takes: 100 * time.Millisecond, lasts: 100 * time.Millisecond},
		{name: "none", takes: 100 * time.Millisecond, fails: errGone, want: errGone, lasts: 100 * time.Millisecond},
		{name: "a long one", takes: 10 * time.Second, shown: true, lasts: 10 * time.Second},
		{name: "a long one that is damaged", takes: 10 * time.Second, fails: errGone, shown: true, want: errGone, lasts: 10 * time.Second},
		{name: "one that is stopped as it ends", takes: patience + time.Second, stops: true, shown: true, want: context.Canceled, lasts: patience + time.Second},
		{name: "one that is stopped", takes: 10 * time.Second, stops: true, shown: true, want: context.Canceled, lasts: patience + time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, shown, began := newPage(80, 24), false, time.Now()
			crash, err := Await(t.Context(), p, func(ctx context.Context, told Progress) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(test.takes):
					return test.fails
				}
			}, func(ctx context.Context) error {
				shown = true
				if test.stops {
					time.Sleep(time.Second)
					p.Update(tea.KeyPressMsg{Code: 'q', Text: "q"})
					return nil
				}
				<-ctx.Done()
				return tea.ErrProgramKilled
			})
			if crash != nil || !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("%s: %v, %v", test.name, crash, err)
			}
			if shown != test.shown || time.Since(began) != test.lasts {
				t.Errorf("%s: shown %v, after %s", test.name, shown, time.Since(began))
			}
		})
	}
}

// TestAwaitCrashes: a crash of the reading comes back once the page is gone.
func TestAwaitCrashes(t *testing.T) {
	crash, err := Await(t.Context(), newPage(80, 24), func(context.Context, Progress) error { panic("on purpose") }, nil)
	if crash == nil || err != nil {
		t.Errorf("%v, %v", crash, err)
	}
}
