package format

import (
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Safe makes text from outside fit to be shown. It costs nothing for text that is.
func Safe(s string) string { return string(sources.Sanitize(s)) }

// SafeList joins names from outside.
func SafeList(names []string, separator string) string {
	return Safe(strings.Join(names, separator))
}

// Countdown writes what is left of a wait in at most 5 letters: 4.2s, 37s, 4:12, 2h05m, 3d. What a clock that was set back makes
// negative is 0.0s.
func Countdown(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + ":" + twoDigits(int(d.Seconds())%60)
	case d < 10*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h" + twoDigits(int(d.Minutes())%60) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + "d"
	}
}

// twoDigits writes n, between 0 and 99, with a leading zero if need be.
func twoDigits(n int) string {
	const all = "0123456789"
	return string([]byte{all[n/10], all[n%10]})
}

// Lasting writes how long something took in at most 5 letters: 12ms, or as a countdown.
func Lasting(d time.Duration) string {
	d = max(d, 0)
	if d < time.Second {
		return strconv.Itoa(int(d.Milliseconds())) + "ms"
	}
	return Countdown(d)
}

// Span writes a stretch of time as a player does: 0:07, 3:12, 1:04:14.
func Span(d time.Duration) string {
	d = max(d, 0)
	if d < time.Hour {
		return strconv.Itoa(int(d.Minutes())) + ":" + twoDigits(int(d.Seconds())%60)
	}
	return strconv.Itoa(int(d.Hours())) + ":" + twoDigits(int(d.Minutes())%60) + ":" + twoDigits(int(d.Seconds())%60)
}

// Number writes a count with a comma between thousands.
func Number(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	var text [26]byte // an int64 with its commas
	at := len(text)
	for digits := 0; n > 0; digits++ {
		if digits > 0 && digits%3 == 0 {
			at--
			text[at] = ','
		}
		at--
		text[at] = byte('0' + n%10)
		n /= 10
	}
	return string(text[at:])
}

// Plural writes n and the word for that many things.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Number(n) + " " + word + "s"
}

// Level draws share, between 0 and 1, in one cell.
func Level(share float64) string {
	levels := [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	return levels[min(max(int(share*8), 0), 7)]
}

// sureFrom is from which share on it is said how long the rest takes: before, that would be a guess.
const sureFrom = 0.05

// Left reckons how long the rest takes of what a share of was done in that time. Zero: that would be a guess, or nothing is left.
func Left(share float64, since time.Duration) time.Duration {
	if !(share >= sureFrom) {
		return 0
	}
	return max(0, time.Duration(float64(since)*(1-share)/share))
}

// Bar draws share, between 0 and 1, as a line of width cells of which the first are heavy.
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
