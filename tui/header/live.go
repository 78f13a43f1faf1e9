package header

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/format"
)

// What of a cluster's distance is worth a word: it is far away, or this machine's clock is another.
const (
	farAway    = 50 * time.Millisecond
	clocksPart = 100 * time.Millisecond
)

// distance says how far away the cluster is, and how far the clocks are apart. Empty if neither is worth a word.
func distance(l *session.Live) string {
	s := ""
	if l.Answers >= farAway {
		s = "answers take " + format.Duration(l.Answers)
	}
	if by := l.Ahead.Round(clocksPart); by != 0 {
		if s != "" {
			s += ", "
		}
		if s += "this clock " + format.Duration(by.Abs()); by > 0 {
			s += " ahead"
		} else {
			s += " behind"
		}
	}
	return s
}

// unheardSince returns since when something of the cluster is not heard whose trouble is told. Zero if all is heard.
func unheardSince(l *session.Live) (since time.Time) {
	for _, r := range l.Resources {
		if r.Broken() && (since.IsZero() || r.Unheard.Since.Before(since)) {
			since = r.Unheard.Since
		}
	}
	return since
}

// progress says how many lists are in, and which is the longest that is not.
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
	s := fmt.Sprintf("%d of %d lists are in", in, len(l.Resources))
	if longest.Name != "" {
		s += fmt.Sprintf(", %s %s so far", format.Number(longest.Objects), longest.Name)
	}
	return s
}
