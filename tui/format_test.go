package tui

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session"
)

func TestCountdown(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 4230 * time.Millisecond: "4.2s", 9990 * time.Millisecond: "9.9s", 10 * time.Second: "10s",
		59 * time.Second: "59s", 4*time.Minute + 7*time.Second: "4:07", 125 * time.Minute: "2h05m",
		30 * time.Hour: "30h", 80 * time.Hour: "3d",
	} {
		if got := countdown(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 150000: "150,000", 1234567: "1,234,567"} {
		if got := number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "────", 0.5: "━━──", 0.6: "━━╸─", 1: "━━━━", 7: "━━━━", -1: "────"} {
		if heavy, light := bar(share, 4); heavy+light != want {
			t.Errorf("%g is %s, want %s", share, heavy+light, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	start := time.Date(2026, 3, 1, 23, 58, 0, 0, time.UTC) // it goes past midnight
	f := &session.Frame{Start: start, Now: start.Add(time.Minute), End: start.Add(10 * time.Minute)}
	for text, want := range map[string]time.Duration{
		"+30s": 90 * time.Second, "-1m": 0, "2m10s": 130 * time.Second,
		"23:59:30": 90 * time.Second, "23:59": time.Minute, "00:01:02.5": 182500 * time.Millisecond, " +1s ": 61 * time.Second,
	} {
		if got, err := parseTime(text, f); err != nil || !got.Equal(start.Add(want)) {
			t.Errorf("%q is %s after the start (%v), want %s", text, got.Sub(start), err, want)
		}
	}
	for _, text := range []string{"", "noon", "12:00:00", "25:00", "+", "1e9"} {
		if got, err := parseTime(text, f); err == nil {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
}
