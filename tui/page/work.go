package page

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Work is something that takes long, and is done outside of Update.
type Work struct {
	Name       string
	began      time.Time
	share      atomic.Uint64 // the bits of a float64
	cancel     context.CancelFunc
	keypresses int // of the person, when it was begun
}

// Report tells how much of it is done, from 0 to 1. It may be called by any goroutine.
func (w *Work) Report(share float64) { w.share.Store(math.Float64bits(share)) }

// Share is how much of it is done, from 0 to 1; 0 if nobody tells.
func (w *Work) Share() float64 { return min(max(math.Float64frombits(w.share.Load()), 0), 1) }

// Since is how long it has been under way.
func (w *Work) Since() time.Duration { return time.Since(w.began) }

// workTick is how often the screen shows how far work is.
const workTick = 250 * time.Millisecond

// longWork is from when on nobody waits for work in front of the screen.
const longWork = 5 * time.Second

// Ring rings the terminal's bell, if the person wants that: what was waited for has come.
func (d *UI) Ring() tea.Cmd {
	if !d.Bell {
		return nil
	}
	return tea.Raw("\a")
}

// Begin has do done outside of Update. What do returns is called in Update, unless the work was stopped by then, with
// late true if the person has done something else meanwhile: what it shows must not open over that.
func (d *UI) Begin(ctx context.Context, name string, do func(ctx context.Context, w *Work) (finish func(late bool) tea.Cmd)) tea.Cmd {
	ctx, cancel := context.WithCancel(ctx)
	w := &Work{Name: name, began: time.Now(), cancel: cancel, keypresses: d.keypresses}
	d.works = append(d.works, w)
	return tea.Batch(d.watch(w), Guarded(func() tea.Msg {
		finish := do(ctx, w)
		cancel()
		return Ready(func() tea.Cmd {
			if !d.drop(w) {
				return nil // it was stopped
			}
			late := d.keypresses != w.keypresses || d.Overlays.Top() != nil
			if late || w.Since() >= longWork {
				return tea.Batch(finish(late), d.Ring())
			}
			return finish(late)
		})
	}))
}

// watch draws the screen anew while w is under way.
func (d *UI) watch(w *Work) tea.Cmd {
	return tea.Tick(workTick, func(time.Time) tea.Msg {
		return Ready(func() tea.Cmd {
			if !slices.Contains(d.works, w) {
				return nil
			}
			return d.watch(w)
		})
	})
}

// CurrentWork is the work that was begun last of what is under way, or nil.
func (d *UI) CurrentWork() *Work {
	if len(d.works) == 0 {
		return nil
	}
	return d.works[len(d.works)-1]
}

// Stop ends what CurrentWork returns.
func (d *UI) Stop() tea.Cmd {
	w := d.CurrentWork()
	w.cancel()
	d.drop(w)
	return d.Answer("stopped: " + w.Name)
}

// drop forgets w, and returns false if it was forgotten before.
func (d *UI) drop(w *Work) bool {
	i := slices.Index(d.works, w)
	if i < 0 {
		return false
	}
	d.works = slices.Delete(d.works, i, i+1)
	return true
}
