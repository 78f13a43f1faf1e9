package schedlog

import (
	"bytes"
	"fmt"
	"regexp"
	"time"
)

// klog writes the process's local time, without its zone and without the year. Both come from evidence: a container
// runtime's or a collector's time in front of a line is an instant, a date elsewhere in the file has the year.

// Year says how to complete klog's times.
type Year struct {
	// Near is a time within the logged run: it selects the nearest year. Zero if unknown.
	Near time.Time
	// NotAfter is a time, often the file's own, by which the first line was certainly written: it selects the last year that
	// is not later, with a day's grace. It is used only without Near.
	NotAfter time.Time
	// Zone is the zone of the log's times if the log does not show it. Nil means UTC.
	Zone *time.Location
}

// clock turns klog headers into times.
type clock struct {
	hint Year
	last time.Time // of the previous line, local

	// offset is how far the log's local time is ahead of UTC, according to the instants in front of its lines, and late how
	// much later than its line such an instant is. offsetKnown is false before the first.
	offset, late time.Duration
	offsetKnown  bool
	minutes      [10]byte // of the last line with an instant: hours and minutes of both times

	year    yearSource
	changes int  // of the offset
	wrong   bool // an instant differs by more than any zone explains
}

// yearSource is the source of the year.
type yearSource int8

const (
	yearUnknown yearSource = iota
	yearGiven              // an instant, or another log
	yearInFile             // a date in the file
	yearOfFile             // the file's own time
)

// time returns the line's time. Lines are nearly in order: a leap of half a year is a new year.
func (c *clock) time(h *header) time.Time { return c.utc(c.local(h)) }

// utc returns the instant of a local time that is given as UTC.
func (c *clock) utc(local time.Time) time.Time {
	if !c.offsetKnown && c.hint.Zone != nil {
		y, m, d := local.Date()
		return time.Date(y, m, d, local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), c.hint.Zone).UTC()
	}
	return local.Add(-c.offset)
}

// local returns the line's local time as UTC.
func (c *clock) local(h *header) time.Time {
	if c.last.IsZero() {
		c.last = c.firstTime(h)
		return c.last
	}
	t, _ := h.timeIn(c.last.Year())
	const half = 183 * 24 * time.Hour
	if d := t.Sub(c.last); d < -half {
		t, _ = h.timeIn(c.last.Year() + 1)
	} else if d > half {
		t, _ = h.timeIn(c.last.Year() - 1)
	}
	c.last = t
	return t
}

func (c *clock) firstTime(h *header) time.Time {
	if near := c.hint.Near; !near.IsZero() {
		if t := nearest(h, near); !t.IsZero() {
			c.year = max(c.year, yearGiven)
			return t
		}
	}
	c.year = yearOfFile
	limit := c.hint.NotAfter.UTC().AddDate(0, 0, 1)
	for year := limit.Year(); year > limit.Year()-8; year-- {
		if t, ok := h.timeIn(year); ok && !t.After(limit) {
			return t
		}
	}
	t, _ := h.timeIn(limit.Year())
	return t
}

// nearest returns the header's time in the year in which it is nearest to near, or zero if there is no such day.
func nearest(h *header, near time.Time) (best time.Time) {
	for year := near.Year() - 1; year <= near.Year()+1; year++ {
		if t, ok := h.timeIn(year); ok && (best.IsZero() || t.Sub(near).Abs() < best.Sub(near).Abs()) {
			best = t
		}
	}
	return best
}

const (
	// quarter is the unit of time zones' offsets.
	quarter = 15 * time.Minute
	// steady limits how much the time between a line and the instant in front of it varies while the zone stays the same.
	steady = time.Minute
)

// see reads the instant in front of the line with that header: "2026-05-04T12:00:00.25Z".
func (c *clock) see(stamp []byte, h *header) {
	var minutes [10]byte
	copy(minutes[:5], stamp[len("2006-01-02T"):])
	copy(minutes[5:], h.clock)
	if c.offsetKnown && minutes == c.minutes {
		return
	}
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return
	}
	c.minutes = minutes
	ahead := nearest(h, at).Sub(at)
	if !c.offsetKnown {
		offset := ahead.Round(quarter)
		if !IsZone(offset) {
			c.wrong = true
			return
		}
		c.offset, c.late, c.offsetKnown = offset, offset-ahead, true
		return
	}
	// After a clock change, lines are as late as before it.
	shift := (ahead + c.late - c.offset).Round(2 * quarter)
	if shift != 0 && (ahead+c.late-c.offset-shift).Abs() < steady && shift.Abs() <= 2*time.Hour && IsZone(c.offset+shift) {
		c.offset += shift
		c.changes++
	}
}

// IsZone reports whether some time zone is that far ahead of UTC.
func IsZone(offset time.Duration) bool {
	if offset < -12*time.Hour || offset > 14*time.Hour {
		return false
	}
	switch offset.Minutes() { // offsets that are not whole hours
	case -570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825:
		return true
	}
	return offset%time.Hour == 0
}

// datePatterns match dates with a year in other lines of a file.
var datePatterns = []struct {
	pattern *regexp.Regexp
	layout  string
}{
	{regexp.MustCompile(`\b20\d\d-[01]\d-[0-3]\d[T ]`), "2006-01-02"},
	{regexp.MustCompile(`\b[0-3]\d-(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-20\d\d\b`), "02-Jan-2006"},
	{regexp.MustCompile(`\b20\d\d/[01]\d/[0-3]\d `), "2006/01/02"},
}

// findYear returns the year of a date in the text whose day is also that of a klog header in it.
func findYear(text []byte) (t time.Time, ok bool) {
	first := time.Time{}
	for line := range bytes.Lines(text) {
		line, _, _ = unwrap(bytes.TrimRight(line, "\n"))
		if h, is := parseHeader(line); is {
			first, _ = h.timeIn(2000)
			break
		}
	}
	if first.IsZero() {
		return t, false
	}
	for _, p := range datePatterns {
		for _, found := range p.pattern.FindAll(text, 100) {
			date, err := time.Parse(p.layout, string(found[:min(len(found), len(p.layout))]))
			if err != nil {
				continue
			}
			same := time.Date(2000, date.Month(), date.Day(), 0, 0, 0, 0, time.UTC)
			if d := first.Sub(same); d > -24*time.Hour && d < 48*time.Hour {
				return date, true
			}
		}
	}
	return t, false
}

// notices returns notices about how the log's times were found.
func (c *clock) notices() (notices []string) {
	switch {
	case c.wrong:
		notices = append(notices, "the times in front of its lines fit the lines' own times in no time zone: schedq ignores them")
	case c.changes > 0:
		notices = append(notices, "its times are local, and the clock changed to or from summer time: schedq converts them to UTC")
	case c.offset != 0:
		notices = append(notices, fmt.Sprintf("its times are local (UTC%s): schedq converts them to UTC", formatOffset(c.offset)))
	}
	if c.year == yearOfFile {
		notices = append(notices, fmt.Sprintf("its times have no year: schedq assumes %d, from the date of the file", c.last.Year()))
	}
	return notices
}

// formatOffset formats an offset as "+05:30".
func formatOffset(offset time.Duration) string {
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	return fmt.Sprintf("%s%02d:%02d", sign, int(offset.Hours()), int(offset.Minutes())%60)
}
