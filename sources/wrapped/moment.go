package wrapped

import (
	"bytes"
	"strconv"
	"time"
)

// moment is a time as a wrapper writes it.
type moment struct {
	text []byte
	form form
}

// form is how a wrapper writes times.
type form uint8

const (
	asText   form = iota // as RFC 3339 has them, or nearly
	inMillis             // since 1970
	inMicros
)

// stamp returns m as RFC 3339 has it, or nothing if it is no time. What it returns is good until the next call.
//
// Most lines are of the second of the line before: then only the fraction differs.
func (w *writer) stamp(m moment) []byte {
	second, fraction, ok := m.split()
	if !ok {
		t, ok := m.time()
		if w.stamped = w.stamped[:0]; ok {
			w.stamped = t.UTC().AppendFormat(w.stamped, time.RFC3339Nano)
		}
		w.second = w.second[:0]
		return w.stamped
	}
	if len(w.second) == 0 || m.form != w.form || !bytes.Equal(second, w.second) {
		t, ok := m.time()
		if !ok {
			w.second = w.second[:0]
			return nil
		}
		w.form, w.second = m.form, append(w.second[:0], second...)
		w.stamped = t.UTC().AppendFormat(w.stamped[:0], "2006-01-02T15:04:05")
	}
	w.stamped = w.stamped[:len("2006-01-02T15:04:05")]
	if fraction = bytes.TrimRight(fraction, "0"); len(fraction) > 0 {
		w.stamped = append(append(w.stamped, '.'), fraction...)
	}
	w.stamped = append(w.stamped, 'Z')
	return w.stamped
}

// split returns the second that m is in, and the digits of what has passed of it; ok is false of a time of another shape or zone.
func (m moment) split() (second, fraction []byte, ok bool) {
	n := len(m.text)
	switch m.form {
	case inMillis:
		second, fraction, ok = m.text[:max(0, n-3)], m.text[max(0, n-3):], n > 3
	case inMicros:
		second, fraction, ok = m.text[:max(0, n-6)], m.text[max(0, n-6):], n > 6
	default:
		const whole = len("2006-01-02T15:04:05")
		if n <= whole || m.text[n-1] != 'Z' {
			return nil, nil, false
		}
		second, fraction, ok = m.text[:whole], m.text[whole:n-1], true
		if len(fraction) > 0 {
			if fraction[0] != '.' || len(fraction) == 1 || len(fraction) > 10 {
				return nil, nil, false
			}
			fraction = fraction[1:]
		}
	}
	for _, c := range fraction {
		ok = ok && c >= '0' && c <= '9'
	}
	return second, fraction, ok
}

// time returns the time that m is.
func (m moment) time() (time.Time, bool) {
	if m.form != asText {
		n, err := strconv.ParseInt(string(m.text), 10, 64)
		if m.form == inMillis {
			return time.UnixMilli(n), err == nil && n > 0
		}
		return time.UnixMicro(n), err == nil && n > 0
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, string(m.text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
