package report_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

// delivery is an event and the time at which an attached session receives it.
type delivery struct {
	sources.Event
	at time.Time
}

// asLive is a stream of the events of an audit log's cluster, as a live source would deliver them.
type asLive struct {
	left     []delivery
	attached time.Time
}

// newAsLive extracts from rec what the API shows to a client attached from the scheduler's start: no
// requests, and Events at the time they were written. Each watch is up to late behind, in order.
func newAsLive(rec *sources.Recording, late time.Duration) *asLive {
	started := max(0, slices.IndexFunc(rec.Events, func(ev sources.Event) bool { _, is := ev.Fact.(*sources.SchedulerStarted); return is }))
	began := rec.Events[started].Time
	s := &asLive{attached: began}
	add := func(at time.Time, ev sources.Event) {
		if at.Before(began) {
			at, ev.Time = began, began
		}
		s.left = append(s.left, delivery{ev, at})
	}
	for i, ev := range rec.Events {
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			add(ev.Time, ev)
		case *sources.SchedulerStarted:
			if i != started {
				add(ev.Time, ev)
			}
			add(ev.Time, sources.Event{Time: ev.Time, Fact: &sources.SchedulerRunning{Release: f.Release, From: sources.ReleaseImage}})
		case *sources.SchedulerRunning:
			add(ev.Time, ev)
		case *sources.StatusPatched:
			add(ev.Time, sources.Event{Time: ev.Time, Fact: &sources.StatusPatched{Pod: f.Pod, UID: f.UID}})
		case *sources.FailedAttempt:
			add(f.Received, ev)
		}
		if i == started {
			add(began, sources.Event{Time: began, Fact: &sources.Attached{Began: began, Nodes: true}})
		}
	}
	s.sort()
	s.delay(late)
	return s
}

func (s *asLive) sort() {
	slices.SortStableFunc(s.left, func(a, b delivery) int { return a.at.Compare(b.at) })
}

// delay delays the events of each watch by up to late, keeping their order.
func (s *asLive) delay(late time.Duration) {
	if late == 0 {
		return
	}
	type watched struct{ is, received time.Time }
	rng, newest := rand.New(rand.NewPCG(1, 2)), map[string]watched{}
	for i, t := range s.left {
		watch := watchOf(t.Fact)
		if watch == "" || t.at.Equal(s.attached) {
			continue
		}
		last := newest[watch]
		if !t.at.Equal(last.is) {
			last.is = t.at
			if received := t.at.Add(time.Duration(rng.Int64N(int64(late)))); received.After(last.received) {
				last.received = received
			}
			newest[watch] = last
		}
		s.left[i].at = last.received
		if watch != sources.EventsWatch {
			s.left[i].Time = last.received // only the time of receipt is known
		}
	}
	s.sort()
}

// watchOf returns the watch that delivers a fact, if any.
func watchOf(fact sources.Fact) string {
	switch f := fact.(type) {
	case *sources.ObjectChange:
		return f.Object.GetObjectKind().GroupVersionKind().Kind
	case *sources.StatusPatched:
		return "Pod"
	case *sources.FailedAttempt:
		return sources.EventsWatch
	}
	return ""
}

func (s *asLive) Name() sources.SafeText { return "as live" }

func (s *asLive) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (s *asLive) Take() (events []sources.Event, status sources.Status) {
	now := time.Now()
	for len(s.left) > 0 && !s.left[0].at.After(now) {
		events = append(events, s.left[0].Event)
		s.left = s.left[1:]
	}
	return events, sources.Status{Attached: s.attached}
}

// shortOfAudit is how far the figures of an attached session may be below those of the audit log alone.
var shortOfAudit = map[string]float64{"": 0.01}

// TestAsLive compares a session attached from the scheduler's start with the scheduler's log, and the
// result with that of the audit log alone. It plays an audit log, each line at the time it was written.
func TestAsLive(t *testing.T) {
	var rows [][]string
	eachAttached(t, func(t *testing.T, dir, log string, rec, truth *sources.Recording, cfg *schedulerconfig.Config) {
		live, err := report.Verify(t.Context(), followed(t, newAsLive(rec, 0), rec.End, cfg), truth, timeline.Options{Scheduler: cfg}, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []string{recordingOf(t), cell(live)})
		compareLive(t, live, verify(t, dir, log), shortOfAudit)
	})
	checkTable(t, attached, []string{"recording", "from the start"}, rows)
}

