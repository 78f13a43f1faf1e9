package sources

import (
	"fmt"
	"time"
)

// CheckTime returns an error, one sentence, unless t is between 1970 and 2261: the times whose
// differences fit a time.Duration and that have a Unix time in nanoseconds.
func CheckTime(t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 2261 {
		return fmt.Errorf("a time is out of range: it is in the year %d", y)
	}
	return nil
}
