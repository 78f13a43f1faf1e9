package words

import (
	"fmt"
	"strings"
	"time"
)

// Zone is the time zone in which times are shown. Its zero value is UTC, as in the scheduler's log.
type Zone struct{ location *time.Location }

// ParseZone returns the zone of a name: UTC, local for this machine's, or a name from the IANA
// database, such as Europe/Berlin. It fails if this machine does not know the zone.
func ParseZone(name string) (Zone, error) {
	switch strings.ToLower(name) {
	case "", "utc":
		return Zone{}, nil
	case "local":
		return inZone(time.Local), nil
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return Zone{}, fmt.Errorf("unknown time zone %q: use UTC, local, or a name like Europe/Berlin", name)
	}
	return inZone(l), nil
}

// inZone returns the zone of l, or the zero Zone if l is UTC under another name, as time.Local often is.
func inZone(l *time.Location) Zone {
	for _, month := range []time.Month{time.January, time.July} {
		if name, _ := time.Date(2026, month, 1, 0, 0, 0, 0, l).Zone(); name != "UTC" {
			return Zone{l}
		}
	}
	return Zone{}
}

// String returns the name that ParseZone parses: UTC, Local, Europe/Berlin.
func (z Zone) String() string {
	if z.location == nil {
		return "UTC"
	}
	return z.location.String()
}

// In returns t in the zone.
func (z Zone) In(t time.Time) time.Time {
	if z.location == nil {
		return t.UTC()
	}
	return t.In(z.location)
}

// IsUTC reports whether the zone is UTC.
func (z Zone) IsUTC() bool { return z.location == nil }

// Name returns the zone's abbreviation at t: UTC, CET, CEST, +0530.
func (z Zone) Name(t time.Time) string { return z.In(t).Format("MST") }

// Precise formats a time of day with milliseconds.
func (z Zone) Precise(t time.Time) string { return z.In(t).Format("15:04:05.000") }

// Full formats the date, the time of day with milliseconds, and the zone's abbreviation.
func (z Zone) Full(t time.Time) string { return z.In(t).Format("2006-01-02 15:04:05.000 MST") }

// Clock formats a time of day to a tenth of a second: 12:00:10.7, or 12:00:14 for a whole second.
func (z Zone) Clock(t time.Time) string { return z.In(t).Format("15:04:05.9") }

// Second formats a time of day to the second.
func (z Zone) Second(t time.Time) string { return z.In(t).Format("15:04:05") }

// Range formats a time span to the second, and the day of its end if that is another: 2026-11-21 12:00:00 to 12:10:00.
func (z Zone) Range(start, end time.Time) string {
	to := z.Second(end)
	if day := z.Day(end); day != z.Day(start) {
		to = day + " " + to
	}
	return z.Day(start) + " " + z.Second(start) + " to " + to
}

// Day formats the date.
func (z Zone) Day(t time.Time) string { return z.In(t).Format(time.DateOnly) }
