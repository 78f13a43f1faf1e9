package report

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Coverage describes which facts of one kind a recording contains.
type Coverage struct {
	// Facts names the kind, and Found what the recording contains.
	Facts, Found string
	// Cost is the effect of missing facts, and Fix the simplest way to record them. Both are empty if
	// nothing is missing, or nothing needs the facts.
	Cost, Fix string
}

// CoverageTally counts the facts of a recording. See NewCoverageTally.
type CoverageTally struct {
	pods, nodes, failures, patches, requests, starts, moves int
	lowest, highest                                         int // known verbosity of the scheduler log, or -1
	before                                                  bool
}

// Rows returns the coverage of all kinds of facts. The costs were measured on recordings with complete
// data: see docs/development/accuracy.md.
func (t *CoverageTally) Rows() []Coverage {
	rows := []Coverage{
		t.objects(),
		t.log(),
	}
	if t.moves > 0 && t.lowest < 0 || !t.modelled() {
		return rows // no moves are modelled
	}
	if t.lowest < sources.AttemptsVerbosity {
		rows = append(rows,
			coverageOf(t.failures > 0, "Events of failed attempts", words.Plural(t.failures, "attempt"),
				"4.6 % of modelled moves are wrong instead of 2.7 % (one recording)", "audit events written by system:kube-scheduler at level RequestResponse"),
			coverageOf(t.patches > 0, "responses to the scheduler's patches", words.Plural(t.patches, "response"),
				"the end of a failed attempt is only known to some milliseconds", "audit pods/status at level RequestResponse"))
	}
	return append(rows,
		coverageOf(t.requests > 0, "times of the scheduler's requests", words.Plural(t.requests, "request"),
			"with many pods waiting, every second modelled move is wrong instead of every eleventh (one recording)", "audit all requests of system:kube-scheduler at level Metadata"),
		coverageOf(t.starts > 0, "the scheduler's start", words.Plural(t.starts, "time"),
			"without SchedulerPopFromBackoffQ, backoffs end up to a second early or late until the next attempt is observed", "audit system:kube-scheduler's lease at level Metadata, or add a log from before its start"),
		coverageOf(t.before || t.starts > 0, "objects that existed before", "known",
			sources.WorthUnseeded, "add a seed: schedq seed, or kubectl get -o json from about that time (docs/use/recordings.md)"))
}

// objects returns the coverage of pods and nodes.
func (t *CoverageTally) objects() Coverage {
	c := coverageOf(t.modelled(), "changes of pods and nodes", words.Plural(t.pods, "change")+" of pods, "+fmt.Sprint(t.nodes)+" of nodes",
		"moves can't be modelled; priorities, labels and nodes are unknown", "record an audit log with pods and nodes at level RequestResponse")
	switch {
	case t.nodes == 0 && t.pods > 0:
		c.Found, c.Cost = words.Plural(t.pods, "change")+" of pods, none of nodes", "no node is known: attempts can't be modelled"
		c.Fix = "add a seed: schedq seed, or kubectl get nodes -o json from about that time (docs/use/recordings.md)"
	case t.nodes > 0 && t.pods == 0:
		c.Found = "none of pods, " + fmt.Sprint(t.nodes) + " of nodes"
	}
	return c
}

func coverageOf(present bool, facts, found, cost, fix string) Coverage {
	if present {
		return Coverage{Facts: facts, Found: found}
	}
	return Coverage{facts, "none", cost, fix}
}

// modelled reports whether moves can be modelled: the recording has pods and nodes.
func (t *CoverageTally) modelled() bool { return t.pods > 0 && t.nodes > 0 }

// log returns the coverage of the scheduler log.
func (t *CoverageTally) log() Coverage {
	const (
		facts  = "scheduler log"
		beside = sources.WorthWithLog + " (under policies like EKS', " + sources.WorthOfCloudWithLog + ")"
		alone  = "without a log " + sources.WorthOfAudit + " (under policies like EKS', " + sources.WorthOfCloud + "); with one at -v=2 " + beside
	)
	switch {
	case t.moves > 0 && t.lowest < 0:
		return Coverage{Facts: facts, Found: words.Plural(t.moves, "move")}
	case t.lowest >= 0 && t.lowest < sources.MovesVerbosity && !t.modelled(): // those figures are of logs beside an audit log
		return Coverage{facts, fmt.Sprintf("-v=%d, at least in part", t.lowest), "moves between attempts, and what caused them, are unknown",
			"PUT 5 to the running scheduler's /debug/flags/v to log every move"}
	case t.lowest < 0 && t.highest < 0 && !t.modelled():
		return Coverage{facts, "none", "no move is known", "add kube-scheduler's log of the same time, or an audit log (docs/use/platforms.md)"}
	case t.lowest < 0 && t.highest < 0:
		return Coverage{facts, "none", alone, "add kube-scheduler's log of the same time; -v=2, the usual setting, is enough (docs/use/platforms.md)"}
	case t.lowest < sources.AttemptsVerbosity:
		return Coverage{facts, fmt.Sprintf("-v=%d, at least in part", t.lowest), alone, "run it with -v=2, or PUT 5 to its /debug/flags/v"}
	case t.lowest < sources.MovesVerbosity:
		return Coverage{facts, fmt.Sprintf("-v=%d, at least in part", t.lowest), beside,
			"PUT 5 to the running scheduler's /debug/flags/v to log every move, which it does from v1.26 on"}
	}
	return Coverage{Facts: facts, Found: words.Plural(t.moves, "move")}
}

// NewCoverageTally returns the tally of an empty recording.
func NewCoverageTally() *CoverageTally { return &CoverageTally{lowest: -1, highest: -1} }

// Add counts an event.
func (t *CoverageTally) Add(ev sources.Event) {
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		switch f.Object.(type) {
		case *v1.Pod:
			t.pods++
		case *v1.Node:
			t.nodes++
		}
	case *sources.FailedAttempt:
		if !f.Log {
			t.failures++
		}
	case *sources.StatusPatched:
		t.patches++
	case *sources.Requested:
		t.requests++
	case *sources.SchedulerStarted:
		t.starts++
	case *sources.Attached:
		t.before = true
	case *sources.Move:
		t.moves++
	case *sources.Logged:
		t.highest = max(t.highest, f.Verbosity)
		if f.Verbosity >= 0 && f.Verbosity < sources.MovesVerbosity && (t.lowest < 0 || f.Verbosity < t.lowest) {
			t.lowest = f.Verbosity
		}
	}
}
