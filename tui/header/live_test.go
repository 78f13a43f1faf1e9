package header

import (
	"image/color"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
)

// TestTrouble: problems with a cluster's lists and watches are shown before and after they are
// read.
func TestTrouble(t *testing.T) {
	const trouble = "pods can't be read: the API server: etcdserver: request timed out"
	resources := []sources.Resource{{Name: "nodes", State: sources.ResourceWatched, Objects: 7}, {Name: "pods", State: sources.ResourceFailing}}
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	broken := []sources.Resource{{Name: "pods", State: sources.ResourceWatched, Gap: sources.Gap{Since: at, Until: at.Add(time.Second)}},
		{Name: "events", State: sources.ResourceFailing, Trouble: "gone", Gap: sources.Gap{Since: at.Add(3 * time.Second)}}}
	for name, c := range map[string]struct {
		live session.Live
		want string
	}{
		"connecting":     {session.Live{Status: sources.Status{Resources: resources}}, "◌ connecting  1 of 2 lists read, 0 pods so far"},
		"lists fail":     {session.Live{Status: sources.Status{Resources: resources, Trouble: trouble}}, "◌ connecting  " + trouble},
		"one list fails": {session.Live{Status: sources.Status{Resources: resources, Trouble: trouble, Attached: at}, Following: true}, "● live  10:00:05.000 UTC  " + trouble},
		"one watch fails": {session.Live{Status: sources.Status{Resources: broken, Trouble: "events can't be read: gone", Attached: at}, Following: true},
			"● live  10:00:05.000 UTC  no data since 10:00:03: events can't be read: gone"},
		"all fail":     {session.Live{Status: sources.Status{Trouble: "gone", Attached: at, StaleSince: at}}, "◌ STALE since 10:00:00  gone"},
		"all is well":  {session.Live{Status: sources.Status{Answers: 3 * time.Millisecond, Ahead: 40 * time.Millisecond, Attached: at}, Following: true}, "attached 0:05 ago   "},
		"far away":     {session.Live{Status: sources.Status{Answers: 162 * time.Millisecond, Ahead: -2300 * time.Millisecond, Attached: at}, Following: true}, "attached 0:05 ago, API latency 162ms, local clock 2.3s behind"},
		"late Events":  {session.Live{Status: sources.Status{Attached: at}, Following: true, Behind: 7400 * time.Millisecond}, "● live  10:00:05.000 UTC  0:07 behind: the scheduler's Events are late"},
		"normal delay": {session.Live{Status: sources.Status{Attached: at}, Following: true, Behind: 999 * time.Millisecond}, "● live  10:00:05.000 UTC  attached 0:05 ago"},
	} {
		var screen canvas.Canvas
		screen.Reset(160, 1)
		Header{Frame: &session.Frame{Live: &c.live, Moment: explain.Moment{Now: at.Add(5 * time.Second)}}}.liveTime(screen.Area())
		if got := ansi.Strip(screen.String(canvas.NewPalette([canvas.Colors]color.Color{}), nil)); !strings.Contains(got, c.want) {
			t.Errorf("%s: the line is %q, want %q", name, got, c.want)
		}
	}
}

// TestNoScheduler: the warning that no scheduler runs replaces the flow, or the title on small
// screens.
func TestNoScheduler(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, h := range []int{16, 24, 50} {
		var screen canvas.Canvas
		screen.Reset(60, 8)
		Header{Frame: &session.Frame{Scheduler: &sources.SchedulerStarted{}, Moment: explain.Moment{Now: at.Add(time.Minute), Silent: &timeline.Silence{Since: at}}},
			Lines: Lines(h, false, false)}.Draw(screen.Area())
		got := ansi.Strip(screen.String(canvas.NewPalette([canvas.Colors]color.Color{}), nil))
		if want := "NO SIGN OF A SCHEDULER since 10:00:00 — no pod is tried"; !strings.Contains(got, want) {
			t.Errorf("%d rows: it shows\n%s\nwant: %s", h, got, want)
		}
	}
}
