package words

import (
	"fmt"
	"strings"
	"time"
)

// Zone is the time zone in which times of day are told. Its zero value is UTC, as in the scheduler's log.
type Zone struct{ location *time.Location }

// ParseZone returns the zone that a person names: UTC, local for this machine's, or one of the IANA database, as
// Europe/Berlin. It fails if this machine knows none of that name.
func ParseZone(name string) (Zone, error) {
	switch strings.ToLower(name) {
	case "", "utc":
		return Zone{}, nil
	case "local":
		return inZone(time.Local), nil
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return Zone{}, fmt.Errorf("this machine knows no time zone %q: there are UTC, local, and names like Europe/Berlin", name)
	}
	return inZone(l), nil
}

// inZone is the zone of l, and the zero value if that is UTC by another name, as a machine's own often is.
func inZone(l *time.Location) Zone {
	for _, month := range []time.Month{time.January, time.July} {
		if name, _ := time.Date(2026, month, 1, 0, 0, 0, 0, l).Zone(); name != "UTC" {
			return Zone{l}
		}
	}
	return Zone{}
}

// String is the name that ParseZone reads: UTC, Local, Europe/Berlin.
func (z Zone) String() string {
	if z.location == nil {
		return "UTC"
	}
	return z.location.String()
}

// In returns the same moment with the zone's time of day.
func (z Zone) In(t time.Time) time.Time {
	if z.location == nil {
		return t.UTC()
	}
	return t.In(z.location)
}

// IsUTC reports whether times are told in UTC.
func (z Zone) IsUTC() bool { return z.location == nil }

// Name is what the zone is called at the moment t: UTC, CET, CEST, +0530.
func (z Zone) Name(t time.Time) string { return z.In(t).Format("MST") }

// Precise writes a time of day with milliseconds.
func (z Zone) Precise(t time.Time) string { return z.In(t).Format("15:04:05.000") }

// Full writes the date, a time of day with milliseconds, and the zone's name.
func (z Zone) Full(t time.Time) string { return z.In(t).Format("2006-01-02 15:04:05.000 MST") }

// Clock writes a time of day: 12:00:10.7, and 12:00:14 if it is a whole second.
func (z Zone) Clock(t time.Time) string { return z.In(t).Format("15:04:05.9") }

// Second writes a time of day to the second.
func (z Zone) Second(t time.Time) string { return z.In(t).Format("15:04:05") }

// Day writes the date.
func (z Zone) Day(t time.Time) string { return z.In(t).Format(time.DateOnly) }
