// Package words formats times, counts and tiers for sentences.
//
// Its input must be safe to show; then its output is, too.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedq/schedq/queue"
)

// Short formats a duration as 4 s, 250 ms or 5 min.
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

// Ordinal formats n as 1st, 2nd, 3rd, 11th and so on.
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

// Plural formats a count of what, which gets an s unless n is 1: 1 pod, 2 pods.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// AttemptCount is a number of attempts, or a lower bound of it.
type AttemptCount struct {
	N       int
	AtLeast bool
}

// String returns the number: 3, ≥3.
func (c AttemptCount) String() string { return c.mark() + strconv.Itoa(c.N) }

// Attempts returns the number with its unit: 3 attempts, ≥3 attempts.
func (c AttemptCount) Attempts() string { return c.mark() + Plural(c.N, "attempt") }

func (c AttemptCount) mark() string {
	if c.AtLeast {
		return "≥"
	}
	return ""
}

// TierNamed returns the word for the tier with that JSON name, such as in-flight for inflight. It returns unknown
// names unchanged.
func TierNamed(name string) string {
	t, err := queue.ParseTier(name)
	if err != nil {
		return name
	}
	return TierWord(t)
}

// TierWord returns the word for a tier in a sentence.
func TierWord(t queue.Tier) string {
	switch t {
	case queue.InFlight:
		return "in-flight"
	case queue.Scheduled:
		return "bound"
	}
	return t.String()
}

// And joins parts: "a", "a and b", "a, b and c".
func And(parts []string) string { return join(parts, " and ") }

// Or joins parts: "a", "a or b", "a, b or c".
func Or(parts []string) string { return join(parts, " or ") }

func join(parts []string, with string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + with + parts[last]
}

// Quantity formats a quantity with few digits: 3.5, 12Gi.
func Quantity(q resource.Quantity) string {
	if q.Format == resource.BinarySI || q.Value() >= 1<<20 {
		v := float64(q.Value())
		for _, unit := range [...]string{"", "Ki", "Mi", "Gi", "Ti"} {
			if v < 1024 {
				return strconv.FormatFloat(v, 'g', 3, 64) + unit
			}
			v /= 1024
		}
		return strconv.FormatFloat(v, 'g', 3, 64) + "Pi"
	}
	return strconv.FormatFloat(q.AsApproximateFloat64(), 'g', 4, 64)
}
