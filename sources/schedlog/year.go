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

	back   time.Duration // by how much the times go back where they do so the most
	backTo time.Time     // and to when
}

// yearSource is the source of the year.
type yearSource int8

const (
	yearUnknown yearSource = iota
	yearGiven              // an instant, or another log
	yearInFile             // a date in the file
	yearOfFile             // the file's own time
)

// firstYear is the year of Kubernetes' first release: a clock that shows an earlier one was not set.
const firstYear = 2014

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
	if near := c.hint.Near; near.Year() >= firstYear {
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

// goesBack notes that a line is earlier than the one before. klog writes lines in order and logs nothing when the clock is set back.
func (c *clock) goesBack(before, now time.Time) {
	if back := before.Sub(now); !c.offsetKnown && back > steady && back > c.back {
		c.back, c.backTo = back, now
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
	{regexp.MustCompile(`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-3]?\d, 20\d\d\b`), "Jan 2, 2006"}, // Kibana
	{regexp.MustCompile(`\b[01]?\d/[0-3]?\d/20\d\d\b`), "1/2/2006"},                                                 // tables of cloud consoles
	{regexp.MustCompile(`\b[0-3]?\d[./][01]?\d[./]20\d\d\b`), "2/1/2006"},
}

// FindYear returns a date in the text whose day is also that of a klog header in it. It is zero if there is none.
func FindYear(text []byte) time.Time {
	first := time.Time{}
	if at := stamp.FindIndex(text); at != nil {
		first, _ = time.Parse("0102", string(text[at[0]+1:at[0]+5]))
		first = first.AddDate(2000, 0, 0)
	}
	if first.IsZero() {
		return first
	}
	for i := range len(text) - len("2026") {
		if text[i] != '2' || text[i+1] != '0' || !digit(text[i+2]) || !digit(text[i+3]) || i > 0 && digit(text[i-1]) {
			continue
		}
		near := text[max(0, i-len("Sep 30, ")):min(len(text), i+len("2026-05-04 "))]
		for _, p := range datePatterns {
			found := p.pattern.Find(near)
			if found == nil {
				continue
			}
			found = bytes.ReplaceAll(bytes.TrimRight(found, "T "), []byte("."), []byte("/"))
			date, err := time.Parse(p.layout, string(found))
			if err != nil {
				continue
			}
			same := time.Date(2000, date.Month(), date.Day(), 0, 0, 0, 0, time.UTC)
			if d := first.Sub(same); d >= -24*time.Hour && d <= 24*time.Hour {
				return date
			}
		}
	}
	return time.Time{}
}

// stamp is how klog's header begins.
var stamp = regexp.MustCompile(`[IWEF][01]\d[0-3]\d \d\d:\d\d:\d\d\.\d{6}`)

// notices say what the log's times rest on, where a person should know.
func (c *clock) notices() (notices []string) {
	switch {
	case c.wrong:
		notices = append(notices, "the times in front of its lines fit the lines' own times in no time zone: schedq ignores them")
	case c.changes > 0:
		notices = append(notices, "its times are local, and the clock changed to or from summer time: schedq converts them to UTC")
	case c.offset != 0:
		notices = append(notices, fmt.Sprintf("its times are local (UTC%s): schedq converts them to UTC", formatOffset(c.offset)))
	}
	if c.back > 0 {
		notices = append(notices, fmt.Sprintf("its times go back by %v, to %s: the clock was put back, or logs were joined out of order; lines are taken by their times, so the order of attempts before and after may be wrong",
			c.back.Round(time.Second), c.backTo.Format(time.DateTime)))
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
