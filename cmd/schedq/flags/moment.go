package flags

import (
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
)

// Moment returns the time of rec that the flag of that name says by when: a time of day on the first day of the
// recording on which it comes, a distance from the recording's start, or a full time. Without any, it is the end.
func Moment(rec *sources.Recording, flag, when string) (time.Time, error) {
	start, end := session.Span(rec)
	if when == "" {
		return end, nil
	}
	var at time.Time
	if d, err := time.ParseDuration(strings.TrimPrefix(when, "+")); err == nil && strings.HasPrefix(when, "+") {
		at = start.Add(d)
	} else if at, err = time.Parse(time.RFC3339, when); err != nil {
		clock, err := time.Parse("15:04:05", when)
		if err != nil {
			return time.Time{}, Usagef("%s %s is not a time: 12:03:10, +1m30s from the start, or 2026-11-21T12:03:10Z", flag, when)
		}
		day := start.UTC().Truncate(24 * time.Hour)
		at = day.Add(clock.Sub(clock.Truncate(24 * time.Hour)))
		if at.Before(start.Truncate(time.Second)) {
			at = at.Add(24 * time.Hour)
		}
	}
	if at.Before(start.Truncate(time.Second)) || at.After(end) {
		const format = "2006-01-02 15:04:05.000"
		return time.Time{}, Usagef("%s %s is not within the recording: it is from %s to %s UTC",
			flag, when, start.UTC().Format(format), end.UTC().Format(format))
	}
	return at, nil
}
