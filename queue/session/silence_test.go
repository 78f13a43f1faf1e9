package session_test

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/report"
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
	if len(r.Silences) != 1 || r.Silences[0].Sentence != "No scheduler is heard to work since 12:00:18, until 12:01:00." {
		t.Errorf("the report has %+v", r.Silences)
	}
	if r.Attempts.Total != 2 {
		t.Errorf("%d attempts, want the one at 12:00:02 and the one at 12:01:00", r.Attempts.Total)
	}
	again, err := model.Rerun(rec, "")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := report.Summarize(t.Context(), again, timeline.Options{}); err != nil || len(r.Silences) != 0 {
		t.Errorf("%v, with a local scheduler the report contains %+v", err, r.Silences)
	}
	for at, want := range map[float64]string{10: "", 19: "", 40: "No scheduler is heard to work since 12:00:18", 65: ""} {
		x, err := session.ExplainPod(t.Context(), rec, timeline.Options{}, world.Key("old"), world.At(at))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(x.Why[0]); (want == "") != !strings.HasPrefix(got, "No scheduler") || !strings.HasPrefix(got, want) {
			t.Errorf("at %g s, got %q, want %q", at, got, want)
		}
	}
}
