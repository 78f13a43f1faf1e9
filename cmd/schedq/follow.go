package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
)

// teller tells a person in sentences how a stream stands, each change once.
type teller struct {
	out      io.Writer
	attached bool
	stale    bool
	told     map[string]bool
}

func newTeller(out io.Writer) *teller { return &teller{out: out, told: map[string]bool{}} }

func (t *teller) tell(s sources.Status) {
	for _, n := range s.Notices {
		if !t.told[n] {
			t.told[n] = true
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
	switch stale := !s.StaleSince.IsZero(); {
	case stale && !t.stale:
		fmt.Fprintf(t.out, "schedq: stale since %s: %s\n", clock(s.StaleSince), s.Trouble)
		t.stale = true
	case !stale && t.stale:
		fmt.Fprintln(t.out, "schedq: connected again")
		t.stale = false
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000 UTC") }
