package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestWorth: of what a recording lacks, it is said what that costs, and what would help; where every move is told, nothing else
// is missed.
func TestWorth(t *testing.T) {
	cluster := func(facts ...sources.Fact) *sources.Recording {
		var c world.Cluster
		world.Happens(&c, 1, sources.Added, world.Node("n", "1"), nil)
		world.Happens(&c, 2, sources.Added, world.Wants("a", "1"), nil)
		for i, f := range facts {
			c.Add(float64(3+i), f)
		}
		return c.Recording(9)
	}
	logOf := func(verbosity int) sources.Fact { return &sources.Logged{Verbosity: verbosity} }
	move := &sources.Move{Pod: world.Key("a"), To: sources.TierActive}
	all := []sources.Fact{&sources.FailedAttempt{Pod: world.Key("a")}, &sources.StatusPatched{Pod: world.Key("a")}, &sources.Requested{}, &sources.SchedulerStarted{}}
	for _, c := range []struct {
		name  string
		rec   *sources.Recording
		lacks string // the facts, each with what is there
		rows  int
	}{
		{"an audit log", cluster(all...), "the scheduler's log: none", 7},
		{"of a policy that leaves the scheduler out", cluster(), "the scheduler's log: none; failed attempts, by their Events: none; answers to the scheduler's patches: none; when the scheduler's requests came: none; when the scheduler began: none; what was there before: none", 7},
		{"with a seed", cluster(&sources.Attached{}, logOf(2)), "the scheduler's log: -v=2, in part at least; when the scheduler's requests came: none; when the scheduler began: none", 5},
		{"with a log of errors", cluster(append(all, logOf(0))...), "the scheduler's log: -v=0, in part at least", 7},
		{"with all moves", cluster(move), "", 2},
		{"with all moves, live", cluster(logOf(5), move), "", 2},
		{"a log of 2 alone", &sources.Recording{Events: []sources.Event{{Time: time.Now(), Fact: logOf(2)}}}, "pods and nodes as they became: none; the scheduler's log: -v=2, in part at least", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lacks []string
			tally := report.NewWorthTally()
			for _, ev := range c.rec.Events {
				tally.Add(ev)
			}
			rows := tally.Worth()
			for _, w := range rows {
				if (w.Costs == "") != (w.Helps == "") {
					t.Errorf("%+v", w)
				}
				if w.Costs != "" {
					lacks = append(lacks, w.Facts+": "+w.Here)
				}
			}
			if got := strings.Join(lacks, "; "); got != c.lacks || len(rows) != c.rows {
				t.Errorf("%d rows, it lacks %q, want %d and %q", len(rows), got, c.rows, c.lacks)
			}
		})
	}
}
