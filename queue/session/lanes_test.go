package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
)

func laneNames(l board.Lanes) []string {
	var names []string
	for i := range l.Len() {
		p := l.At(i)
		if got := l.Index(p); got != i {
			names = append(names, fmt.Sprintf("but Index says %d", got))
		}
		names = append(names, p.Key.Name)
	}
	return names
}

// TestLanes: first the pods that left recently, by when they left, then the queued ones, by arrival.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.Seek(world.At(12.5))
		b := s.Sync().Board
		for since, want := range map[time.Time][]string{world.At(0): {"web-1", "batch-1"}, world.At(12.1): {"web-1", "batch-1"}, world.At(12.2): {"batch-1"}} {
			lanes := b.Lanes(since)
			if got := laneNames(lanes); !slices.Equal(got, want) {
				t.Errorf("since %s the lanes are %v, want %v", since, got, want)
			}
			if lanes.Waiting() != len(want)-1 || lanes.At(-1) != nil || lanes.At(len(want)) != nil {
				t.Errorf("the first that has not ended is %d", lanes.Waiting())
			}
		}
		if got := b.OldestArrival(); !got.Equal(world.At(10)) {
			t.Errorf("the oldest pod arrived at %s", got)
		}
		s.SetFilter(world.Filter(t, "web"))
		if got := laneNames(s.Sync().Board.Lanes(world.At(0))); !slices.Equal(got, []string{"web-1"}) {
			t.Errorf("with a filter the lanes are %v", got)
		}
		s.SeekEnd()
		if got := laneNames(s.Sync().Board.Unfiltered().Lanes(world.At(200))); !slices.Equal(got, []string{"batch-1", "late-1"}) {
			t.Errorf("at the end the lanes are %v", got)
		}
	})
}

// TestLanesAreOnePerPod: after any moves and seeks, each pod has one lane, and the lanes of queued pods
// match the tiers.
func TestLanesAreOnePerPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := timeline.New(world.Recordings(80).Draw(t, "recording"), world.Config(t), nil)
		length := int64(line.End.Sub(line.Start))
		for range 5 {
			line.GoTo(line.Start.Add(time.Duration(rapid.Int64Range(0, length).Draw(t, "to"))))
			lanes := line.Shown.Lanes(time.Time{})
			names := laneNames(lanes)
			if n := line.Shown.Pods.Len(); len(names) != n {
				t.Fatalf("%d pods have the lanes %v", n, names)
			}
			queued := 0
			for _, tier := range board.Tiers {
				queued += line.Shown.Total(tier)
			}
			if got := lanes.Len() - lanes.Waiting(); got != queued {
				t.Fatalf("%d lanes have not ended, and %d pods are in the queue", got, queued)
			}
		}
	})
}

// seconds formats a series.
func seconds(s history.Series) string {
	var b strings.Builder
	for i := range s.Len() {
		t := s.At(i)
		fmt.Fprintf(&b, "%s active=%d backoff=%d unschedulable=%d attempts=%d", t.End.Format("15:04:05"), t.Sizes[queue.Active], t.Sizes[queue.Backoff], t.Sizes[queue.Unschedulable], t.Attempts)
		for _, a := range t.Arrivals {
			fmt.Fprintf(&b, " %s=%d", a.Event, a.Pods)
		}
		if !t.Oldest.IsZero() {
			fmt.Fprintf(&b, " oldest=%s", t.Oldest.Format("15:04:05"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestSeries(t *testing.T) {
	const upTo11 = "12:00:11 active=0 backoff=0 unschedulable=1 attempts=1 UnscheduledPodAdd=1 ScheduleAttemptFailure=1 oldest=12:00:10\n"
	const upTo12 = upTo11 + "12:00:12 active=0 backoff=1 unschedulable=0 attempts=0 NodeAdd=1 oldest=12:00:10\n"
	const upTo13 = upTo12 + "12:00:13 active=1 backoff=0 unschedulable=0 attempts=1 UnscheduledPodAdd=1 BackoffComplete=1 oldest=12:00:10\n"
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		for _, step := range []struct {
			at   float64
			want string
		}{{9.5, ""}, {10.9, ""}, {11.1, upTo11}, {12.9, upTo12}, {13, upTo13}, {100, upTo13}, {12.2, upTo12}, {11, upTo11}} {
			s.Seek(world.At(step.at))
			if got := seconds(s.Sync().Series); got != step.want {
				t.Errorf("at %g s:\n%swant\n%s", step.at, got, step.want)
			}
		}
		s.Seek(world.At(11.5))
		s.Fork() // continues the series
		s.Seek(world.At(14))
		if got := seconds(s.Sync().Series); !strings.HasPrefix(got, upTo12) {
			t.Errorf("in a fork:\n%s", got)
		}
	})
}

// TestSeriesEqualsReplay: the series does not depend on how the moment was reached.
func TestSeriesEqualsReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(80).Draw(t, "recording")
		line := timeline.New(rec, world.Config(t), nil)
		length := int64(line.End.Sub(line.Start))
		for range 5 {
			now := line.Start.Add(time.Duration(rapid.Int64Range(0, length).Draw(t, "to")))
			line.GoTo(now)
			fresh := timeline.New(rec, world.Config(t), nil)
			fresh.GoTo(now)
			if got, want := seconds(line.Series(now)), seconds(fresh.Series(now)); got != want {
				t.Fatalf("at %s:\n%swant\n%s", now, got, want)
			}
		}
	})
}

func TestMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		if m := s.Sync().Measured; m.Len() != 0 {
			t.Errorf("at the start there are %d readings", m.Len())
		}
		s.SeekEnd()
		m := s.Sync().Measured
		if m.Len() != 1 || m.Since(world.At(10)) != 0 || m.Since(world.At(11)) != 1 {
			t.Fatalf("there are %d readings", m.Len())
		}
		if when, says, local := m.At(0); !when.Equal(world.At(11)) || says.Unschedulable != 1 || local.Unschedulable != 1 {
			t.Errorf("at %s the scheduler says %+v, the local queue has %+v", when, says, local)
		}
	})
}

func TestWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.SeekEnd()
		f := s.Sync()
		want := []string{
			"It entered the queue (UnscheduledPodAdd) without a gate: activeQ orders it by priority (0), then time.",
			"Attempt 1: popped after 100ms as the first in activeQ by priority (0), then time.",
			"Attempt 1 failed after 600ms: rejected by NodeResourcesFit. Events that this plugin listens for can wake it. Attempt 1 failed at 12:00:10.7. Backoff: 1 s, until 12:00:11.7.",
			"NodeAdd woke it after 500ms. Its backoff had not ended: it goes to backoffQ first. Attempt 1 failed at 12:00:10.7. Backoff: 1 s, until 12:00:11.7.",
			"It entered the queue (UnscheduledPodAdd) without a gate: activeQ orders it by priority (0), then time.",
			"Attempt 1: popped after 0s as the first in activeQ by priority (0), then time.",
			"Attempt 1 bound it, 100ms after it arrived.",
			"Attempt 1 failed at 12:00:10.7. Backoff: 1 s, until 12:00:11.7. Its backoff ended: the backoff flush (every 1 s) moved it to activeQ.",
		}
		for i, want := range want {
			if got := strings.Join(f.Why(f.Log.At(i)), " "); got != want {
				t.Errorf("move %d, %s:\n%s\nwant\n%s", i, f.Log.At(i), got, want)
			}
		}
	})
}
