package audit

import "time"

// cursor is where a log is read.
type cursor struct {
	begins time.Time     // about when it begins. Zero if not known
	items  []item        // that were read and not taken
	now    time.Time     // the latest time of a line up to here
	more   func() []item // reads on, and returns none at the end. Nil if all were read
	opened bool
}

// head returns what the log tells next, or nil if that was all.
func (c *cursor) head() *item {
	c.opened = true
	if len(c.items) == 0 && c.more != nil {
		if c.items = c.more(); len(c.items) == 0 {
			c.more = nil
		}
	}
	if len(c.items) == 0 {
		return nil
	}
	if at := c.items[0].read; at.After(c.now) {
		c.now = at
	}
	return &c.items[0]
}

// beside has take take what the logs tell, side by side: always of that log next which has come least far. One is opened
// when the others have come to where it begins.
func beside(cursors []*cursor, take func(*item)) {
	for {
		var first, next *cursor // of those that are open, and of those that are not
		for _, c := range cursors {
			switch {
			case !c.opened:
				if next == nil || c.begins.Before(next.begins) {
					next = c
				}
			case c.head() != nil && (first == nil || c.now.Before(first.now)):
				first = c
			}
		}
		switch {
		case next != nil && (first == nil || !next.begins.After(first.now)):
			next.head()
		case first == nil:
			return
		default:
			take(first.head())
			first.items = first.items[1:]
		}
	}
}
