package channels

import (
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

func pods(since, until float64) sources.Status {
	gap := sources.Gap{Since: at(since)}
	if until > 0 {
		gap.Until = at(until)
	}
	return sources.Status{Resources: []sources.Resource{{Name: "pods", Unheard: gap}, {Name: "nodes"}}}
}

// TestHears: a gap is known as soon as it is told, from its beginning to its end and as long after that as what was missed takes.
func TestHears(t *testing.T) {
	var g Gaps
	g.Note(at(5), pods(4.9, 0))
	if g.Hears(at(4.8), time.Second, "pods") || !g.Hears(at(4.7), 0.1e9, "pods") || g.Hears(at(100), 0, "nodes", "pods") || !g.Hears(at(6), 0, "nodes") {
		t.Error("it lasts")
	}
	if g.HearsAllBut(at(6), 0, "events") || !g.HearsAllBut(at(6), 0, "pods") {
		t.Error("not all is heard, but all that is not pods")
	}
	g.Note(at(8), pods(4.9, 7.9))
	if g.Hears(at(7.95), 0, "pods") || !g.Hears(at(8.1), time.Hour, "pods") {
		t.Error("it is over")
	}
	g.Note(at(9), pods(8.5, 8.6))
	if gap, some := g.Next(at(5), "pods"); !some || !gap.Since.Equal(at(4.9)) {
		t.Errorf("the first is %v", gap)
	}
	if gap, some := g.Next(at(8.2), "pods"); !some || gap != (sources.Gap{Since: at(8.5), Until: at(8.6)}) {
		t.Errorf("the second is %v", gap)
	}
	g.Note(at(100), pods(99, 0))
	if n := len(g.of["pods"]); n != 1 {
		t.Errorf("%d are kept", n)
	}
}

// TestStale: while nothing is heard at all, no watch is.
func TestStale(t *testing.T) {
	var g Gaps
	g.Note(at(5), sources.Status{StaleSince: at(4)})
	g.Note(at(6), sources.Status{StaleSince: at(3)})
	if g.Hears(at(3.5), 0, "pods") || g.Hears(at(6), 0) {
		t.Error("it is heard")
	}
	g.Note(at(7), sources.Status{})
	if g.Hears(at(6.9), 0, "pods") || !g.Hears(at(7.2), 0, "pods") {
		t.Error("it is heard since 7")
	}
}
