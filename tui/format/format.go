package format

import (
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Safe makes text from outside safe to draw. It does not allocate for text that already is.
func Safe(s string) string { return string(sources.Sanitize(s)) }

// SafeList joins names from outside, made safe.
func SafeList(names []string, separator string) string {
	return Safe(strings.Join(names, separator))
}

// Countdown writes the rest of a wait in at most 5 letters: 4.2s, 37s, 4:12, 2h05m, 3d. Negative durations, which a clock that was
// set back causes, are 0.0s.
func Countdown(d time.Duration) string {
	var text [24]byte
	return string(AppendCountdown(text[:0], d))
}

// AppendCountdown appends a countdown to text.
func AppendCountdown(text []byte, d time.Duration) []byte {
	d = max(d, 0)
	seconds := int(d / time.Second)
	minutes, hours := seconds/60, seconds/3600
	switch {
	case seconds < 10:
		tenths := byte(d % time.Second / (100 * time.Millisecond))
		return append(text, '0'+byte(seconds), '.', '0'+tenths, 's')
	case seconds < 60:
		return append(strconv.AppendInt(text, int64(seconds), 10), 's')
	case hours < 1:
		return appendTwoDigits(append(strconv.AppendInt(text, int64(minutes), 10), ':'), seconds%60)
	case hours < 10:
		return append(appendTwoDigits(append(strconv.AppendInt(text, int64(hours), 10), 'h'), minutes%60), 'm')
	case hours < 48:
		return append(strconv.AppendInt(text, int64(hours), 10), 'h')
	default:
		return append(strconv.AppendInt(text, int64(hours/24), 10), 'd')
	}
}

// appendTwoDigits appends n, between 0 and 99, as two digits.
func appendTwoDigits(text []byte, n int) []byte { return append(text, '0'+byte(n/10), '0'+byte(n%10)) }

// Duration writes a duration in at most 5 letters: 12ms, or as a countdown.
func Duration(d time.Duration) string {
	d = max(d, 0)
	if d < time.Second {
		return strconv.Itoa(int(d.Milliseconds())) + "ms"
	}
	return Countdown(d)
}

// Span writes a duration like a media player: 0:07, 3:12, 1:04:14.
func Span(d time.Duration) string {
	var text [24]byte
	return string(AppendSpan(text[:0], d))
}

// AppendSpan appends a span to text.
func AppendSpan(text []byte, d time.Duration) []byte {
	seconds := int(max(d, 0) / time.Second)
	minutes, hours := seconds/60, seconds/3600
	if hours < 1 {
		return appendTwoDigits(append(strconv.AppendInt(text, int64(minutes), 10), ':'), seconds%60)
	}
	text = appendTwoDigits(append(strconv.AppendInt(text, int64(hours), 10), ':'), minutes%60)
	return appendTwoDigits(append(text, ':'), seconds%60)
}

// Number writes n with commas between thousands.
func Number(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	var text [26]byte // the longest int64 with commas
	return string(AppendNumber(text[:0], n))
}

// AppendNumber appends a number to text.
func AppendNumber(text []byte, n int) []byte {
	if n < 1000 {
		return strconv.AppendInt(text, int64(n), 10)
	}
	text = append(AppendNumber(text, n/1000), ',', '0'+byte(n/100%10))
	return appendTwoDigits(text, n%100)
}

// Plural writes n and word, with an s unless n is 1.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Number(n) + " " + word + "s"
}

// Level draws share, between 0 and 1, as a block in one cell.
func Level(share float64) string {
	levels := [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	return levels[min(max(int(share*8), 0), 7)]
}

// sureFrom is the smallest share from which the remaining time is estimated.
const sureFrom = 0.05

// Remaining estimates how long the rest takes if share took since. 0: unknown, or nothing is left.
func Remaining(share float64, since time.Duration) time.Duration {
	if !(share >= sureFrom) {
		return 0
	}
	return max(0, time.Duration(float64(since)*(1-share)/share))
}

// Bar draws share, between 0 and 1, as a line of width cells, the first of them heavy.
func Bar(share float64, width int) (heavy, light string) {
	const heavyCells, lightCells = "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━", "────────────────────────────────────────"
	const bytes = len("━")
	width = min(width, len(lightCells)/bytes)
	halves := int(min(max(share, 0), 1)*float64(2*width) + 0.5)
	heavy = heavyCells[:halves/2*bytes]
	if halves%2 == 1 {
		heavy += "╸"
	}
	return heavy, lightCells[:(width-(halves+1)/2)*bytes]
}
