// Package replayed replays recordings and formats the result as text that tests compare.
//
// Only tests import it.
package replayed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// Moves replays rec and formats each move of the pod as "second from>to event provenance".
func Moves(t *testing.T, rec *sources.Recording, pod string) []string {
	t.Helper()
	var moves []string
	err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == pod && m.From != m.To {
			moves = append(moves, strings.Join(strings.Fields(fmt.Sprintf("%.0f %s>%s %s %s %s", m.Time.Sub(world.At(0)).Truncate(time.Second).Seconds(),
				m.From, m.To, m.Event, strings.Join(m.UnschedulablePlugins, ","), m.Provenance())), " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return moves
}

// Compare fails the test unless the moves got are those of want.
func Compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("moves are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// BoundTo replays rec and returns the node to which the pod is bound, or "".
func BoundTo(t *testing.T, rec *sources.Recording, pod string) (node string) {
	t.Helper()
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == pod && m.To == queue.Scheduled {
			node = m.Pod.Node
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return node
}

// Rerun returns the rerun of rec.
func Rerun(t *testing.T, rec *sources.Recording) *sources.Recording {
	t.Helper()
	rerun, err := shadow.Rerun(rec, "")
	if err != nil {
		t.Fatal(err)
	}
	return rerun
}
