package header

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/format"
)

// Smaller values are not shown.
const (
	farAway    = 50 * time.Millisecond
	clocksPart = 100 * time.Millisecond
)

// distance returns the API server's latency and the difference of the clocks, if they are large.
func distance(l *session.Live) string {
	s := ""
	if l.Answers >= farAway {
		s = "API latency " + format.Duration(l.Answers)
	}
	if by := l.Ahead.Round(clocksPart); by != 0 {
		if s != "" {
			s += ", "
		}
		if s += "local clock " + format.Duration(by.Abs()); by > 0 {
			s += " ahead"
		} else {
			s += " behind"
		}
	}
	return s
}

// unheardSince returns since when a watch that reports a problem has delivered nothing, or zero.
func unheardSince(l *session.Live) (since time.Time) {
	for _, r := range l.Resources {
		if r.Broken() && (since.IsZero() || r.Gap.Since.Before(since)) {
			since = r.Gap.Since
		}
	}
	return since
}

// progress returns how many lists are read, and the longest of the others.
func progress(l *session.Live) string {
	in := 0
	var longest sources.Resource
	for _, r := range l.Resources {
		if r.Settled() {
			in++
		} else if longest.Name == "" || r.Objects > longest.Objects {
			longest = r
		}
	}
	s := fmt.Sprintf("%d of %d lists read", in, len(l.Resources))
	if longest.Name != "" {
		s += fmt.Sprintf(", %s %s so far", format.Number(longest.Objects), longest.Name)
	}
	return s
}
