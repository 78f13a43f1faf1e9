package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
)

// Teller tells a person in sentences how a stream stands, each change once. It is for one goroutine.
type Teller struct {
	out      io.Writer
	now      func() time.Time
	attached bool
	notices  map[string]bool // that were told

	trouble sources.SafeText // as it stands
	since   time.Time        // since when it does so
	known   sources.SafeText // the trouble that the person thinks there is
	untrue  time.Time        // since when there is another. Zero if there is none
	reasons map[sources.SafeText]bool
}

// A trouble is told when it has stood for settles, and no later than tellWithin after what was told last is
// no longer so: of twenty lists that fail, not each is told by itself, and one that comes and goes is told.
const (
	settles    = time.Second
	tellWithin = 3 * time.Second
)

// maxReasons is how many reasons are told of one trouble that does not end.
const maxReasons = 20

// New returns a Teller that writes to out, a line for each sentence.
func NewTeller(out io.Writer) *Teller {
	return &Teller{out: out, now: time.Now, notices: map[string]bool{}, reasons: map[sources.SafeText]bool{}}
}

// Tell tells what is new in s: notices, that the stream is attached, and what is wrong.
func (t *Teller) Tell(s sources.Status) {
	for _, n := range s.Notices {
		if !t.notices[n] {
			t.notices[n] = true
			fmt.Fprintf(t.out, "schedq: %s\n", n)
		}
	}
	if !t.attached && !s.Attached.IsZero() {
		t.attached = true
		total := 0
		for _, r := range s.Resources {
			total += r.Objects
		}
		fmt.Fprintf(t.out, "schedq: attached at %s, %d objects\n", clock(s.Attached), total)
	}
	t.tellTrouble(s, t.now())
}

// tellTrouble tells what is wrong, once for each reason, and when nothing is wrong any more.
func (t *Teller) tellTrouble(s sources.Status, now time.Time) {
	if s.Trouble != t.trouble {
		t.trouble, t.since = s.Trouble, now
	}
	if t.trouble == t.known {
		t.untrue = time.Time{}
		return
	}
	if t.untrue.IsZero() {
		t.untrue = now
	}
	if now.Sub(t.since) < settles && now.Sub(t.untrue) < tellWithin {
		return
	}
	t.known, t.untrue = t.trouble, time.Time{}
	switch {
	case t.trouble == "":
		fmt.Fprintln(t.out, "schedq: connected again")
		clear(t.reasons)
	case t.reasons[t.trouble] || len(t.reasons) >= maxReasons:
	case s.Attached.IsZero() || s.StaleSince.IsZero():
		t.reasons[t.trouble] = true
		fmt.Fprintf(t.out, "schedq: %s\n", t.trouble)
	default:
		t.reasons[t.trouble] = true
		fmt.Fprintf(t.out, "schedq: stale since %s: %s\n", clock(s.StaleSince), t.trouble)
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000 UTC") }
