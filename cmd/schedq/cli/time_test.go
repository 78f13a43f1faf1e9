package cli

import (
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestParseTime: every format, also past midnight.
func TestParseTime(t *testing.T) {
	start := time.Date(2026, 11, 21, 23, 59, 5, 500, time.UTC)
	end := start.Add(2 * time.Minute)
	rec := &sources.Recording{Events: []sources.Event{{Time: start, Fact: &sources.Mark{}}, {Time: end, Fact: &sources.Mark{}}}}
	for value, want := range map[string]time.Time{
		"":                               end,
		"+30s":                           start.Add(30 * time.Second),
		"23:59:05":                       start.Truncate(time.Second), // the second of the start
		"23:59":                          start.Truncate(time.Second), // the minute of the start
		"00:01":                          time.Date(2026, 11, 22, 0, 1, 0, 0, time.UTC),
		"23:59:30.25":                    time.Date(2026, 11, 21, 23, 59, 30, 25e7, time.UTC),
		"00:00:30":                       time.Date(2026, 11, 22, 0, 0, 30, 0, time.UTC),
		"2026-11-22T01:00:30+01:00":      time.Date(2026, 11, 22, 0, 0, 30, 0, time.UTC),
		"2026-11-21T23:59:30.123456789Z": time.Date(2026, 11, 21, 23, 59, 30, 123456789, time.UTC),
		"-30s":                           {},
		"30s":                            {},
		"+3m":                            {},
		"23:59:04":                       {},
		"23:58":                          {},
		"24:00":                          {},
		"2026-11-20T23:59:30Z":           {},
	} {
		at, err := ParseTime(rec, "--at", value)
		if (err != nil) != want.IsZero() || !at.Equal(want) {
			t.Errorf("--at %q is %s, %v, want %s", value, at, err, want)
		}
	}
}
