package cli

import (
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// ParseTime parses the value of a flag as a time within rec: a time of day, which is its first
// occurrence in the recording, +1m30s from the start, or RFC 3339. An empty value is the last moment that was
// observed.
func ParseTime(rec *sources.Recording, flag, value string) (time.Time, error) {
	start, end := timeline.Span(rec)
	if value == "" {
		return timeline.LastMoment(rec), nil
	}
	var at time.Time
	if d, err := time.ParseDuration(strings.TrimPrefix(value, "+")); err == nil && strings.HasPrefix(value, "+") {
		at = start.Add(d)
	} else if at, err = time.Parse(time.RFC3339, value); err != nil {
		clock, precision, ok := timeOfDay(value)
		if !ok {
			return time.Time{}, Usagef("invalid time %s %s: use 12:03, 12:03:10, +1m30s from the start, or 2026-11-21T12:03:10Z", flag, value)
		}
		at = start.UTC().Truncate(24 * time.Hour).Add(clock)
		if at.Before(start.Truncate(precision)) {
			at = at.Add(24 * time.Hour)
		}
		if first := start.Truncate(time.Second); at.Before(first) {
			at = first // the recording starts within that minute
		}
	}
	if at.Before(start.Truncate(time.Second)) || at.After(end) {
		const format = "2006-01-02 15:04:05.000"
		return time.Time{}, Usagef("%s %s is outside the recording, which covers %s to %s UTC",
			flag, value, start.UTC().Format(format), end.UTC().Format(format))
	}
	return at, nil
}

// timeOfDay parses a time of day and returns its distance from midnight and its precision, a second or
// a minute.
func timeOfDay(text string) (clock, precision time.Duration, ok bool) {
	precision = time.Second
	t, err := time.Parse("15:04:05", text)
	if err != nil {
		precision = time.Minute
		t, err = time.Parse("15:04", text)
	}
	return t.Sub(t.Truncate(24 * time.Hour)), precision, err == nil
}
