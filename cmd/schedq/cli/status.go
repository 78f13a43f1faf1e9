package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
)

// StatusPrinter prints changes of a stream's status, each once. It is for one goroutine.
type StatusPrinter struct {
	out      io.Writer
	now      func() time.Time
	attached bool
	notices  map[string]bool // printed

	trouble       sources.SafeText // current
	troubleSince  time.Time
	printed       sources.SafeText // the trouble printed last
	outdatedSince time.Time        // when printed became outdated; zero if it is not
	reasons       map[sources.SafeText]bool
}

// A trouble is printed once it has lasted for settleTime, or once the printed one has been outdated for
// maxOutdated. So twenty lists that fail one by one are one message, and a flapping one is still
// printed.
const (
	settleTime  = time.Second
	maxOutdated = 3 * time.Second
)

// maxReasons limits the messages about one outage.
const maxReasons = 20

// NewStatusPrinter returns a StatusPrinter that writes lines to out.
func NewStatusPrinter(out io.Writer) *StatusPrinter {
	return &StatusPrinter{out: out, now: time.Now, notices: map[string]bool{}, reasons: map[sources.SafeText]bool{}}
}

// Print prints what is new in s: notices, the attachment, and trouble.
func (p *StatusPrinter) Print(s sources.Status) {
	for _, n := range s.Notices {
		if !p.notices[n] {
			p.notices[n] = true
			fmt.Fprintf(p.out, "schedq: %s\n", n)
		}
	}
	if !p.attached && !s.Attached.IsZero() {
		p.attached = true
		total := 0
		for _, r := range s.Resources {
			total += r.Objects
		}
		fmt.Fprintf(p.out, "schedq: attached at %s, %d objects\n", clock(s.Attached), total)
	}
	p.printTrouble(s, p.now())
}

// printTrouble prints each reason once, and the recovery.
func (p *StatusPrinter) printTrouble(s sources.Status, now time.Time) {
	if s.Trouble != p.trouble {
		p.trouble, p.troubleSince = s.Trouble, now
	}
	if p.trouble == p.printed {
		p.outdatedSince = time.Time{}
		return
	}
	if p.outdatedSince.IsZero() {
		p.outdatedSince = now
	}
	if now.Sub(p.troubleSince) < settleTime && now.Sub(p.outdatedSince) < maxOutdated {
		return
	}
	p.printed, p.outdatedSince = p.trouble, time.Time{}
	switch {
	case p.trouble == "":
		fmt.Fprintln(p.out, "schedq: connected again")
		clear(p.reasons)
	case !p.isNew(s):
	case s.Attached.IsZero() || s.StaleSince.IsZero():
		fmt.Fprintf(p.out, "schedq: %s\n", p.trouble)
	default:
		fmt.Fprintf(p.out, "schedq: stale since %s: %s\n", clock(s.StaleSince), p.trouble)
	}
}

// isNew reports whether a reason in s was not printed since all was well. Which lists it is about changes one by one as they recover.
func (p *StatusPrinter) isNew(s sources.Status) bool {
	reasons := []sources.SafeText{}
	for _, r := range s.Resources {
		if r.Trouble != "" && !r.DoneWithout() {
			reasons = append(reasons, r.Trouble)
		}
	}
	if !s.StaleSince.IsZero() || len(reasons) == 0 {
		reasons = append(reasons, s.Trouble)
	}
	isNew := false
	for _, reason := range reasons {
		if !p.reasons[reason] && len(p.reasons) < maxReasons {
			p.reasons[reason], isNew = true, true
		}
	}
	return isNew
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000 UTC") }
