package cli

import (
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Moment returns the time of rec that the flag of that name says by when: a time of day on the first day of the
// recording on which it comes, a distance from the recording's start, or a full time. Without any, it is the end.
func Moment(rec *sources.Recording, flag, when string) (time.Time, error) {
	start, end := timeline.Span(rec)
	if when == "" {
		return end, nil
	}
	var at time.Time
	if d, err := time.ParseDuration(strings.TrimPrefix(when, "+")); err == nil && strings.HasPrefix(when, "+") {
		at = start.Add(d)
	} else if at, err = time.Parse(time.RFC3339, when); err != nil {
		clock, exact, ok := timeOfDay(when)
		if !ok {
			return time.Time{}, Usagef("%s %s is not a time: 12:03, 12:03:10, +1m30s from the start, or 2026-11-21T12:03:10Z", flag, when)
		}
		at = start.UTC().Truncate(24 * time.Hour).Add(clock)
		if at.Before(start.Truncate(exact)) {
			at = at.Add(24 * time.Hour)
		}
		if first := start.Truncate(time.Second); at.Before(first) {
			at = first // in the minute in which it begins
		}
	}
	if at.Before(start.Truncate(time.Second)) || at.After(end) {
		const format = "2006-01-02 15:04:05.000"
		return time.Time{}, Usagef("%s %s is not within the recording: it is from %s to %s UTC",
			flag, when, start.UTC().Format(format), end.UTC().Format(format))
	}
	return at, nil
}

// timeOfDay returns how long after midnight a time of day is, and whether it is exact to the second or the minute.
func timeOfDay(text string) (clock, exact time.Duration, ok bool) {
	exact = time.Second
	t, err := time.Parse("15:04:05", text)
	if err != nil {
		exact = time.Minute
		t, err = time.Parse("15:04", text)
	}
	return t.Sub(t.Truncate(24 * time.Hour)), exact, err == nil
}
