package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

func TestTimelineTellsAPodsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusBackoff, keymap.RowDown, keymap.Timeline)
		p.sees("timeline of default/batch-1", "its moves 4", "▲AssignedPodDelete",
			"AssignedPodDelete woke it after 200ms.", "Its backoff had not ended: it goes to backoffQ first.")

		p.do(keymap.RowUp).sees("Attempt 1 failed after 100ms: rejected by NodeResourcesFit.", "3 Insufficient cpu")
		p.do(keymap.RowUp).sees("Attempt 1: popped after 100ms as the first in activeQ by priority (0), then time.")
		p.do(keymap.RowUp, keymap.RowUp).sees("It entered the queue (UnscheduledPodAdd)")

		p.do(keymap.Open).sees("10:36:05.000", "timeline of default/batch-1") // enter goes to that moment
		p.do(keymap.StepForward, keymap.StepForward).sees("its moves 3", "Attempt 1 failed")
		p.do(keymap.Back).sees("2 backoffQ 0").seesNot("timeline of")
	})
}

// TestTimelineIsToScale: every part of the timeline is drawn at its time.
func TestTimelineIsToScale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.Timeline)
		shown := p.model.charts[0].Span().Shown
		names := 120 - shown.Cells - 1
		from, to := shown.Column(zero.Add(2200*time.Millisecond)), shown.Column(zero.Add(6500*time.Millisecond))
		row := []rune(p.row(p.rowOf("unschedulable  ")))
		for x := range shown.Cells {
			at := names + x
			drawn := at < len(row) && strings.ContainsRune("█▌▐", row[at])
			if inside := x > from && x < to; inside && !drawn {
				t.Errorf("train-0 is unschedulable at column %d, where %q is drawn", x, string(row[at]))
			} else if (x < from || x > to) && drawn {
				t.Errorf("column %d shows train-0 as unschedulable", x)
			}
		}
		// The pod keeps waiting for more than 5 minutes.
		if end := string(row[len(row)-3:]); end != "░░░" {
			t.Errorf("the future wait is drawn as %q", end)
		}
	})
}

// rowOf returns the first row of the screen that contains text.
func (p *person) rowOf(text string) int {
	p.t.Helper()
	for y := range p.terminal.Height() {
		if strings.Contains(p.row(y), text) {
			return y
		}
	}
	p.t.Fatalf("%q is not on the screen:\n%s", text, p.screen())
	return 0
}

func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Lanes)
		p.sees("lanes 9", "● web-1", "bound", "● train-0", "═ activeQ  ▒ backoffQ")
		p.do(keymap.RowDown, keymap.Open) // enter opens the timeline of the lane's pod
		p.sees("timeline of default/").do(keymap.Back).sees("lanes 9")
		p.do(keymap.Filter).enter("web").sees("lanes 4").seesNot("train-0")
		p.do(keymap.Back).seesNot("lanes 4").sees("1 activeQ")
	})
}

func TestChartsAreScrolledAndScaled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Lanes).sees("200ms a column")
		p.do(keymap.ChartCloser, keymap.ChartCloser).sees("50ms a column")
		p.do(keymap.ChartFarther, keymap.ChartFarther, keymap.ChartFarther).sees("500ms a column").seesNot("0 follows again")
		p.do(keymap.ChartCloser, keymap.ChartEarlier).sees("0 follows again", "200ms a column")
		p.do(keymap.ChartLater).seesNot("0 follows again") // the chart ends at the moment shown again
		p.do(keymap.ChartFarther, keymap.ChartFit).sees("200ms a column")

		p.do(keymap.Plots).sees("1s a column").do(keymap.ChartCloser).sees("1s a column") // plots have one value per second
	})
}

func TestPlotsStandBesideTheSchedulersOwnCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 160, 45, paused(t, sample), Options{})
		p.goTo("+6.1s").do(keymap.Plots)
		p.sees("backoffQ", "scheduler's count", "oldest pod's age", "UnscheduledPodAdd", "attempts")
		row := p.row(p.rowOf("attempts"))
		if !strings.Contains(row, "█") {
			t.Errorf("no attempt is drawn in %q", row)
		}
	})
}

// TestPlotsValuesAreWhole: on an ordinary screen the values beside a plot are not cut.
func TestPlotsValuesAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Plots).sees("UnscheduledPodAdd", "/s").seesNot(" in …").seesNot("ScheduleAttemptFail…")
	})
}

func TestAChartThatNeedsAPodSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.do(keymap.Timeline).sees("can't: no pod is selected")
		p.do(keymap.Plots).press("enter")
		p.sees("can't: the plots show all pods together")
		p.do(keymap.Back, keymap.Lanes).sees("No pod was in the queue during this time")
	})
}

// TestChartsFollowWhatPlays: charts advance during playback.
func TestChartsFollowWhatPlays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, chart := range []keymap.ID{keymap.Lanes, keymap.Plots} {
			p := sit(t, 80, 24, paused(t, sample), Options{})
			p.goTo("+1.5s").do(chart)
			before := p.screen()
			p.do(keymap.Play).wait(4 * time.Second)
			if p.screen() == before {
				t.Errorf("%s does not advance", chart)
			}
		}
	})
}

func TestProjector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.Projector).sees("▀▀█", "projector view: ")
		p.do(keymap.RowDown).sees(" j  select\n") // the key is shown to the audience
		if between := p.row(p.rowOf("● train-0") + 1); strings.Contains(between, "●") {
			t.Errorf("there is no space between the rows:\n%s", p.screen())
		}
		p.do(keymap.Projector).seesNot("▀▀█")
	})
}

func TestThemes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		for _, named := range append(theme.All()[1:], theme.Auto) {
			p.do(keymap.Theme).sees("theme " + string(named))
			if named == theme.None {
				p.seesNoColor()
			}
		}
		without := sit(t, 80, 24, paused(t, sample), Options{NoColor: true})
		without.do(keymap.Theme).sees("can't: colours are off")
	})
}
