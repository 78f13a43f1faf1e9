package audit

import "time"

// cursor is where a log is read.
type cursor struct {
	items []item
	now   time.Time // the latest time of a line up to here
}

// earliest returns the cursor whose next item was told first, or nil if none has any.
func earliest(cursors []*cursor) (first *cursor) {
	for _, c := range cursors {
		if len(c.items) == 0 {
			continue
		}
		if c.items[0].read.After(c.now) {
			c.now = c.items[0].read
		}
		if first == nil || c.now.Before(first.now) {
			first = c
		}
	}
	return first
}
