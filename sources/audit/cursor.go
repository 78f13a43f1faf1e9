package audit

import "time"

// cursor is a position in a log.
type cursor struct {
	begins time.Time     // about when the log begins. Zero if unknown
	items  []item        // read and not taken
	now    time.Time     // the latest time of a line so far
	more   func() []item // reads on, and returns none at the end. Nil if all were read
	opened bool
}

// head returns the log's next item, or nil at its end.
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

// beside calls take with the items of logs side by side: the next one is always from the log that is furthest behind. It
// opens a log when the others have reached its beginning.
func beside(cursors []*cursor, take func(*item)) {
	for {
		var first, next *cursor // among the open ones, and among the others
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