// shortWithLateWatches is the same for watches that are late.
var shortWithLateWatches = map[string]float64{"": 0.01, "v1.33": 0.02}

// TestLateWatches is TestAsLive with watches that are up to 5 ms late, as with a control plane on two
// cores: an attempt's writes then arrive after the next attempt has failed.
func TestLateWatches(t *testing.T) {
	const late = 5 * time.Millisecond
	var rows [][]string
	eachAttached(t, func(t *testing.T, dir, log string, rec, truth *sources.Recording, cfg *schedulerconfig.Config) {
		live, err := report.Verify(t.Context(), followed(t, newAsLive(rec, late), rec.End, cfg), truth, timeline.Options{Scheduler: cfg}, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []string{recordingOf(t), cell(live)})
		compareLive(t, live, verify(t, dir, log), shortWithLateWatches)
	})
	checkTable(t, attached, []string{"recording", "watches 5 ms late"}, rows)
}

// eachAttached calls test for each recording with a scheduler log, as an attached session receives it.
func eachAttached(t *testing.T, test func(t *testing.T, dir, log string, rec, truth *sources.Recording, cfg *schedulerconfig.Config)) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if os.Getenv("SCHEDQ_VERIFY") == "" || root == "" {
		t.Skip("make verify runs this, with recordings")
	}
	if _, err := cycle.InTree(); err != nil { // starts background goroutines, so outside the synctest bubble
		t.Fatal(err)
	}
	// Upstream's error handler sleeps until a millisecond after the last error by the process's clock
	// (k8s.io/apimachinery v0.37, util/runtime, rudimentaryErrorBackoff). In a bubble that may be years.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
	logs, _ := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	for _, log := range logs {
		dir := filepath.Dir(log)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			rec, truth, cfg := openWithTruth(t, dir, log)
			test(t, dir, log, rec, truth, cfg)
		})
	}
}

// compareLive checks that an attached session's figures are no further below those of the audit log alone
// than allowed, by recording.
func compareLive(t *testing.T, live, alone *report.Verification, allowed map[string]float64) {
	t.Helper()
	short, ok := allowed[filepath.Base(t.Name())]
	if !ok {
		short = allowed[""]
	}
	for _, figure := range []struct {
		name       string
		live, goal float64
	}{
		{"recall", live.Transitions.Recall, alone.Transitions.Recall},
		{"precision", live.Transitions.Precision, alone.Transitions.Precision},
		{"time", live.PodSeconds.Share, alone.PodSeconds.Share},
	} {
		t.Logf("%s is %.4f, and of the audit log alone %.4f", figure.name, figure.live, figure.goal)
		if figure.goal-figure.live > short {
			t.Errorf("%.2f points less, allowed are %.2f", 100*(figure.goal-figure.live), 100*short)
		}
	}
}

// openWithTruth returns the audit log in dir, the scheduler's log, and the scheduler's configuration.
func openWithTruth(t *testing.T, dir, log string) (rec, truth *sources.Recording, cfg *schedulerconfig.Config) {
	t.Helper()
	rec, err := files.Open(t.Context(), []string{filepath.Join(dir, "audit.log.gz")}, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if truth, err = files.Open(t.Context(), []string{log}, files.Options{Beside: rec}); err != nil {
		t.Fatal(err)
	}
	if cfg, err = schedulerconfig.Default(); err != nil {
		t.Fatal(err)
	}
	cfg.Queue.PopFromBackoffQ = !strings.HasSuffix(dir, "-nopop")
	return rec, truth, cfg
}

// followed returns the moves of a session of stream up to end.
func followed(t *testing.T, stream *asLive, end time.Time, cfg *schedulerconfig.Config) *sources.Recording {
	t.Helper()
	live := &sources.Recording{Name: stream.Name(), End: end}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(stream.left[0].at))
		ctx, stop := context.WithDeadline(t.Context(), end)
		defer stop()
		if err := timeline.Follow(ctx, stream, timeline.Options{Scheduler: cfg}, timeline.Handlers{Move: func(m *board.Transition) error {
			live.Events = append(live.Events, asMove(m))
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
	})
	return live
}

// asMove converts a transition to a move of a recording.
func asMove(m *board.Transition) sources.Event {
	move := &sources.Move{Pod: m.Pod.Key, To: sources.Tier(m.To.String()), Event: m.Event}
	if m.To == queue.Deleted {
		move.Event = queue.ScheduleAttemptFailure // also ends its attempt, if there is one
	}
	return sources.Event{Time: m.Time, Fact: move}
}
