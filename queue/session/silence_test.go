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

// TestSilence: a recording in which the schedulers' lease lapses for a while. The frame, the report and the explanation of a pod
// say so, and no pod is tried in that time.
func TestSilence(t *testing.T) {
	var c world.Cluster
	node := world.Happens(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	old := c.Stuck(2, "old")
	c.Add(20, &sources.Silent{Since: world.At(18)})
	world.Happens(&c, 30, sources.Updated, node, func(n *v1.Node) { world.Cpu(n, "2") })
	c.Add(60, &sources.Silent{})
	c.Recorded(60.02, old, 1)
	world.Happens(&c, 70, sources.Updated, node, func(n *v1.Node) { world.Cpu(n, "3") })
	rec := c.Recording(80)

	r, err := report.Summarize(t.Context(), rec, timeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Silences) != 1 || r.Silences[0].Said != "No scheduler is heard to work since 12:00:18, until 12:01:00." {
		t.Errorf("the report says %+v", r.Silences)
	}
	if r.Attempts.Total != 2 {
		t.Errorf("%d attempts, want the one at 12:00:02 and the one at 12:01:00", r.Attempts.Total)
	}
	again, err := model.Rerun(rec, "")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := report.Summarize(t.Context(), again, timeline.Options{}); err != nil || len(r.Silences) != 0 {
		t.Errorf("%v, of a scheduler that runs here, the report says %+v", err, r.Silences)
	}
	for at, want := range map[float64]string{10: "", 19: "", 40: "No scheduler is heard to work since 12:00:18", 65: ""} {
		x, err := session.ExplainPod(t.Context(), rec, timeline.Options{}, world.Key("old"), world.At(at))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(x.Why[0]); (want == "") != !strings.HasPrefix(got, "No scheduler") || !strings.HasPrefix(got, want) {
			t.Errorf("at %g s, it says %q, want %q", at, got, want)
		}
	}
}
