package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
)

// crowd returns a model at 120 by 40 that shows n pods, enough to fill every pane, and has scrolled among
// them. All came at once, so that their waits look alike.
func crowd(tb testing.TB, n int) *model {
	tb.Helper()
	rec := &sources.Recording{Name: "crowd"}
	for i := range n {
		move := &sources.Move{Pod: types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("crowd-%06d", i)}, To: sources.TierActive, Event: "UnscheduledPodAdd"}
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
	s := session.New(rec, session.Options{Paused: true})
	go s.Run(tb.Context())
	s.SeekEnd()
	s.Sync()
	m := newModel(tb.Context(), s, Options{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, key := range []keymap.ID{keymap.FocusUnsched, keymap.LastRow, keymap.FocusBackoff, keymap.PageDown} {
		m.do(key)
	}
	return m
}

// frameAgain takes a frame and draws it, as 20 times a second while playing.
func (m *model) frameAgain() {
	m.Update(frameMsg{m.session, m.frame})
	m.View()
}

// A frame costs what the terminal's size says, whatever the number of pods.
func TestCostOfAFrameDoesNotDependOnTheNumberOfPods(t *testing.T) {
	few := testing.AllocsPerRun(20, crowd(t, 100).frameAgain)
	many := testing.AllocsPerRun(20, crowd(t, 150_000).frameAgain)
	t.Logf("allocations of a frame at 120 by 40: %.0f with 100 pods, %.0f with 150,000", few, many)
	if many > few*1.1 { // counts with more digits, and no more
		t.Errorf("a frame of 150,000 pods makes %.0f allocations, one of 100 makes %.0f", many, few)
	}
}

func TestNothingIsDrawnTwice(t *testing.T) {
	m := crowd(t, 100)
	m.View()
	if n := testing.AllocsPerRun(10, func() { m.View() }); n > 0 {
		t.Errorf("drawing what is drawn makes %.0f allocations", n)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 150_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			m := crowd(b, n)
			b.ReportAllocs()
			for b.Loop() {
				m.frameAgain()
			}
		})
	}
}
