package ring

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Window is the part of a ring to read, as a user writes it. Empty is the ring's start or end. From is relative to the end
// (-2h) or to the start (+5m), To to the end (-1h) or to From (+5m). Both may also be a time of day in UTC, which is the
// last one in the ring, a date and time, or RFC 3339.
type Window struct{ From, To string }

// IsZero reports whether w is the whole ring.
func (w Window) IsZero() bool { return w == Window{} }

// Resolve returns the times of w in a ring from first to last, limited to the ring. Its errors name from and to with
// prefix, such as --.
func (w Window) Resolve(prefix string, first, last time.Time) (from, to time.Time, err error) {
	from, to = first, last
	if w.From != "" {
		if from, err = parseMoment(prefix+"from", w.From, first, last, first); err != nil {
			return from, to, err
		}
	}
	if w.To != "" {
		if to, err = parseMoment(prefix+"to", w.To, first, last, from); err != nil {
			return from, to, err
		}
	}
	switch {
	case from.After(last):
		return from, to, errOutside(prefix+"from", w.From, first, last)
	case to.Before(first):
		return from, to, errOutside(prefix+"to", w.To, first, last)
	case to.Before(from):
		return from, to, fmt.Errorf("%sto %s is before %sfrom %s", prefix, sources.Sanitize(w.To), prefix, sources.Sanitize(w.From))
	}
	if from.Before(first) {
		from = first
	}
	if to.After(last) {
		to = last
	}
	return from, to, nil
}

// ErrOutside is the error about a window that is not in the ring.
var ErrOutside = errors.New("not within the ring")

func errOutside(name, text string, first, last time.Time) error {
	return fmt.Errorf("%s %s is %w: it is from %s to %s UTC", name, sources.Sanitize(text), ErrOutside,
		first.UTC().Format(time.DateTime), last.UTC().Format(time.DateTime))
}

// maxDistance limits relative times, so that they do not overflow.
const maxDistance = 200 * 365 * 24 * time.Hour

// parseMoment parses a time. +5m is relative to base.
func parseMoment(name, text string, first, last, base time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d.Abs() < maxDistance && (strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")) {
		if d < 0 || strings.HasPrefix(text, "-") {
			base = last
		}
		return base.Add(d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil && sources.CheckTime(at) == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at := last.UTC().Truncate(24 * time.Hour).Add(clock.Sub(clock.Truncate(24 * time.Hour)))
		if at.After(last) && !at.Add(-24*time.Hour).Before(first.Truncate(time.Second)) {
			at = at.Add(-24 * time.Hour)
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%s %s is not a time: -2h from the end, +5m, 12:03:10, or 2026-11-21T12:03:10Z", name, sources.Sanitize(text))
}
