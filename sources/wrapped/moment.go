package wrapped

import (
	"bytes"
	"strconv"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

// parseTime parses a time in a wrapper: RFC 3339 and similar formats with an offset, or seconds, milliseconds, microseconds
// or nanoseconds since 1970, with an optional fraction. A date without an offset is UTC, as export formats define it. ok is
// false for anything else.
func parseTime(text []byte) (t time.Time, ok bool) {
	if len(text) < len("1777896000") || text[0] < '0' || text[0] > '9' {
		return t, false
	}
	if text[4] != '-' {
		return parseEpoch(text)
	}
	t, rest, ok := parseDateTime(text)
	if !ok {
		return t, false
	}
	switch string(rest) {
	case "", "Z", " UTC", " +0000 UTC":
		return t, true
	}
	offset, rest, ok := parseOffset(rest)
	return t.Add(-offset), ok && len(rest) == 0
}

// parseDateTime parses "2026-05-04T12:00:00.25" at the beginning of text, as if it were UTC, and returns the rest. A blank
// may replace T, and a comma the point.
func parseDateTime(text []byte) (t time.Time, rest []byte, ok bool) {
	const whole = len("2006-01-02T15:04:05")
	if len(text) < whole || text[4] != '-' || text[7] != '-' || text[10] != 'T' && text[10] != ' ' || text[13] != ':' || text[16] != ':' {
		return t, nil, false
	}
	year, month, day := number(text[:4]), number(text[5:7]), number(text[8:10])
	hour, minute, second := number(text[11:13]), number(text[14:16]), number(text[17:19])
	if year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return t, nil, false
	}
	nano, rest := 0, text[whole:]
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && isDigit(rest[1]) {
		unit := 100_000_000
		for rest = rest[1:]; len(rest) > 0 && isDigit(rest[0]); rest = rest[1:] {
			nano += int(rest[0]-'0') * unit
			unit /= 10
		}
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, nano, time.UTC), rest, true
}

// parseOffset parses Z, +0530 or +05:30 at the beginning of text, perhaps behind a blank.
func parseOffset(text []byte) (offset time.Duration, rest []byte, ok bool) {
	text = bytes.TrimPrefix(text, []byte(" "))
	if len(text) > 0 && text[0] == 'Z' {
		return 0, text[1:], true
	}
	if len(text) < len("+0530") || text[0] != '+' && text[0] != '-' {
		return 0, nil, false
	}
	minutes := text[3:]
	if minutes[0] == ':' {
		minutes = minutes[1:]
	}
	if len(minutes) < 2 {
		return 0, nil, false
	}
	h, m := number(text[1:3]), number(minutes[:2])
	if h < 0 || h > 14 || m < 0 || m > 59 {
		return 0, nil, false
	}
	offset = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, minutes[2:], true
}

// zones are the offsets of unambiguous zone abbreviations, in hours. (CST, IST and BST are ambiguous.)
var zones = map[string]int{
	"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "SAST": 2, "PKT": 5, "WIB": 7, "HKT": 8, "JST": 9, "KST": 9,
	"AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}

// parseZone parses the abbreviation of a zone behind a blank, as journalctl -o short-full has it.
func parseZone(text []byte) (offset time.Duration, ok bool) {
	name, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte(" ")), []byte(" "))
	hours, ok := zones[string(name)]
	return time.Duration(hours) * time.Hour, ok
}

// parseEpoch parses a time since 1970, whose unit follows from its size.
func parseEpoch(text []byte) (t time.Time, ok bool) {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || len(fraction) > 9 {
		return t, false
	}
	switch len(whole) {
	case 10:
		t = time.Unix(n, 0)
	case 13:
		return time.UnixMilli(n).UTC(), true
	case 16:
		return time.UnixMicro(n).UTC(), true
	case 19:
		return time.Unix(0, n).UTC(), true
	default:
		return t, false
	}
	if len(fraction) > 0 {
		part, err := strconv.ParseInt((string(fraction) + "00000000")[:9], 10, 64)
		if err != nil {
			return t, false
		}
		t = t.Add(time.Duration(part))
	}
	return t.UTC(), true
}

// timeMembers are the names of members that hold the time of a record, the first of them before the others.
var timeMembers = []string{"@timestamp", "timestamp", "time", "__REALTIME_TIMESTAMP", "TimeGenerated", "_time", "Timestamp", "TimeStamp", "ts", "tsNs", "date", "Date", "eventTime"}

// timeIn returns the time of a record. It is zero if it has none.
func timeIn(m members) time.Time {
	for _, name := range timeMembers {
		raw := m.get(name)
		if text := jsonscan.Text(raw); text != nil {
			raw = text
		}
		if t, ok := parseTime(raw); ok {
			return t
		}
	}
	return time.Time{}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number returns the decimal number text, or -1.
func number(text []byte) int {
	n := 0
	for _, c := range text {
		if !isDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}
