package report

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Worth is a kind of facts that logs may have, and what of it a recording has.
type Worth struct {
	// Facts names them, and Here says what there is of them.
	Facts, Here string
	// Costs is what it costs that they are not there, and Helps the shortest change that would bring them. Both are empty if
	// they are there, or nothing needs them.
	Costs, Helps string
}

// WorthTally counts what a recording tells. See NewWorthTally.
type WorthTally struct {
	pods, nodes, failures, patches, requests, starts, moves int
	lowest, highest                                         int // verbosity of the scheduler's log where it is known. -1 if none
	before                                                  bool
}

// Worth returns the facts that the recording has and lacks. The costs are those measured in docs/development/accuracy.md.
func (t *WorthTally) Worth() []Worth {
	rows := []Worth{
		lacking(t.pods > 0 && t.nodes > 0, "pods and nodes as they became", words.Times(t.pods, "change")+" of pods, "+fmt.Sprint(t.nodes)+" of nodes",
			"no move can be modelled, and no priority, label or node is known", "an audit log with pods and nodes at level RequestResponse"),
		t.log(),
	}
	if t.moves > 0 && t.lowest < 0 || t.pods == 0 {
		return rows // nothing is modelled
	}
	if t.lowest < sources.AttemptsVerbosity {
		rows = append(rows,
			lacking(t.failures > 0, "failed attempts, by their Events", words.Times(t.failures, "attempt"),
				"4.6 % of the model's moves are ones that the scheduler did not make, instead of 2.7 (one recording)", "level RequestResponse for events that system:kube-scheduler writes"),
			lacking(t.patches > 0, "answers to the scheduler's patches", words.Times(t.patches, "answer"),
				"when the loop went on after a failed attempt is known to some milliseconds only", "level RequestResponse for pods/status"))
	}
	return append(rows,
		lacking(t.requests > 0, "when the scheduler's requests came", words.Times(t.requests, "request"),
			"in crowds every second move of the model is one too many, instead of every eleventh (one recording)", "level Metadata for all that system:kube-scheduler does"),
		lacking(t.starts > 0, "when the scheduler began", words.Times(t.starts, "time"),
			"without SchedulerPopFromBackoffQ, a backoff's end is up to a second off, until its pod is seen to be tried", "level Metadata for system:kube-scheduler's lease, or a log from before it began"),
		lacking(t.before || t.starts > 0, "what was there before", "known",
			sources.WorthUnseeded, "a seed: schedq seed, or kubectl get -o json of about that time (docs/use/recordings.md)"))
}

func lacking(there bool, facts, here, costs, helps string) Worth {
	if there {
		return Worth{Facts: facts, Here: here}
	}
	return Worth{facts, "none", costs, helps}
}

// log says what there is of the scheduler's log.
func (t *WorthTally) log() Worth {
	const (
		facts  = "the scheduler's log"
		beside = sources.WorthWithLog + " (under policies like EKS', " + sources.WorthOfCloudWithLog + ")"
		alone  = "without it " + sources.WorthOfAudit + " (under policies like EKS', " + sources.WorthOfCloud + "); with one of -v=2 " + beside
	)
	switch {
	case t.moves > 0 && t.lowest < 0:
		return Worth{Facts: facts, Here: words.Times(t.moves, "move")}
	case t.lowest < 0 && t.highest < 0:
		return Worth{facts, "none", alone, "kube-scheduler's log of the same time, at the -v=2 that most run with (docs/use/platforms.md)"}
	case t.lowest < sources.AttemptsVerbosity:
		return Worth{facts, fmt.Sprintf("-v=%d, in part at least", t.lowest), alone, "-v=2, or a PUT of 5 to the running scheduler's /debug/flags/v"}
	case t.lowest < sources.MovesVerbosity:
		return Worth{facts, fmt.Sprintf("-v=%d, in part at least", t.lowest), beside,
			"a PUT of 5 to the running scheduler's /debug/flags/v: then every move is told"}
	}
	return Worth{Facts: facts, Here: words.Times(t.moves, "move")}
}

// NewWorthTally returns the tally of a recording of which no event was told.
func NewWorthTally() *WorthTally { return &WorthTally{lowest: -1, highest: -1} }

// Add counts an event.
func (t *WorthTally) Add(ev sources.Event) {
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
