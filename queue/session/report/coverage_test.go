package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestCoverage: missing facts have a cost and a fix; a recording with all moves needs nothing
// else.
func TestCoverage(t *testing.T) {
	cluster := func(facts ...sources.Fact) *sources.Recording {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("n", "1"), nil)
		world.Change(&c, 2, sources.Added, world.PendingPod("a", "1"), nil)
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
		lacks string // the missing facts, each with the alternative
		rows  int
	}{
		{"an audit log", cluster(all...), "scheduler log: none", 7},
		{"of a policy that leaves the scheduler out", cluster(), "scheduler log: none; Events of failed attempts: none; responses to the scheduler's patches: none; times of the scheduler's requests: none; the scheduler's start: none; objects that existed before: none", 7},
		{"with a seed", cluster(&sources.Attached{}, logOf(2)), "scheduler log: -v=2, at least in part; times of the scheduler's requests: none; the scheduler's start: none", 5},
		{"with a log of errors", cluster(append(all, logOf(0))...), "scheduler log: -v=0, at least in part", 7},
		{"with all moves", cluster(move), "", 2},
		{"with all moves, live", cluster(logOf(5), move), "", 2},
		{"a log of 2 alone", &sources.Recording{Events: []sources.Event{{Time: time.Now(), Fact: logOf(2)}}}, "changes of pods and nodes: none; scheduler log: -v=2, at least in part", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lacks []string
			tally := report.NewCoverageTally()
			for _, ev := range c.rec.Events {
				tally.Add(ev)
			}
			rows := tally.Rows()
			for _, w := range rows {
				if (w.Cost == "") != (w.Fix == "") {
					t.Errorf("%+v", w)
				}
				if w.Cost != "" {
					lacks = append(lacks, w.Facts+": "+w.Found)
				}
			}
			if got := strings.Join(lacks, "; "); got != c.lacks || len(rows) != c.rows {
				t.Errorf("%d rows, missing %q, want %d and %q", len(rows), got, c.rows, c.lacks)
			}
		})
	}
}
