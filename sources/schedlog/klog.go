package schedlog

import (
	"bytes"
	"strconv"
	"time"

	"github.com/schedq/schedq/sources/lines"
)

// header is the beginning of a klog text line (k8s.io/klog/v2, buf.FormatHeader):
// "I1121 10:56:22.400364   25911 active_queue.go:414] ".
type header struct {
	month, day, hour, minute, second, micro int
	clock                                   []byte // "10:56"
	whole                                   []byte // the line
	place                                   []byte // the process and the place in its source: "  25911 active_queue.go:414"
	rest                                    []byte // after "] "
}

// parseHeader splits a klog line. It reads as few bytes as needed to recognise one.
func parseHeader(line []byte) (h header, ok bool) {
	const (
		stamp    = len("I1121 10:56:22.400364 ")
		shortest = stamp + len("      1 a.go:1") // shortest text before the bracket of a torn header with another glued to it
	)
	if len(line) < stamp+3 || line[5] != ' ' || line[8] != ':' || line[11] != ':' || line[14] != '.' || line[21] != ' ' {
		return h, false
	}
	switch line[0] {
	case 'I', 'W', 'E', 'F':
	default:
		return h, false
	}
	i := bytes.IndexByte(line[stamp:], ']')
	if i < 0 || stamp+i+2 > len(line) || line[stamp+i+1] != ' ' || i >= shortest && !written(line[stamp:stamp+i]) {
		return h, false
	}
	h.place = line[stamp : stamp+i]
	h.rest = line[min(stamp+i+2, len(line)):]
	h.clock, h.whole = line[6:11], line
	h.month, h.day = digits(line[1:3]), digits(line[3:5])
	h.hour, h.minute, h.second, h.micro = digits(line[6:8]), digits(line[9:11]), digits(line[12:14]), digits(line[15:21])
	ok = h.month >= 1 && h.month <= 12 && h.day >= 1 && h.day <= 31 && h.hour >= 0 && h.hour < 24 &&
		h.minute >= 0 && h.minute < 60 && h.second >= 0 && h.second <= 60 && h.micro >= 0
	return h, ok
}

// written reports whether text is a process's number and a place in its source, "  25911 active_queue.go:414". Otherwise
// it is the rest of a torn header with another line glued to it.
func written(text []byte) bool {
	for _, c := range text[:max(0, bytes.LastIndexByte(text, ' '))] {
		if c != ' ' && !digit(c) {
			return false
		}
	}
	return true
}

// linesClock returns the clock of klog's lines. Their times have no year.
func linesClock() lines.Clock {
	const stamp = "1121 10:56:22.400364"
	return lines.Clock{
		Find: func(line []byte) []byte {
			if len(line) > 0 && line[0] == '2' { // behind a time
				line, _, _ = unwrap(line)
			}
			if len(line) <= len(stamp) || line[5] != ' ' || line[14] != '.' {
				return nil
			}
			return line[1 : 1+len(stamp)]
		},
		Offset:    len("I"),
		MinuteLen: len("1121 10:56"),
		Parse: func(text []byte) (time.Time, bool) {
			at, err := time.Parse("20060102 15:04:05.000000", "2000"+string(text))
			return at, err == nil
		},
		Period: 366 * 24 * time.Hour,
	}
}

// timeIn returns the header's time in that year. ok is false for 29 February in a year without one.
func (h *header) timeIn(year int) (t time.Time, ok bool) {
	t = time.Date(year, time.Month(h.month), h.day, h.hour, h.minute, h.second, h.micro*1000, time.UTC)
	return t, int(t.Month()) == h.month
}

// digits returns the decimal number b, or -1.
func digits(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// unwrap removes a container runtime's prefix from a line: "2026-11-21T10:56:16.372925000Z stderr F " (CRI),
// or only the time (kubectl logs --timestamps). It returns the prefix's time and whether the line continues
// in the next one (CRI's tag P).
func unwrap(line []byte) (rest []byte, stamp []byte, partial bool) {
	if len(line) < 21 || line[4] != '-' || line[10] != 'T' {
		return line, nil, false
	}
	stamp, rest, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return line, nil, false
	}
	for _, stream := range []string{"stderr ", "stdout "} {
		if after, ok := bytes.CutPrefix(rest, []byte(stream)); ok && len(after) >= 2 && after[1] == ' ' {
			return after[2:], stamp, after[0] == 'P'
		}
	}
	return rest, stamp, false
}

// value returns a value of a structured klog line, or nil if it has none. The key ends with the value's
// first byte: ` pod="` for a string, which is unquoted, ` plugins={` for JSON, which is returned
// unchanged. No other string of the line can contain such a key, because klog escapes quotes.
func value(rest []byte, key string) []byte {
	i := bytes.Index(rest, []byte(key))
	if i < 0 {
		return nil
	}
	v := rest[i+len(key)-1:]
	if v[0] != '"' {
		v, _, _ = bytes.Cut(v, []byte(" "))
		return v
	}
	end, escaped := 1, false
	for ; end < len(v) && v[end] != '"'; end++ {
		if v[end] == '\\' {
			escaped = true
			end++
		}
	}
	if end >= len(v) {
		return nil // cut off
	}
	if !escaped {
		return v[1:end]
	}
	s, err := strconv.Unquote(string(v[:end+1]))
	if err != nil {
		return v[1:end]
	}
	return []byte(s)
}
