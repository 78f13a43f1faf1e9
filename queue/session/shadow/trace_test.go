package shadow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// rules are brief words for why the model made a move.
var rules = map[reason.Rule]string{reason.InOrder: "(turn)", reason.OutOfOrder: "(passing)", reason.ByFailure: "(failure)", reason.ByRequests: "(requests)",
	reason.Replacement: "(in place)", reason.ByCatchingUp: "(behind)", reason.ByOutcome: "(outcome)", reason.NotTried: "(not tried)", reason.NotBound: "(not bound)",
	reason.ByDump: "(dump)"}

// traced plays rec to its end and tells all that the model makes of it after so many seconds, to the millisecond: "2.001 web inflight"
// is a move, with its event, its plugins and node, how long its attempt took, and why the model made it. Of a rerun, which writes to its cluster, the changes of pods are told, too.
func traced(t *testing.T, rec *sources.Recording, cfg *schedulerconfig.Config, after float64) string {
	t.Helper()
	f := shadow.NewFeed(rec, cfg)
	t.Cleanup(f.Close)
	for i := 0; f.HasEvent(i); i++ {
	}
	if f.Err != nil {
		t.Fatal(f.Err)
	}
	if !slices.IsSortedFunc(f.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) }) {
		t.Error("what it tells is not in the order of time")
	}
	told := map[sources.Fact]bool{}
	for _, ev := range f.Events {
		if c, ok := ev.Fact.(*sources.ObjectChange); ok && told[c] {
			t.Errorf("a change of %T is told twice", c.Object)
		}
		told[ev.Fact] = true
	}
	return traceOf(f, after, rec.Rerun)
}

// traceOf is what traced tells, of a feed that was played.
func traceOf(f *shadow.Feed, after float64, writes bool) string {
	var said strings.Builder
	tell := func(ev sources.Event, words ...string) {
		if ev.Time.Before(world.At(after)) {
			return
		}
		fmt.Fprintf(&said, "%.3f %s\n", ev.Time.Sub(world.At(0)).Seconds(), strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	for _, ev := range f.Events {
		switch fact := ev.Fact.(type) {
		case *shadow.Move:
			words := []string{fact.Pod.Name, string(fact.To), fact.Event, strings.Join(fact.Plugins, ","), fact.Node}
			if fact.Verdict != nil {
				words = append(words, "in "+fact.Verdict.Took.Round(10*time.Microsecond).String())
			}
			if fact.Estimate != nil {
				words = append(words, fmt.Sprintf("after %d", fact.Estimate.Attempts))
			}
			if !fact.Expiry.IsZero() {
				words = append(words, fmt.Sprintf("until %.3f", fact.Expiry.Sub(world.At(0)).Seconds()))
			}
			if fact.Restated {
				words = append(words, "restated")
			}
			if fact.Because != nil && fact.Because.Rule != reason.ByQueue {
				words = append(words, rules[fact.Because.Rule])
			}
			tell(ev, words...)
		case *sources.Silent:
			tell(ev, "silent", fact.Profile)
		case *sources.ObjectChange:
			if pod, ok := fact.Object.(*v1.Pod); ok && writes {
				tell(ev, pod.Name+":", stateOf(fact.Verb, pod))
			}
		}
	}
	return said.String()
}

// stateOf says what a change of a pod comes to.
func stateOf(verb sources.Verb, pod *v1.Pod) string {
	switch {
	case verb == sources.Deleted:
		return "gone"
	case pod.DeletionTimestamp != nil:
		return "going"
	case pod.Spec.NodeName != "":
		return "on " + pod.Spec.NodeName
	case pod.Status.NominatedNodeName != "":
		return "nominated to " + pod.Status.NominatedNodeName
	case cluster.Unscheduled(pod) != nil:
		return "rejected"
	}
	return "waits"
}

// says fails the test unless got is want, whose lines may be indented.
func says(t *testing.T, got, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(want)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if got = strings.TrimSpace(got); got != strings.Join(lines, "\n") {
		t.Errorf("it goes\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}
