package tui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// crowdRecording has n pods that were all added at once, so that their waits look alike. Then it
// has moving moves per second for that many seconds.
func crowdRecording(n, moving, seconds int) *sources.Recording {
	rec := &sources.Recording{Name: "crowd"}
	name := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("crowd-%06d", i)}
	}
	for i := range n {
		move := &sources.Move{Pod: name(i), To: sources.TierActive, Event: "UnscheduledPodAdd"}
		switch i % 4 {
		case 1:
			move.To, move.Event = sources.TierBackoff, "ScheduleAttemptFailure"
		case 2:
			move.To, move.Event, move.Plugins = sources.TierUnschedulable, "ScheduleAttemptFailure", []string{"NodeAffinity", "NodeResourcesFit"}
		case 3:
			move.To, move.GatingPlugin = sources.TierGated, "SchedulingGates"
		}
		rec.Events = append(rec.Events, sources.Event{Time: zero, Fact: move})
	}
	for i := range moving * seconds {
		move := &sources.Move{Pod: name(i / 3 * 4 % n), To: sources.TierInFlight}
		switch i % 3 {
		case 1:
			move.To, move.Event, move.Plugins = sources.TierUnschedulable, "ScheduleAttemptFailure", []string{"NodeResourcesFit"}
		case 2:
			move.To, move.Event = sources.TierActive, "NodeAdd"
		}
		rec.Events = append(rec.Events, sources.Event{Time: zero.Add(time.Duration(i+1) * time.Second / time.Duration(moving)), Fact: move})
	}
	return rec
}

// crowd returns a session of n pods, enough to fill every pane.
func crowd(tb testing.TB, n int) *session.Session {
	tb.Helper()
	s := session.New(crowdRecording(n, 0, 0), timeline.Options{Paused: true})
	go s.Run(tb.Context())
	s.SeekEnd()
	s.Sync()
	return s
}

// among returns a model at 120 by 40 that has scrolled in the panes of s.
func among(tb testing.TB, s *session.Session, view ...keymap.ID) *model {
	m := newModel(tb.Context(), s, Options{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, key := range append([]keymap.ID{keymap.FocusUnsched, keymap.LastRow, keymap.FocusBackoff, keymap.PageDown}, view...) {
		m.Do(key)
	}
	m.stale = true
	m.Update(nil)
	return m
}

// busy returns a model at 200 by 60 of n pods during playback, at 5,000 moves a second.
func busy(tb testing.TB, n int, view ...keymap.ID) *model {
	tb.Helper()
	s := session.New(crowdRecording(n, 5000, 120), timeline.Options{})
	m := newModel(tb.Context(), s, Options{})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	go s.Run(tb.Context())
	for range 20 {
		m.Update(frameMsg{s, <-s.Frames()})
	}
	for _, key := range append([]keymap.ID{keymap.FocusUnsched, keymap.RowDown}, view...) {
		m.Do(key)
	}
	return m
}

// frameAgain receives and draws a frame, which happens 20 times a second during playback.
func (m *model) frameAgain() {
	m.Update(frameMsg{m.Session, m.Frame})
	m.View()
}

// crowdViews are the views that show some of many pods, or totals of all.
var crowdViews = map[string][]keymap.ID{
	"board": nil, "pane": {keymap.Zoom}, "detail": {keymap.Open}, "timeline": {keymap.Timeline}, "lanes": {keymap.Lanes}, "plots": {keymap.Plots}, "stack": {keymap.Stack},
	"projector": {keymap.Projector},
}

// TestCostOfAFrameDoesNotDependOnTheNumberOfPods: the cost of a frame depends only on the
// terminal's size.
func TestCostOfAFrameDoesNotDependOnTheNumberOfPods(t *testing.T) {
	large := 150_000
	if testing.Short() {
		large = 20_000
	}
	few, many := crowd(t, 1000), crowd(t, large)
	for name, view := range crowdViews {
		ofFew := testing.AllocsPerRun(20, among(t, few, view...).frameAgain)
		ofMany := testing.AllocsPerRun(20, among(t, many, view...).frameAgain)
		t.Logf("%s: allocations of a frame at 120 by 40: %.0f with 1,000 pods, %.0f with %d", name, ofFew, ofMany, large)
		if ofMany > ofFew*1.1+2 { // some counts have more digits
			t.Errorf("%s: a frame of %d pods makes %.0f allocations, one of 1,000 makes %.0f", name, large, ofMany, ofFew)
		}
	}
}

func TestNothingIsDrawnTwice(t *testing.T) {
	m := among(t, crowd(t, 100))
	m.View()
	if n := testing.AllocsPerRun(10, func() { m.Update(nil); m.View() }); n > 0 {
		t.Errorf("drawing an unchanged screen makes %.0f allocations", n)
	}
}

func TestACoveredBoardIsNotMeasured(t *testing.T) {
	m := among(t, crowd(t, 100), keymap.Plots)
	m.Selected = page.Selection{}
	if n := testing.AllocsPerRun(10, func() { m.board.Settle(0, 0) }); n > 0 {
		t.Errorf("a hidden board makes %.0f allocations", n)
	}
}

// TestTheBarOfAFrameIsThatOfTheLast: the key bar reuses the memory of the last frame, and key
// lookups allocate nothing.
func TestTheBarOfAFrameIsThatOfTheLast(t *testing.T) {
	m := among(t, crowd(t, 100))
	m.Actions = page.Actions{} // an action's description may allocate
	m.View()
	if n := testing.AllocsPerRun(10, func() {
		m.bar = m.keyBar(widget.KeyBar{Shown: m.bar.Shown[:0], Always: m.bar.Always[:0]})
		m.Keys.ByID(keymap.Quit)
		m.Keys.OnBar(keymap.Chart)
	}); n > 0 {
		t.Errorf("the key bar makes %.0f allocations", n)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{1000, 150_000} {
		s := crowd(b, n)
		for name, view := range crowdViews {
			b.Run(fmt.Sprintf("%s/pods=%d", name, n), func(b *testing.B) {
				m := among(b, s, view...)
				b.ReportAllocs()
				for b.Loop() {
					m.frameAgain()
				}
			})
		}
	}
}

// BenchmarkKeypress measures the time from a key that the session handles to the screen that shows
// its effect, with 150,000 pods at 200 by 60 and 5,000 moves a second.
func BenchmarkKeypress(b *testing.B) {
	for name, view := range crowdViews {
		b.Run(name, func(b *testing.B) {
			m := busy(b, 150_000, view...)
			var longest, total time.Duration
			for b.Loop() {
				want, pressed := !m.Frame.Squeeze, time.Now()
				for m.Do(keymap.Squeeze); m.Frame.Squeeze != want; {
					m.Update(frameMsg{m.Session, <-m.Session.Frames()})
				}
				took := time.Since(pressed)
				longest, total = max(longest, took), total+took
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/key")
		})
	}
}
