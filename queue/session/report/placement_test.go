package report

import (
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// packing is a configuration that fills the fullest node first.
const packing = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}]
  plugins:
    score:
      disabled: [{name: NodeResourcesBalancedAllocation}, {name: PodTopologySpread}]
`

// TestComparePlacement: six pods of 1 CPU, spread over three nodes of 4, or packed on them.
func TestComparePlacement(t *testing.T) {
	var c world.Cluster
	for _, name := range []string{"a", "b", "c"} {
		node := world.Node(name, "4")
		node.Labels = map[string]string{v1.LabelTopologyZone: "zone-" + name}
		world.Change(&c, 0, sources.Added, node, nil)
		agent := world.PendingPod("agent-"+name, "100m")
		agent.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", Controller: new(bool)}}
		*agent.OwnerReferences[0].Controller = true
		agent.Spec.NodeName = name
		world.Change(&c, 0, sources.Added, agent, nil)
	}
	for i, name := range []string{"p1", "p2", "p3", "p4", "p5", "p6"} {
		world.Change(&c, float64(i+1), sources.Added, world.PendingPod(name, "1"), nil)
	}
	gone := world.Change(&c, 20, sources.Added, world.PendingPod("short", "100m"), nil)
	world.Change(&c, 40, sources.Deleted, gone, nil)
	path := filepath.Join(t.TempDir(), "packing.yaml")
	if err := os.WriteFile(path, []byte(packing), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := schedulerconfig.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compare(t.Context(), c.Recording(60), timeline.Options{}, timeline.Options{Scheduler: cfg})
	if err != nil {
		t.Fatal(err)
	}
	p := got.Placement
	if p == nil || p.Fullest == nil {
		t.Fatal("the placement is not compared")
	}
	if p.BoundInBoth != 7 || len(p.Moved) == 0 || len(p.Moved) > 6 {
		t.Errorf("%d pods are bound in both runs, %d of them on another node", p.BoundInBoth, len(p.Moved))
	}
	from, to := 0, 0
	for i, n := range p.Nodes {
		if zone := p.Zones[i]; string(zone.Name) != "zone-"+string(n.Name) || zone.From != n.From || zone.To != n.To {
			t.Errorf("node %+v, but zone %+v", n, zone)
		}
		from, to = from+n.From, to+n.To
	}
	if len(p.Nodes) != 3 || from != 7 || to != 7 {
		t.Errorf("bound to nodes: %+v", p.Nodes)
	}
	rows := map[string]Row{}
	for _, r := range p.Fullest.Rows() {
		rows[r.Text] = r
	}
	for _, want := range []Row{
		{"cpu requested", "53 %", "53 %"},                   // 6.4 of 12
		{"  emptiest to fullest node", "52–55 %", "2–80 %"}, // 3 pods of 1 CPU fit beside the agent
		{"  free where the median pod does not fit", "0 of 5.6", "1.7 of 5.6"},
		{"nodes without workload pods", "0", "1"},
	} {
		if got := rows[want.Text]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := p.Fullest.Median(); got != "1 cpu" {
		t.Errorf("the median pod requests %s", got)
	}
}

// TestComparePlacementNowhere: no placement is compared of pods that are not bound.
func TestComparePlacementNowhere(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 0, sources.Added, world.PendingPod("web", "1"), nil)
	got, err := Compare(t.Context(), c.Recording(30), timeline.Options{}, timeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Placement != nil {
		t.Errorf("%+v", got.Placement)
	}
}
