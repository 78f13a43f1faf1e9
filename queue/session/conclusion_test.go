package session

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// fleet adds nodes, each with the edit of its name.
func fleet(c *world.Cluster, cpu string, edits map[string]func(*v1.Node), names ...string) {
	for i, name := range names {
		world.Change(c, 1+float64(i)/100, sources.Added, world.Node(name, cpu), edits[name])
	}
}

func running(c *world.Cluster, name, cpu, node string, edit func(*v1.Pod)) {
	world.Change(c, 1.5, sources.Added, world.PendingPod(name, cpu), func(p *v1.Pod) {
		p.Spec.NodeName = node
		if edit != nil {
			edit(p)
		}
	})
}

func withLabel(key, value string) func(*v1.Node) {
	return func(n *v1.Node) { n.Labels[key] = value }
}

func dedicated(n *v1.Node) {
	n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "infra", Effect: v1.TaintEffectNoSchedule}}
}

func cordoned(n *v1.Node) {
	n.Spec.Unschedulable = true
	n.Spec.Taints = []v1.Taint{{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}}
}

// TestConclusions: the cause, the closest fix and the next try, for each kind of rejection.
func TestConclusions(t *testing.T) {
	appDB := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	db := func(p *v1.Pod) { p.Labels = appDB.MatchLabels }
	for name, c := range map[string]struct {
		build            func(c *world.Cluster)
		reason           string
		cause, fix, next string
	}{
		"no nodes": {
			func(c *world.Cluster) { world.Change(c, 2, sources.Added, world.PendingPod("web", "1"), nil) },
			"Queued", "It has not been tried yet.", "", "It is tried next.",
		},
		"resources": {
			func(c *world.Cluster) {
				fleet(c, "4", nil, "a", "b")
				running(c, "x", "3", "a", nil)
				running(c, "y", "3500m", "b", nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			},
			"InsufficientResources", "No node has 2 CPUs free.", "Closest: a needs only 1 more CPU.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 2 CPUs free is added, or a frees 1 CPU.",
		},
		"fragmented": {
			func(c *world.Cluster) {
				fleet(c, "4", nil, "a", "b")
				running(c, "x", "2", "a", nil)
				running(c, "y", "1", "b", nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "4"), nil)
			},
			"Fragmented", "No node has 4 CPUs free. Enough in total: 5 CPUs free on 2 nodes, but at most 3 CPUs on one.", "Closest: b needs only 1 more CPU.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 4 CPUs free is added, or b frees 1 CPU.",
		},
		"too small": {
			func(c *world.Cluster) {
				fleet(c, "4", nil, "a", "b")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "6"), nil)
			},
			"NodesTooSmall", "No node has 6 CPUs free. None is large enough even when empty: the largest has 4 CPUs.",
			"No existing node can be made to fit: add a node with 6 CPUs free.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 6 CPUs free is added.",
		},
		"not offered": {
			func(c *world.Cluster) {
				fleet(c, "4", nil, "a", "b")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "1"), func(p *v1.Pod) {
					p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
				})
			},
			"ResourceNotOffered", "No node offers nvidia.com/gpu.", "No existing node can be made to fit: add a node with 1 nvidia.com/gpu free.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 1 nvidia.com/gpu free is added.",
		},
		"label and resources": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"a": withLabel("disk", "ssd")}, "a", "b", "c")
				running(c, "x", "7", "a", nil)
				running(c, "y", "1", "b", nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "6"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
			},
			"NodeAffinity", "No node has both the label disk=ssd and 6 CPUs free.", "Closest: b needs only the label disk=ssd.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with the label disk=ssd and 6 CPUs free is added, or b gets the label disk=ssd.",
		},
		"affinity": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"a": withLabel("zone", "z9")}, "a")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "6"), func(p *v1.Pod) {
					p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
						NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
							{Key: "zone", Operator: v1.NodeSelectorOpIn, Values: []string{"z1", "z2"}}}}}}}}
				})
			},
			"NodeAffinity", "The only node does not have the label zone in (z1,z2).", "Closest: a needs only the label zone in (z1,z2).",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with the label zone in (z1,z2) is added, or a gets the label zone in (z1,z2).",
		},
		// A node in another zone can't be moved to this one, so the tainted node is the closest.
		"zone": {
			func(c *world.Cluster) {
				zone3 := func(n *v1.Node) { dedicated(n); withLabel(v1.LabelTopologyZone, "z3")(n) }
				fleet(c, "8", map[string]func(*v1.Node){"a": withLabel(v1.LabelTopologyZone, "z1"), "b": zone3}, "a", "b")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "6"), func(p *v1.Pod) {
					p.Spec.NodeSelector = map[string]string{v1.LabelTopologyZone: "z3"}
				})
			},
			"UntoleratedTaints",
			"The only node with the label topology.kubernetes.io/zone=z3 has the untolerated taint dedicated=infra.",
			"Closest: b needs only its taint dedicated=infra removed or tolerated.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with the label topology.kubernetes.io/zone=z3 is added, or b loses the taint dedicated=infra or the pod tolerates it.",
		},
		"taints and cordons": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"a": dedicated, "b": dedicated, "c": cordoned}, "a", "b", "c", "d")
				running(c, "x", "7", "d", nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			},
			"UntoleratedTaints",
			"Of the 3 nodes with 2 CPUs free, 2 have the untolerated taint dedicated=infra and 1 is cordoned.",
			"Closest: a needs only its taint dedicated=infra removed or tolerated.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 2 CPUs free is added, or a loses the taint dedicated=infra or the pod tolerates it.",
		},
		"cordoned": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"a": cordoned, "b": cordoned}, "a", "b")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			},
			"NodesCordoned", "All 2 nodes are cordoned.", "Closest: a needs only uncordoning.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node that can take it is added, or a is uncordoned.",
		},
		// Uncordoning a node is one change although two plugins reject it for that.
		"cordoned or full": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"b": cordoned}, "a", "b")
				running(c, "x", "7", "a", nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			},
			"NodesCordoned", "The only node with 2 CPUs free is cordoned.", "Closest: b needs only uncordoning.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 2 CPUs free is added, or b is uncordoned.",
		},
		"anti-affinity": {
			func(c *world.Cluster) {
				fleet(c, "8", nil, "a", "b")
				running(c, "db-0", "1", "a", db)
				running(c, "db-1", "1", "b", db)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) {
					p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
						{LabelSelector: appDB, TopologyKey: v1.LabelHostname}}}}
				})
			},
			"PodAffinity",
			"All 2 nodes are ruled out by its pod anti-affinity: app=db (per kubernetes.io/hostname). Conflicting pods: default/db-0 on a and default/db-1 on b.",
			"Closest: a needs only default/db-0 to leave.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node that can take it is added, or default/db-0 leaves a.",
		},
		"spread": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"a": withLabel("zone", "z1"), "b": withLabel("zone", "z2")}, "a", "b")
				running(c, "db-0", "1", "a", db)
				running(c, "full", "7500m", "b", nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) {
					db(p)
					p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: appDB}}
				})
			},
			"TopologySpread",
			"The only node with 2 CPUs free is ruled out by its topology spread. Matching pods per zone: z1 1, z2 0; maxSkew 1 leaves only z2.",
			"Closest: a needs only fewer matching pods in its domain.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node with 2 CPUs free is added in z2, or matching pods leave the domain of a.",
		},
		"port": {
			func(c *world.Cluster) {
				port := func(p *v1.Pod) { p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: 80}} }
				fleet(c, "8", nil, "a")
				running(c, "proxy", "1", "a", port)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), port)
			},
			"PortConflict", "The only node has host port 80 in use. Conflicting pods: default/proxy on a.", "Closest: a needs only default/proxy to leave.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node that can take it is added, or default/proxy leaves a.",
		},
		"claim": {
			func(c *world.Cluster) {
				fleet(c, "8", nil, "a")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) { world.Mount(p, "data") })
			},
			"ClaimNotReady", `PersistentVolumeClaim "data" does not exist.`, `Create PersistentVolumeClaim "data".`,
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if the claim is created.",
		},
		"unbound claim": {
			func(c *world.Cluster) {
				fleet(c, "8", nil, "a")
				immediate := storagev1.VolumeBindingImmediate
				world.Change(c, 1.5, sources.Added, &storagev1.StorageClass{
					ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "fast"}, Provisioner: "example.com/disk", VolumeBindingMode: &immediate,
				}, nil)
				world.Change(c, 1.6, sources.Added, world.PendingClaim("data", "fast"), nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) { world.Mount(p, "data") })
			},
			"ClaimNotReady", "PersistentVolumeClaim data is not bound.", "Check the claim's storage class and its provisioner.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if the claim is bound.",
		},
		"volume elsewhere": {
			func(c *world.Cluster) {
				fleet(c, "8", map[string]func(*v1.Node){"a": withLabel(v1.LabelTopologyZone, "z1")}, "a")
				claim := world.PendingClaim("data", "fast")
				claim.Spec.VolumeName, claim.Status.Phase = "pv-1", v1.ClaimBound
				claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
				world.Change(c, 1.6, sources.Added, claim, nil)
				world.Change(c, 1.7, sources.Added, &v1.PersistentVolume{
					ObjectMeta: metav1.ObjectMeta{Name: "pv-1", UID: types.UID("pv-1")},
					Spec: v1.PersistentVolumeSpec{NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
						MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{"z2"}}}}}}}},
				}, nil)
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) { world.Mount(p, "data") })
			},
			"VolumeConflict", "The only node can't use its volume. Volume pv-1 is only usable where topology.kubernetes.io/zone in z2.",
			"No existing node can be made to fit: add a node.",
			"Next try by about 12:05:32 (5 min timeout). Sooner, for example, if a node that can take it is added.",
		},
		"gate": {
			func(c *world.Cluster) {
				fleet(c, "8", nil, "a")
				world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) {
					p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}, {Name: "example.com/quota"}}
				})
			},
			"Gated", "Held by the scheduling gates kueue.x-k8s.io/admission and example.com/quota.", "Kueue removes it when it admits the workload.",
			"Not tried until all gates are removed.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var cluster world.Cluster
			c.build(&cluster)
			x := explained(t, cluster.Recording(20), "web", 2.5)
			if x.Conclusion == nil {
				t.Fatalf("there is no conclusion: %+v", x)
			}
			got := *x.Conclusion
			for _, s := range []struct{ what, got, want string }{
				{"reason", string(got.Reason), c.reason}, {"cause", string(got.Cause), c.cause},
				{"fix", string(got.Fix), c.fix}, {"next try", string(got.Next), c.next},
			} {
				if s.got != s.want {
					t.Errorf("the %s is\n  %s\nwant\n  %s", s.what, s.got, s.want)
				}
			}
		})
	}
}

// TestNodesChanged: the evidence counts the nodes of the last attempt, the diagnosis those of the moment.
func TestNodesChanged(t *testing.T) {
	c := &world.Cluster{}
	fleet(c, "1", nil, "a", "b")
	pod := world.Change(c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	c.Patched(2.01, pod, "0/2 nodes are available: 2 Insufficient cpu.", "")
	world.Change(c, 10, sources.Added, world.Node("c", "1"), func(n *v1.Node) {
		n.Spec.Unschedulable = true // wakes nothing
	})
	o := shownTo(t, c, 20)
	for at, want := range map[float64]string{
		5:  "",
		12: "The last attempt, at 12:00:02, saw 2 nodes; now there are 3.",
	} {
		o.seek(world.At(at))
		o.diagnose(world.Key("web"), false)
		f := o.frame()
		world.ExpectText(t, f.NodesChanged(f.Board.Get(world.Key("web")), f.Needs), want)
	}
}
