package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// moves replays rec and tells each move as "second from>to event provenance".
func moves(t *testing.T, rec *sources.Recording, pod string) []string {
	t.Helper()
	var told []string
	err := Replay(t.Context(), rec, Options{}, func(m *Transition) error {
		if m.Pod.Key.Name == pod && m.From != m.To {
			told = append(told, strings.Join(strings.Fields(fmt.Sprintf("%.0f %s>%s %s %s %s", m.Time.Sub(at(0)).Truncate(time.Second).Seconds(),
				m.From, m.To, m.Event, strings.Join(m.UnschedulablePlugins, ","), m.Provenance())), " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("it moves\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// boundTo returns the node to which a pod is shown to be bound.
func boundTo(t *testing.T, rec *sources.Recording, pod string) (node string) {
	t.Helper()
	if err := Replay(t.Context(), rec, Options{}, func(m *Transition) error {
		if m.Pod.Key.Name == pod && m.To == queue.Scheduled {
			node = m.Pod.Node
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return node
}

// again returns rec run again.
func again(t *testing.T, rec *sources.Recording) *sources.Recording {
	t.Helper()
	rerun, err := Rerun(rec, "")
	if err != nil {
		t.Fatal(err)
	}
	return rerun
}
