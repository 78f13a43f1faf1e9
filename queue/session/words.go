package session

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue"
)

// precise writes a time of day with milliseconds.
func precise(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// clock writes a time of day: 12:00:10.7, and 12:00:14 if it is a whole second.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.9") }

// short writes a duration as 4 s, 250 ms or 5 min.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= time.Second || d == 0:
		return fmt.Sprintf("%g s", d.Seconds())
	default:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func standing(n int) string {
	if n == 1 {
		return "1 pod stands"
	}
	return fmt.Sprintf("%d pods stand", n)
}

// tierWord is a tier's name in a sentence.
func tierWord(t queue.Tier) string {
	if t == queue.InFlight {
		return "in-flight"
	}
	return t.String()
}
