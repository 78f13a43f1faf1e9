package evidence

import (
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// second returns the time so many seconds after start.
func second(n float64) time.Time { return start.Add(time.Duration(n * float64(time.Second))) }

func podsGap(since, until float64) sources.Status {
	gap := sources.Gap{Since: second(since)}
	if until > 0 {
		gap.Until = second(until)
	}
	return sources.Status{Resources: []sources.Resource{{Name: "pods", Gap: gap}, {Name: "nodes"}}}
}

// TestWorking: a gap is known from its start, and for a while after its end.
func TestWorking(t *testing.T) {
	var g Gaps
	g.Update(second(5), podsGap(4.9, 0))
	if g.Working(second(4.8), time.Second, "pods") || !g.Working(second(4.7), 0.1e9, "pods") || g.Working(second(100), 0, "nodes", "pods") || !g.Working(second(6), 0, "nodes") {
		t.Error("the open gap is wrong")
	}
	if g.WorkingExcept(second(6), 0, "events") || !g.WorkingExcept(second(6), 0, "pods") {
		t.Error("all but the pods watch work")
	}
	g.Update(second(8), podsGap(4.9, 7.9))
	if g.Working(second(7.95), 0, "pods") || !g.Working(second(8.1), time.Hour, "pods") {
		t.Error("the closed gap is wrong")
	}
	g.Update(second(9), podsGap(8.5, 8.6))
	if gap, some := g.Next(second(5), "pods"); !some || !gap.Since.Equal(second(4.9)) {
		t.Errorf("the first gap is %v", gap)
	}
	if gap, some := g.Next(second(8.2), "pods"); !some || gap != (sources.Gap{Since: second(8.5), Until: second(8.6)}) {
		t.Errorf("the second gap is %v", gap)
	}
	g.Update(second(100), podsGap(99, 0))
	if n := len(g.byResource["pods"]); n != 1 {
		t.Errorf("%d gaps are kept, want 1", n)
	}
}

// TestStale: while the connection to the cluster is lost, no watch works.
func TestStale(t *testing.T) {
	var g Gaps
	g.Update(second(5), sources.Status{StaleSince: second(4)})
	g.Update(second(6), sources.Status{StaleSince: second(3)})
	if g.Working(second(3.5), 0, "pods") || g.Working(second(6), 0) {
		t.Error("a watch works without a connection")
	}
	g.Update(second(7), sources.Status{})
	if g.Working(second(6.9), 0, "pods") || !g.Working(second(7.2), 0, "pods") {
		t.Error("the watches do not work from 7 s on")
	}
}
