package timeline

import (
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestReleaseOfRecording: the queue follows the rules of the recorded release, and in a rerun those of the release that the
// user names.
func TestReleaseOfRecording(t *testing.T) {
	var c world.Cluster
	c.Started(1)
	c.Add(2, &sources.SchedulerRunning{Release: "v1.31.4"})
	c.Add(3, &sources.SchedulerRunning{Release: "v1.37.1"}) // an upgrade
	rec := c.Recording(4)
	if s := RecordedScheduler(rec); s == nil || s.Release != "v1.31.4" || s.PodMaxBackoff >= 0 {
		t.Errorf("the scheduler is %+v", s)
	}
	if name := (Options{}).ReleaseFor(rec); name != "v1.31" {
		t.Errorf("the queue follows %s", name)
	}
	if name := (Options{}).ReleaseFor(&sources.Recording{}); name != "v1.37" {
		t.Errorf("the queue of a recording of unknown release follows %s", name)
	}
	for _, c := range []struct {
		release string
		want    queue.Rules
	}{
		{"", queue.Rules{Waking: queue.ByRegisteredEvents, MoveRequestCycle: true, Updating: queue.UpdateRequeues, BackoffByAttempts: true,
			OneBackoffQ: true, BackoffEndsAtExpiry: true, Gating: queue.NotBySchedulingGates, NominationEnd: queue.WakesNever, Labels: queue.LabelsLegacy}},
		{"v1.35", queue.Rules{Gating: queue.GatingEvents, Labels: queue.LabelsUnschedulablePod}},
	} {
		again := *rec
		again.Rerun = c.release != ""
		cfg, err := Options{Release: c.release}.SchedulerConfig(&again)
		if err != nil || cfg.Queue.Rules != c.want {
			t.Errorf("%q: %v, the rules are %+v, want %+v", c.release, err, cfg.Queue.Rules, c.want)
		}
	}
}

// TestAsyncAPICallsOfRecording: SchedulerAsyncAPICalls has the default of the recorded patch release, unless its log contains
// the gate.
func TestAsyncAPICallsOfRecording(t *testing.T) {
	for _, c := range []struct {
		version sources.SafeText
		gates   map[string]bool
		release string
		want    bool
	}{
		{version: "v1.34.1", want: true},
		{version: "v1.34.2-gke.100", want: false},
		{version: "v1.35.0", want: true},
		{version: "v1.35.1", want: false},
		{version: "v1.36.1", want: false},
		{version: "v1.35.0", gates: map[string]bool{"SchedulerAsyncAPICalls": false}, want: false},
		{version: "v1.36.1", gates: map[string]bool{"SchedulerAsyncAPICalls": true}, want: true},
		{version: "v1.35.0", release: "v1.35", want: false}, // any patch release of it
	} {
		rec := &sources.Recording{Rerun: c.release != "", Events: []sources.Event{{Time: world.At(1), Fact: &sources.SchedulerStarted{Release: c.version, Gates: c.gates}}}}
		cfg, err := Options{Release: c.release}.SchedulerConfig(rec)
		if err != nil || cfg.AsyncAPICalls != c.want {
			t.Errorf("%s %v %s: %v, %v", c.version, c.gates, c.release, cfg.AsyncAPICalls, err)
		}
	}
}
