package cycle

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue"
)

// TestHintsOfReleases checks which pods a node update wakes by release. From v1.29 to v1.31, those
// with a rejecting plugin that registered for the event, if the node admits the pod; since v1.32,
// those whose hints return Queue. From v1.30 to v1.36, plugins that registered for new nodes also
// register for taint changes.
func TestHintsOfReleases(t *testing.T) {
	node := aNode("a", taint("infra"))
	pods := map[string]*v1.Pod{ // by the plugin that rejects it
		"NodeResourcesFit": aPod("big", requests("cpu", "6"), tolerates("infra")),
		"NodeAffinity":     aPod("picky", nodeIn(v1.LabelTopologyZone, "z3"), tolerates("infra")),
		"NodePorts":        aPod("porter", hostPort(80), tolerates("infra")),
		"TaintToleration":  aPod("plain"),
		"VolumeBinding":    aPod("db", uses("data"), tolerates("infra")),
	}
	onPort := at("a", aPod("web", hostPort(80)))
	cluster := []runtime.Object{node, onPort, aClaim("data", "now", "")}
	for _, c := range []struct {
		name    string
		happens func(*story)
		woken   map[string]string // by release
	}{
		{"another taint comes", func(st *story) { st.put(edited(node, taint("more"))) }, map[string]string{
			"v1.29": "", "v1.30": "", "v1.31": "", "v1.32": "big db picky porter", "v1.33": "big db picky porter",
			"v1.34": "big db picky porter", "v1.35": "big db picky porter", "v1.36": "big db picky porter", "v1.37": "",
		}},
		{"the taint goes", func(st *story) { st.put(edited(node, func(n *v1.Node) { n.Spec.Taints = nil })) }, map[string]string{
			"v1.29": "plain", "v1.30": "db plain", "v1.31": "db plain", "v1.32": "big db picky plain porter", "v1.33": "big db picky plain porter",
			"v1.34": "big db picky plain porter", "v1.35": "big db picky plain porter", "v1.36": "big db picky plain porter", "v1.37": "plain",
		}},
		{"a node comes that takes none of them", func(st *story) { st.put(aNode("b", taint("more"))) }, map[string]string{
			"v1.29": "", "v1.30": "", "v1.31": "", "v1.32": "db porter", "v1.33": "db porter",
			"v1.34": "db porter", "v1.35": "db porter", "v1.36": "db porter", "v1.37": "db porter",
		}},
		{"the node is given a little more", func(st *story) { st.put(edited(node, has("cpu", "5"))) }, map[string]string{
			"v1.29": "", "v1.31": "", "v1.32": "", "v1.37": "",
		}},
		{"the pod on the port goes", func(st *story) { st.remove(onPort) }, map[string]string{
			"v1.29": "big porter", "v1.31": "big porter", "v1.32": "big porter", "v1.35": "big porter", "v1.37": "big porter",
		}},
		{"the pod itself tolerates", func(st *story) { st.put(aPod("plain", tolerates("infra"))) }, map[string]string{
			"v1.31": "plain", "v1.32": "plain", "v1.33": "plain", "v1.36": "plain", "v1.37": "plain",
		}},
	} {
		for release, want := range c.woken {
			t.Run(release+": "+c.name, func(t *testing.T) {
				cfg, err := defaultConfig(t).ForRelease(release)
				if err != nil {
					t.Fatal(err)
				}
				st := newStoryWith(t, cfg, 1, cluster...)
				for rejector, pod := range pods {
					st.tries(pod)
					st.is("after its attempt", pod.Name+" unschedulable "+rejector)
				}
				st.pass(10 * time.Second)
				st.unschedulable, st.wouldWake = slices.Collect(maps.Values(pods)), nil
				c.happens(st)
				if said := strings.Join(st.wouldWake, " "); said != want && st.wouldWake != nil && (said != "" || cfg.Queue.Rules.Waking == queue.ByHints) {
					t.Errorf("it would wake %q, and wakes %q", said, want)
				}
				var woken []string
				for _, name := range []string{"big", "db", "picky", "plain", "porter"} {
					if info, ok := st.q.Get("default", name); ok && info.Tier.String() == "active" {
						woken = append(woken, name)
					}
				}
				if got := strings.Join(woken, " "); got != want {
					t.Errorf("it wakes %q, want %q", got, want)
				}
			})
		}
	}
}

// TestNominationEndOfReleases checks that the end of a nomination wakes waiting pods with no higher
// priority, like a deletion on the node. Until v1.32, it wakes none; v1.33 and v1.34 include bound
// pods.
func TestNominationEndOfReleases(t *testing.T) {
	nominee := aPod("nominee", requests("cpu", "6"), priority(10))
	nominated := nominee.DeepCopy()
	nominated.Status.NominatedNodeName = "a"
	for _, c := range []struct {
		name    string
		happens func(*story)
		woken   map[string]string // by release
	}{
		{"the pod was bound", func(st *story) { st.put(at("a", nominated.DeepCopy())) }, map[string]string{
			"v1.31": "", "v1.32": "", "v1.33": "equal low", "v1.34": "equal low", "v1.35": "", "v1.37": "",
		}},
		{"it is deleted", func(st *story) { st.remove(nominated) }, map[string]string{
			"v1.31": "", "v1.32": "", "v1.33": "equal low", "v1.34": "equal low", "v1.35": "equal low", "v1.37": "equal low",
		}},
		{"it is nominated no more", func(st *story) { st.put(nominee) }, map[string]string{
			"v1.31": "", "v1.32": "", "v1.33": "equal low", "v1.34": "equal low", "v1.35": "equal low", "v1.37": "equal low",
		}},
	} {
		for release, want := range c.woken {
			t.Run(release+": "+c.name, func(t *testing.T) {
				cfg, err := defaultConfig(t).ForRelease(release)
				if err != nil {
					t.Fatal(err)
				}
				st := newStoryWith(t, cfg, 1, aNode("a"))
				for _, pod := range []*v1.Pod{
					nominee, aPod("low", requests("cpu", "6")), aPod("equal", requests("cpu", "6"), priority(10)), aPod("high", requests("cpu", "6"), priority(20)),
				} {
					st.tries(pod)
				}
				st.put(nominated)
				st.pass(10 * time.Second)
				c.happens(st)
				var woken []string
				for _, name := range []string{"equal", "high", "low"} {
					if info, ok := st.q.Get("default", name); ok && info.Tier.String() == "active" {
						woken = append(woken, name)
					}
				}
				if got := strings.Join(woken, " "); got != want {
					t.Errorf("it wakes %q, want %q", got, want)
				}
			})
		}
	}
}
