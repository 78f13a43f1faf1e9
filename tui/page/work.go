package page

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Work is a long task outside of Update.
type Work struct {
	Name       string
	began      time.Time
	share      atomic.Uint64 // math.Float64bits
	cancel     context.CancelFunc
	keypresses int // UI.keypresses when it began
}

// Report sets the share that is done, from 0 to 1. It is safe for concurrent use.
func (w *Work) Report(share float64) { w.share.Store(math.Float64bits(share)) }

// Share returns the share that is done, from 0 to 1; 0 if unknown.
func (w *Work) Share() float64 { return min(max(math.Float64frombits(w.share.Load()), 0), 1) }

// Since returns how long the work has been running.
func (w *Work) Since() time.Duration { return time.Since(w.began) }

// workTick is the time between two updates of the progress.
const workTick = 250 * time.Millisecond

// longWork is how long work takes until its end rings the bell.
const longWork = 5 * time.Second

// Ring rings the terminal's bell, if it is enabled.
func (ui *UI) Ring() tea.Cmd {
	if !ui.Bell {
		return nil
	}
	return tea.Raw("\a")
}

// Begin runs do outside of Update. Update calls the returned function unless the work was stopped. late is true if the user has
// pressed keys meanwhile: the result must not open over what they do. The work's ctx ends after that call, or when it is stopped.
func (ui *UI) Begin(ctx context.Context, name string, do func(ctx context.Context, w *Work) (finish func(late bool) tea.Cmd)) tea.Cmd {
	ctx, cancel := context.WithCancel(ctx)
	w := &Work{Name: name, began: time.Now(), cancel: cancel, keypresses: ui.keypresses}
	ui.works = append(ui.works, w)
	return tea.Batch(ui.watch(w), Guarded(func() tea.Msg {
		finish := do(ctx, w)
		return Ready(func() tea.Cmd {
			defer cancel()
			if !ui.drop(w) {
				return nil // stopped
			}
			late := ui.keypresses != w.keypresses || ui.Overlays.Top() != nil
			if late || w.Since() >= longWork {
				return tea.Batch(finish(late), ui.Ring())
			}
			return finish(late)
		})
	}))
}

// watch redraws the screen while w is running.
func (ui *UI) watch(w *Work) tea.Cmd {
	return tea.Tick(workTick, func(time.Time) tea.Msg {
		return Ready(func() tea.Cmd {
			if !slices.Contains(ui.works, w) {
				return nil
			}
			return ui.watch(w)
		})
	})
}

// CurrentWork returns the work that began last, or nil.
func (ui *UI) CurrentWork() *Work {
	if len(ui.works) == 0 {
		return nil
	}
	return ui.works[len(ui.works)-1]
}

// Stop stops CurrentWork.
func (ui *UI) Stop() tea.Cmd {
	w := ui.CurrentWork()
	w.cancel()
	ui.drop(w)
	return ui.Answer("stopped: " + w.Name)
}

// drop removes w and reports whether it was there.
func (ui *UI) drop(w *Work) bool {
	i := slices.Index(ui.works, w)
	if i < 0 {
		return false
	}
	ui.works = slices.Delete(ui.works, i, i+1)
	return true
}
