package cycle

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// verdict is a test case for a plugin: a pod that it rejects and one that it passes.
type verdict struct {
	name     string
	cluster  []runtime.Object
	rejected *v1.Pod
	plugins  string
	message  string // after "0/N nodes are available: "
	reasons  string
	fits     *v1.Pod
	node     string // where that goes
}

func (v verdict) check(t *testing.T) {
	t.Helper()
	a := newStory(t, v.cluster...)
	got := a.tries(v.rejected)
	message, _, _ := strings.Cut(got.Message, " preemption: ")
	if _, message, _ = strings.Cut(message, " nodes are available: "); message != v.message {
		t.Errorf("message is %q, want %q", message, v.message)
	}
	if plugins := a.rejectors(got); plugins != v.plugins {
		t.Errorf("rejected by %q, want %q", plugins, v.plugins)
	}
	if reasons := counted(got.Reasons); reasons != v.reasons {
		t.Errorf("reasons are %q, want %q", reasons, v.reasons)
	}
	if got.Node != "" || got.Binding != nil || got.Nominated != "" {
		t.Errorf("it goes to %q, nominated %q", got.Node, got.Nominated)
	}
	b := newStory(t, v.cluster...)
	if got := b.tries(v.fits); got.Node != v.node || got.Binding == nil || got.Message != "" || len(got.Reasons) != 0 {
		t.Errorf("the other pod goes to %q, want %q: %s", got.Node, v.node, got.Message)
	}
}

