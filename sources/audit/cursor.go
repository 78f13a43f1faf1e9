package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidwall/btree"
)

// cursor is a position in a log.
type cursor struct {
	begins time.Time     // about when the log begins. Zero if unknown
	items  []item        // read and not taken
	now    time.Time     // the latest time of a line so far
	more   func() []item // reads on, and returns none at the end. Nil if all were read
	nth    int
}

// head returns the log's next item, or nil at its end.
func (c *cursor) head() *item {
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

// beside calls take with the items of logs, and which of the logs has them, side by side: the next one is always from the log that is furthest behind. It
// opens a log when the others have reached its beginning.
func beside(cursors []*cursor, take func(nth int, it *item)) {
	waiting := slices.SortedStableFunc(slices.Values(cursors), func(a, b *cursor) int { return a.begins.Compare(b.begins) })
	open := btree.NewBTreeGOptions(func(a, b *cursor) bool { return cmp.Or(a.now.Compare(b.now), cmp.Compare(a.nth, b.nth)) < 0 }, btree.Options{NoLocks: true})
	for i, c := range cursors {
		c.nth = i
	}
	for {
		first, some := open.Min()
		switch {
		case len(waiting) > 0 && (!some || !waiting[0].begins.After(first.now)):
			if waiting[0].head() != nil {
				open.Set(waiting[0])
			}
			waiting = waiting[1:]
		case !some:
			return
		default:
			open.PopMin()
			take(first.nth, first.head())
			if first.items = first.items[1:]; first.head() != nil {
				open.Set(first)
			}
		}
	}
}
