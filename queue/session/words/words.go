package words

import (
	"fmt"
	"strconv"
	"time"

	"github.com/schedq/schedq/queue"
)

// Short writes a duration as 4 s, 250 ms or 5 min.
func Short(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + " min"
	case d >= time.Second || d == 0:
		return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " s"
	default:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
}

// Ordinal writes 1st, 2nd, 3rd, 11th and so on.
func Ordinal(n int) string {
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
	return strconv.Itoa(n) + suffix
}

// Times writes how many there are of what, which gets an s unless there is one: 1 pod, 2 pods.
func Times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Standing writes that one pod stands, or that n pods stand.
func Standing(n int) string {
	if n == 1 {
		return "1 pod stands"
	}
	return fmt.Sprintf("%d pods stand", n)
}

// TierNamed is the word for the tier of that name in JSON: in-flight for inflight. Any other name is its own.
func TierNamed(name string) string {
	t, err := queue.ParseTier(name)
	if err != nil {
		return name
	}
	return TierWord(t)
}

// TierWord is a tier's name in a sentence.
func TierWord(t queue.Tier) string {
	switch t {
	case queue.InFlight:
		return "in-flight"
	case queue.Scheduled:
		return "bound"
	}
	return t.String()
}
