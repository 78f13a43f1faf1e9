package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		name    string
		share   float64
		elapsed time.Duration
		want    string
	}{
		{"big.log.gz", 0, 2 * time.Second, "schedq: reading big.log.gz"},
		{"big.log.gz", 0.01, 2 * time.Second, "schedq: reading big.log.gz: 1 %"},
		{"big.log.gz", 0.25, 30 * time.Second, "schedq: reading big.log.gz: 25 %, 1m30s left"},
		{"big.log.gz", 0.999, 2 * time.Second, "schedq: reading big.log.gz: 99 %"},
		{"\x1b[2J", 1, 2 * time.Second, "schedq: reading ␛[2J: 100 %"},
		{strings.Repeat("é", 300), 0.5, time.Minute, "schedq: reading " + strings.Repeat("é", 29) + "…: 50 %, 1m0s left"},
	} {
		l := newProgressLine("reading", c.name)
		l.Report(c.share)
		if got := l.text(c.elapsed); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestProgressLine: the line appears after a second and is erased at the end.
func TestProgressLine(t *testing.T) {
	l := newProgressLine("reading", "a")
	for _, c := range []struct {
		ticks []time.Duration
		want  string
	}{
		{nil, ""},
		{[]time.Duration{0, 999 * time.Millisecond}, ""},
		{[]time.Duration{time.Second, 2 * time.Second}, eraseLine + "schedq: reading a" + eraseLine + "schedq: reading a" + eraseLine},
	} {
		var out strings.Builder
		began := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		ticks, done, ended := make(chan time.Time), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			l.write(&out, began, ticks, done)
		}()
		for _, at := range c.ticks {
			ticks <- began.Add(at)
		}
		close(done)
		<-ended
		if out.String() != c.want {
			t.Errorf("%q, want %q", out.String(), c.want)
		}
	}
}

// TestProgressWithoutTerminal: nothing is written to anything but a terminal.
func TestProgressWithoutTerminal(t *testing.T) {
	var out strings.Builder
	l := StartProgress(&out, "reading", "a")
	l.Report(0.5)
	l.Stop()
	l.Stop()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}
