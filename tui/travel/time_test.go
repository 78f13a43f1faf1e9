package travel

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/words"
)

func TestParseTime(t *testing.T) {
	start := time.Date(2026, 3, 1, 23, 58, 0, 0, time.UTC) // crosses midnight
	f := &session.Frame{Start: start, Moment: explain.Moment{Now: start.Add(time.Minute)}, End: start.Add(10 * time.Minute)}
	for text, want := range map[string]time.Duration{
		"+30s": 90 * time.Second, "-1m": 0, "2m10s": 130 * time.Second,
		"23:59:30": 90 * time.Second, "23:59": time.Minute, "00:01:02.5": 182500 * time.Millisecond, " +1s ": 61 * time.Second,
	} {
		if got, err := ParseTime(text, f); err != nil || !got.Equal(start.Add(want)) {
			t.Errorf("%q is %s after the start (%v), want %s", text, got.Sub(start), err, want)
		}
	}
	f.Start = start.Add(20 * time.Second)
	if got, err := ParseTime("23:58", f); err != nil || !got.Equal(f.Start) {
		t.Errorf("the first minute is %s (%v)", got, err)
	}
	f.Start = start
	there, err := words.ParseZone("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	f.Zone = there // 5:28 there
	if got, err := ParseTime("05:29:30", f); err != nil || !got.Equal(start.Add(90*time.Second)) {
		t.Errorf("05:29:30 in Asia/Kolkata is %s after the start (%v)", got.Sub(start), err)
	}
	f.Zone = words.Zone{}
	for _, text := range []string{"", "noon", "12:00:00", "25:00", "+", "1e9"} {
		if got, err := ParseTime(text, f); err == nil {
			t.Errorf("%q is parsed as %s", text, got)
		}
	}
}
