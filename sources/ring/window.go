package ring

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Window is what is cut out of a ring, as a person says it. Empty is the ring's begin or end. From is a distance from the end
// (-2h) or from the begin (+5m), To one from the end (-1h) or from From (+5m); both may be a time of day in UTC, the last one
// that the ring has, a date with one, or RFC 3339.
type Window struct{ From, To string }

// IsZero reports whether nothing is cut.
func (w Window) IsZero() bool { return w == Window{} }

// Resolve returns the moments that w means in a ring that is from first to last: never outside of it. An error is one sentence
// that names what there is; prefix is what stands before the names from and to in it.
func (w Window) Resolve(prefix string, first, last time.Time) (from, to time.Time, err error) {
	from, to = first, last
	if w.From != "" {
		if from, err = moment(prefix+"from", w.From, first, last, first); err != nil {
			return from, to, err
		}
	}
	if w.To != "" {
		if to, err = moment(prefix+"to", w.To, first, last, from); err != nil {
			return from, to, err
		}
	}
	switch {
	case from.After(last):
		return from, to, outside(prefix+"from", w.From, first, last)
	case to.Before(first):
		return from, to, outside(prefix+"to", w.To, first, last)
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

// ErrOutside is that a ring has nothing of a window.
var ErrOutside = errors.New("not within the ring")

func outside(name, text string, first, last time.Time) error {
	return fmt.Errorf("%s %s is %w: it is from %s to %s UTC", name, sources.Sanitize(text), ErrOutside,
		first.UTC().Format(time.DateTime), last.UTC().Format(time.DateTime))
}

// maxDistance is how far a moment may be from another: as far as times can be apart.
const maxDistance = 200 * 365 * 24 * time.Hour

// moment returns the time that text means. +5m is counted from base.
func moment(name, text string, first, last, base time.Time) (time.Time, error) {
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
