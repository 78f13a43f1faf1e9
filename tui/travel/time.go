package travel

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// timeActions are the actions that move through time.
type timeActions struct{ *page.UI }

// Add adds the actions of playback, steps, seeking and marks.
func Add(d *page.UI, all page.Actions) {
	t := timeActions{d}
	t.addTime(all)
	t.addMoments(all)
	t.addMarks(all)
}

// speeds are the steps of faster and slower.
var speeds = [...]float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

func (t timeActions) addTime(all page.Actions) {
	all[keymap.Play] = page.Command(func() { t.Session.TogglePlay() }).DisabledWhen(t.atTheEnd).NamedBy(func() string {
		if t.Frame.Playing {
			return "pause"
		}
		return "play"
	})
	all[keymap.StepForward] = page.Command(func() { t.Session.Step(1) }).DisabledWhen(t.atTheEnd)
	all[keymap.StepBack] = page.Command(func() { t.Session.Step(-1) }).DisabledWhen(t.atTheStart)
	all[keymap.LeapForward] = page.Command(func() { t.Session.Step(10) }).DisabledWhen(t.atTheEnd)
	all[keymap.LeapBack] = page.Command(func() { t.Session.Step(-10) }).DisabledWhen(t.atTheStart)
	all[keymap.SeekStart] = page.Command(func() { t.Session.SeekStart() }).DisabledWhen(t.atTheFirst)
	all[keymap.SeekEnd] = page.Command(func() { t.Session.SeekEnd() }).DisabledWhen(func() string {
		if t.Frame.Live == nil && t.Frame.Reading == nil && !t.Frame.Playing && !t.Frame.Now.Before(t.Frame.End) {
			return "this is the end"
		}
		return ""
	})
	all[keymap.Squeeze] = page.Do(func() tea.Cmd {
		t.Session.ToggleSqueeze()
		if t.Frame.Squeeze {
			return t.Answer("playback includes quiet time")
		}
		return t.Answer("playback skips quiet time")
	}).NamedBy(func() string {
		if t.Frame.Squeeze {
			return "play quiet time"
		}
		return "skip quiet time"
	})
	all[keymap.Seek] = page.Do(t.askTime)
	all[keymap.Faster] = page.Command(func() { t.Session.SetSpeed(t.nextSpeed(1)) }).DisabledWhen(func() string {
		if t.Frame.Speed >= session.MaxSpeed {
			return "this is the highest speed"
		}
		return ""
	})
	all[keymap.Slower] = page.Command(func() { t.Session.SetSpeed(t.nextSpeed(-1)) }).DisabledWhen(func() string {
		if t.Frame.Speed <= session.MinSpeed {
			return t.Keys.Say("this is the lowest speed: {step-back} and {step-forward} go move by move")
		}
		return ""
	})
}

// nextSpeed returns the step above or below the current speed.
func (t timeActions) nextSpeed(direction int) float64 {
	i, exact := slices.BinarySearch(speeds[:], t.Frame.Speed)
	if direction > 0 && !exact {
		direction = 0
	}
	return speeds[min(max(i+direction, 0), len(speeds)-1)]
}

// askTime asks for a time and goes there.
func (t timeActions) askTime() tea.Cmd {
	return widget.Ask(t.UI, widget.Prompt{
		Title: "go to",
		Hint:  "hh:mm:ss (UTC)  +30s  -1m  start  end",
		Accept: func(text string) string {
			switch strings.TrimSpace(text) {
			case "start":
				t.Session.SeekStart()
				return ""
			case "end":
				t.Session.SeekEnd()
				return ""
			}
			at, err := ParseTime(text, t.Frame)
			if err != nil {
				return err.Error()
			}
			t.Session.Seek(at)
			return ""
		},
	}, "")
}

// ParseTime parses a moment of f's recording: a time of day, an offset from the current moment
// (+30s, -1m), or a time since the start (2m10s).
func ParseTime(text string, f *session.Frame) (time.Time, error) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
			return f.Now.Add(d), nil
		}
		return f.Start.Add(d), nil
	}
	for layout, exact := range map[string]time.Duration{"15:04:05": time.Second, "15:04": time.Minute} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// The first day of the recording that has this time.
		start := f.Zone.In(f.Start)
		at := time.Date(start.Year(), start.Month(), start.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), start.Location())
		if at.Before(start.Truncate(exact)) {
			at = at.AddDate(0, 0, 1)
		}
		if at.Before(start) {
			at = start // same second or minute as the start
		}
		if at.After(f.End.Add(time.Second)) {
			what := "the recording is"
			switch {
			case f.Fork != nil:
				what = "the what-if can be shown"
			case f.Reading != nil:
				what = "what is read so far is"
			}
			return time.Time{}, errors.New(what + " from " + f.Zone.Second(f.Start) + " to " + f.Zone.Second(f.End))
		}
		return at, nil
	}
	return time.Time{}, errors.New("invalid time: use hh:mm:ss, +30s, -1m, start or end")
}
