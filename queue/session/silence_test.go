package session_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSilence: while the schedulers' lease has lapsed, the frame, the report and the explanation say so,
// and no pod is tried.
func TestSilence(t *testing.T) {
	var c world.Cluster
	node := world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	old := c.AddStuck(2, "old")
	c.Add(20, &sources.Silent{Since: world.At(18)})
	world.Change(&c, 30, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, "2") })
	c.Add(60, &sources.Silent{})
	c.Recorded(60.02, old, 1)
	world.Change(&c, 70, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, "3") })
	rec := c.Recording(80)

	r, err := report.Summarize(t.Context(), rec, timeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Silences) != 1 || r.Silences[0].Sentence != "No sign of a scheduler since 12:00:18, until 12:01:00." {
		t.Errorf("the report has %+v", r.Silences)
	}
	if r.Attempts.Total != 2 {
		t.Errorf("%d attempts, want the one at 12:00:02 and the one at 12:01:00", r.Attempts.Total)
	}
	again, err := shadow.Rerun(rec, "")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := report.Summarize(t.Context(), again, timeline.Options{}); err != nil || len(r.Silences) != 0 {
		t.Errorf("%v, with a local scheduler the report contains %+v", err, r.Silences)
	}
	for at, want := range map[float64]string{10: "", 19: "", 40: "No sign of a scheduler since 12:00:18", 65: ""} {
		x, err := session.ExplainPod(t.Context(), rec, timeline.Options{}, world.Key("old"), world.At(at))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(x.Why[0]); (want == "") != !strings.HasPrefix(got, "No sign") || !strings.HasPrefix(got, want) {
			t.Errorf("at %g s, got %q, want %q", at, got, want)
		}
	}
}

// TestSchedulerEnds: a log that says that its scheduler shut down ends the recording for every command. What follows is
// labelled, until another scheduler works.
func TestSchedulerEnds(t *testing.T) {
	rec := world.SmallRecording()
	ended := sources.Event{Time: world.At(13), Fact: &sources.Silent{Since: world.At(13), Ended: true}}
	late := rec.Events[len(rec.Events)-1]
	rec.Events = append(rec.Events[:len(rec.Events)-1:len(rec.Events)-1], ended)
	rec.End = world.At(300)

	if at := timeline.LastMoment(rec); !at.Equal(world.At(13)) {
		t.Errorf("the last moment is %s", at)
	}
	const shutDown = "The scheduler shut down at 12:00:13.000, according to its log. Next tries assume that it kept running."
	for at, want := range map[float64]string{12.9: "", 13: shutDown, 200: shutDown} {
		l, err := session.ListPods(t.Context(), rec, timeline.Options{}, world.At(at))
		if err != nil {
			t.Fatal(err)
		}
		x, err := session.ExplainPod(t.Context(), rec, timeline.Options{}, world.Key("batch-1"), world.At(at))
		if err != nil {
			t.Fatal(err)
		}
		if l.Silence != want || (l.SchedulerEnded == nil) != (want == "") || !l.Time.Equal(world.At(at)) {
			t.Errorf("at %g s, the list says %q, ended %v, at %s", at, l.Silence, l.SchedulerEnded, l.Time)
		}
		if got := string(x.Why[0]); (got == shutDown) != (want == shutDown) || (x.SchedulerEnded == nil) != (want == "") {
			t.Errorf("at %g s, the explanation says %q, ended %v", at, got, x.SchedulerEnded)
		}
	}
	r, err := report.Summarize(t.Context(), rec, timeline.Options{})
	if err != nil || !r.End.Equal(world.At(13)) || r.SchedulerEnded == nil || len(r.Silences) > 0 || r.Longest[0].Waited != report.Seconds(3*time.Second) {
		t.Errorf("%v, the report ends at %s, %+v", err, r.End, r)
	}

	synctest.Test(t, func(t *testing.T) {
		s := session.New(rec, timeline.Options{Paused: true})
		go s.Run(t.Context())
		s.SeekEnd()
		if f := s.Sync(); !f.Now.Equal(world.At(13)) || f.Silent == nil || !f.Silent.Ended {
			t.Errorf("the end is %s, silent %v", f.Now, f.Silent)
		}
		s.SeekEnd()
		if f := s.Sync(); !f.Now.Equal(world.At(300)) || !f.AtEnd {
			t.Errorf("the end of the recording is %s", f.Now)
		}
	})

	rec.Events = append(rec.Events, late)
	if at := timeline.LastMoment(rec); !at.Equal(world.At(300)) {
		t.Errorf("although another scheduler works, the last moment is %s", at)
	}
	l, err := session.ListPods(t.Context(), rec, timeline.Options{}, world.At(260))
	if err != nil || l.Silence != "" {
		t.Errorf("%v, although another scheduler works, the list says %q", err, l.Silence)
	}
}