// TestVerdicts checks each filter plugin with a pod that it rejects and one that it passes.
func TestVerdicts(t *testing.T) {
	zone, one := v1.LabelTopologyZone, aNode("one")
	zones := []runtime.Object{aNode("a", nodeLabel(zone, "z1")), aNode("b", nodeLabel(zone, "z2"))}
	with := func(more ...runtime.Object) []runtime.Object { return append(more, zones...) }
	web := podLabel("app", "web")
	for _, v := range []verdict{
		{
			// Preemption could make room on the second node alone.
			name:     "NodeResourcesFit",
			cluster:  []runtime.Object{aNode("small", has("cpu", "1")), aNode("full"), at("full", aPod("old", requests("cpu", "3")))},
			rejected: aPod("big", requests("cpu", "2"), requests("memory", "1Gi")), plugins: "NodeResourcesFit",
			message: "2 Insufficient cpu.",
			reasons: "1 NodeResourcesFit: Insufficient cpu; 1 NodeResourcesFit: Insufficient cpu (final)",
			fits:    aPod("fits", requests("cpu", "1"), nodeIn(v1.LabelHostname, "full")), node: "full",
		}, {
			// As a daemon set asks for its node: by a field, which PreFilter reads. (NodeName looks at
			// spec.nodeName, which no pod has that is in the queue.)
			name: "NodeAffinity, a node's name", cluster: zones,
			rejected: aPod("daemon-1", nodeNamed("nowhere")), plugins: "NodeAffinity",
			message: "2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
			reasons: "2 NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity] (final)",
			fits:    aPod("daemon-2", nodeNamed("b")), node: "b",
		}, {
			name: "NodeAffinity, a node's name, and more", cluster: zones,
			rejected: aPod("daemon-1", nodeNamed("a"), requests("cpu", "5")), plugins: "NodeAffinity,NodeResourcesFit",
			message: "1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
			reasons: "1 NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity] (final); 1 NodeResourcesFit: Insufficient cpu (final)",
			fits:    aPod("daemon-2", nodeNamed("b")), node: "b",
		}, {
			name: "NodeAffinity, the name of the only node", cluster: []runtime.Object{one},
			rejected: aPod("daemon-1", nodeNamed("one"), requests("cpu", "5")), plugins: "NodeAffinity,NodeResourcesFit",
			message: "1 Insufficient cpu.",
			reasons: "1 NodeResourcesFit: Insufficient cpu (final)",
			fits:    aPod("daemon-2", nodeNamed("one")), node: "one",
		}, {
			name:     "NodeUnschedulable",
			cluster:  []runtime.Object{aNode("cordoned", func(n *v1.Node) { n.Spec.Unschedulable = true })},
			rejected: aPod("web"), plugins: "NodeUnschedulable",
			message: "1 node(s) were unschedulable.",
			reasons: "1 NodeUnschedulable: node(s) were unschedulable (final)",
			fits:    aPod("daemon", tolerates(v1.TaintNodeUnschedulable)), node: "cordoned",
		}, {
			name:     "TaintToleration",
			cluster:  []runtime.Object{aNode("gpu", taint("gpu")), aNode("infra", taint("infra"))},
			rejected: aPod("web"), plugins: "TaintToleration",
			message: "2 node(s) had untolerated taint(s).",
			reasons: "2 TaintToleration: node(s) had untolerated taint(s) (final)",
			fits:    aPod("ml", tolerates("gpu")), node: "gpu",
		}, {
			name: "NodeAffinity", cluster: zones,
			rejected: aPod("far", nodeIn(zone, "z3")), plugins: "NodeAffinity",
			message: "2 node(s) didn't match Pod's node affinity/selector.",
			reasons: "2 NodeAffinity: node(s) didn't match Pod's node affinity/selector (final)",
			fits:    aPod("near", nodeIn(zone, "z1")), node: "a",
		}, {
			name: "NodePorts", cluster: []runtime.Object{one, at("one", aPod("old", hostPort(8080)))},
			rejected: aPod("web", hostPort(8080)), plugins: "NodePorts",
			message: "1 node(s) didn't have free ports for the requested pod ports.",
			reasons: "1 NodePorts: node(s) didn't have free ports for the requested pod ports",
			fits:    aPod("other", hostPort(8081)), node: "one",
		}, {
			name: "InterPodAffinity, near none", cluster: with(at("b", aPod("old", web))),
			rejected: aPod("lonely", affinity(near(zone, "app", "db"))), plugins: "InterPodAffinity",
			message: "2 node(s) didn't match pod affinity rules.",
			reasons: "2 InterPodAffinity: node(s) didn't match pod affinity rules (final)",
			fits:    aPod("friend", affinity(near(zone, "app", "web"))), node: "b",
		}, {
			name: "InterPodAffinity, not near", cluster: with(at("a", aPod("old-a", web)), at("b", aPod("old-b", podLabel("app", "db")))),
			rejected: aPod("shy", antiAffinity(v1.PodAffinityTerm{TopologyKey: zone, LabelSelector: &metav1.LabelSelector{}})), plugins: "InterPodAffinity",
			message: "2 node(s) didn't match pod anti-affinity rules.",
			reasons: "2 InterPodAffinity: node(s) didn't match pod anti-affinity rules",
			fits:    aPod("shy-of-web", antiAffinity(near(zone, "app", "web"))), node: "b",
		}, {
			name: "InterPodAffinity, a term that nobody can read", cluster: zones,
			rejected: aPod("odd", affinity(v1.PodAffinityTerm{TopologyKey: zone, LabelSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like"}},
			}})), plugins: "InterPodAffinity",
			message: `parsing pod: requiredAffinityTerms: "Like" is not a valid label selector operator. not found`,
			reasons: `2 InterPodAffinity: parsing pod: requiredAffinityTerms: "Like" is not a valid label selector operator (final)`,
			fits:    aPod("plain", nodeIn(zone, "z1")), node: "a",
		}, {
			// The tainted node is a topology that counts, though the pod can't go there.
			name:     "PodTopologySpread",
			cluster:  []runtime.Object{aNode("a", nodeLabel(zone, "z1")), aNode("b", nodeLabel(zone, "z2"), taint("infra")), at("a", aPod("old", web))},
			rejected: aPod("second", web, spreads(zone, "app", "web")), plugins: "PodTopologySpread,TaintToleration",
			message: "1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint(s).",
			reasons: "1 PodTopologySpread: node(s) didn't match pod topology spread constraints; 1 TaintToleration: node(s) had untolerated taint(s) (final)",
			fits:    aPod("second", web, spreads(zone, "app", "web"), tolerates("infra")), node: "b",
		}, {
			name: "VolumeBinding, immediate", cluster: with(aClass("now", storagev1.VolumeBindingImmediate), aClaim("data", "now", "")),
			rejected: aPod("db", uses("data")), plugins: "VolumeBinding",
			message: "pod has unbound immediate PersistentVolumeClaims. not found",
			reasons: "2 VolumeBinding: pod has unbound immediate PersistentVolumeClaims (final)",
			fits:    aPod("plain", nodeIn(zone, "z1")), node: "a",
		}, {
			name: "VolumeBinding, on first consumer",
			cluster: with(aClass("later", storagev1.VolumeBindingWaitForFirstConsumer), aClaim("data", "later", ""), aClaim("more", "none-of-it", ""),
				aClass("none-of-it", storagev1.VolumeBindingWaitForFirstConsumer), aVolume("disk", "later", "", zone, "z2")),
			rejected: aPod("db", uses("more")), plugins: "VolumeBinding",
			message: "2 node(s) didn't find available persistent volumes to bind.",
			reasons: "2 VolumeBinding: node(s) didn't find available persistent volumes to bind (final)",
			fits:    aPod("lucky", uses("data")), node: "b",
		}, {
			name:     "VolumeRestrictions, no such claim",
			cluster:  zones,
			rejected: aPod("db", uses("data")), plugins: "VolumeRestrictions",
			message: `persistentvolumeclaim "data" not found. not found`,
			reasons: `2 VolumeRestrictions: persistentvolumeclaim "data" not found (final)`,
			fits:    aPod("plain", nodeIn(zone, "z1")), node: "a",
		}, {
			name: "VolumeBinding, its node", cluster: with(aClass("now", storagev1.VolumeBindingImmediate), aClaim("data", "now", "disk"), aVolume("disk", "now", "data", zone, "z3"),
				aClaim("near", "now", "near"), aVolume("near", "now", "near", zone, "z1")),
			rejected: aPod("db", uses("data")), plugins: "VolumeBinding",
			message: "2 node(s) didn't match PersistentVolume's node affinity.",
			reasons: "2 VolumeBinding: node(s) didn't match PersistentVolume's node affinity (final)",
			fits:    aPod("lucky", uses("near")), node: "a",
		}, {
			name: "VolumeZone", cluster: with(aClass("now", storagev1.VolumeBindingImmediate), aClaim("data", "now", "disk"), inZone(aVolume("disk", "now", "data", v1.LabelHostname, "a"), "z3"),
				aClaim("near", "now", "near"), inZone(aVolume("near", "now", "near", v1.LabelHostname, "a"), "z1")),
			rejected: aPod("db", uses("data")), plugins: "VolumeBinding,VolumeZone",
			message: "1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) had no available volume zone.",
			reasons: "1 VolumeBinding: node(s) didn't match PersistentVolume's node affinity (final); 1 VolumeZone: node(s) had no available volume zone (final)",
			fits:    aPod("lucky", uses("near")), node: "a",
		}, {
			name: "NodeVolumeLimits", cluster: []runtime.Object{one, aCSINode("one", 1), at("one", aPod("old", uses("first"))),
				aClass("now", storagev1.VolumeBindingImmediate),
				aClaim("first", "now", "v1"), aVolume("v1", "now", "first", v1.LabelHostname, "one"),
				aClaim("second", "now", "v2"), aVolume("v2", "now", "second", v1.LabelHostname, "one")},
			rejected: aPod("db", uses("second")), plugins: "NodeVolumeLimits",
			message: "1 node(s) exceed max volume count.",
			reasons: "1 NodeVolumeLimits: node(s) exceed max volume count",
			fits:    aPod("sharer", uses("first")), node: "one",
		}, {
			name: "VolumeRestrictions", cluster: []runtime.Object{one, at("one", aPod("old", uses("mine"))),
				aClass("now", storagev1.VolumeBindingImmediate),
				aClaim("mine", "now", "v1", v1.ReadWriteOncePod), aVolume("v1", "now", "mine", v1.LabelHostname, "one"),
				aClaim("free", "now", "v2", v1.ReadWriteOncePod), aVolume("v2", "now", "free", v1.LabelHostname, "one")},
			rejected: aPod("second", uses("mine")), plugins: "VolumeRestrictions",
			message: "1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.",
			reasons: "1 VolumeRestrictions: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
			fits:    aPod("first", uses("free")), node: "one",
		}, {
			name:     "DynamicResources, no such class",
			cluster:  with(aDeviceClass("gpu"), aDeviceClaim("train", "gpu"), aSlice("b", "gpu-0"), aDeviceClaim("odd", "tpu")),
			rejected: aPod("ml", usesDevice("odd")), plugins: "DynamicResources",
			message: "request one: device class tpu does not exist.",
			reasons: "2 DynamicResources: request one: device class tpu does not exist (final)",
			fits:    aPod("lucky", usesDevice("train")), node: "b",
		}, {
			name:     "DynamicResources, no device",
			cluster:  with(aDeviceClass("gpu"), aDeviceClaim("train", "gpu")),
			rejected: aPod("ml", usesDevice("train")), plugins: "DynamicResources",
			message: "2 cannot allocate all claims.",
			reasons: "2 DynamicResources: cannot allocate all claims (final)",
			fits:    aPod("plain", nodeIn(zone, "z1")), node: "a",
		},
	} {
		t.Run(v.name, v.check)
	}
}

// TestGates checks that a pod with scheduling gates is scheduled only after its last gate is
// removed.
func TestGates(t *testing.T) {
	st := newStory(t, aNode("one"))
	gated := func(gates ...string) *v1.Pod {
		return aPod("web", func(p *v1.Pod) {
			for _, g := range gates {
				p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: g})
			}
		})
	}
	st.put(gated("a", "b"))
	st.is("with two gates", "web gated SchedulingGates")
	st.put(gated("b"))
	st.is("with one", "web gated SchedulingGates")
	st.put(gated())
	st.is("without", "web active SchedulingGates") // as upstream has it, until the next failure
	if a := st.try(); a.Node != "one" {
		t.Error(result(a))
	}
}

func nodeNamed(name string) podEdit {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{
				Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name},
			}}}},
		}}}
	}
}

func inZone(volume *v1.PersistentVolume, zone string) *v1.PersistentVolume {
	volume.Labels[v1.LabelTopologyZone] = zone
	return volume
}
