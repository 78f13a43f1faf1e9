package format

import (
	"math"
	"testing"
	"time"
)

func TestCountdown(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 4230 * time.Millisecond: "4.2s", 9990 * time.Millisecond: "9.9s", 10 * time.Second: "10s",
		59 * time.Second: "59s", 4*time.Minute + 7*time.Second: "4:07", 125 * time.Minute: "2h05m",
		30 * time.Hour: "30h", 80 * time.Hour: "3d", 1<<63 - 1: "106751d",
		9999 * time.Millisecond: "9.9s", 10*time.Hour - 1: "9h59m", 48*time.Hour - 1: "47h",
	} {
		if got := Countdown(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// TestAppend: the append functions write the same text without allocating.
func TestAppend(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, 0, 99 * time.Millisecond, 9999 * time.Millisecond, 59999 * time.Millisecond, time.Minute, time.Hour - 1, time.Hour,
		10*time.Hour - 1, 10 * time.Hour, 48*time.Hour - 1, 48 * time.Hour, 1<<63 - 1} {
		if got, want := string(AppendCountdown([]byte("in "), d)), "in "+Countdown(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
		if got, want := string(AppendSpan([]byte("at "), d)), "at "+Span(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
	room := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(10, func() { AppendNumber(AppendSpan(AppendCountdown(room, time.Hour), time.Hour), 1234567) }); n > 0 {
		t.Errorf("it makes %.0f allocations", n)
	}
}

// TestNoNegativeTime: a clock that was set back shows no negative time.
func TestNoNegativeTime(t *testing.T) {
	for _, d := range []time.Duration{-time.Millisecond, -3 * time.Second, -3 * time.Minute, -2 * time.Hour, -80 * time.Hour} {
		if got := [...]string{Countdown(d), Duration(d), Span(d)}; got != [...]string{"0.0s", "0ms", "0:00"} {
			t.Errorf("%s is %q", d, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 150000: "150,000", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestRemaining: the rest is extrapolated.
func TestRemaining(t *testing.T) {
	for share, want := range map[float64]time.Duration{0: 0, 0.049: 0, 0.05: 19 * time.Minute, 0.25: 3 * time.Minute, 1: 0, 1.5: 0, math.NaN(): 0} {
		if got := Remaining(share, time.Minute); got != want {
			t.Errorf("of %v is left %v, want %v", share, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "────", 0.5: "━━──", 0.6: "━━╸─", 1: "━━━━", 7: "━━━━", -1: "────"} {
		if heavy, light := Bar(share, 4); heavy+light != want {
			t.Errorf("%g is %s, want %s", share, heavy+light, want)
		}
	}
}
