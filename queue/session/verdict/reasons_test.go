package verdict

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/cycle"
)

// TestPluginsOf: a reason belongs to the plugin that uses it in any release from v1.19 on. The plugin of an unknown reason is
// UnknownPlugin.
func TestPluginsOf(t *testing.T) {
	for reason, want := range map[string]string{
		"Insufficient example.com/gpu":     "NodeResourcesFit",
		"Too many pods":                    "NodeResourcesFit",
		"node(s) had untolerated taint(s)": "TaintToleration",
		"node(s) had untolerated taint {node.kubernetes.io/not-ready: }":                               "TaintToleration", // to v1.33
		"node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate":           "TaintToleration", // to v1.23
		"node(s) didn't match Pod's node affinity/selector":                                            "NodeAffinity",
		"node(s) didn't match Pod's node affinity":                                                     "NodeAffinity", // v1.20
		"node(s) didn't match node selector":                                                           "NodeAffinity", // v1.19
		"node(s) didn't match the requested hostname":                                                  "NodeName",
		"node(s) didn't match pod affinity/anti-affinity":                                              "InterPodAffinity",
		"node(s) didn't match pod affinity/anti-affinity rules":                                        "InterPodAffinity",
		"node(s) didn't find available persistent volumes to bind":                                     "VolumeBinding",
		"node(s) had volume node affinity conflict":                                                    "VolumeBinding", // to v1.32
		"pod has unbound immediate PersistentVolumeClaims":                                             "VolumeBinding",
		"pvc(s) bound to non-existent pv(s)":                                                           "VolumeBinding",
		`persistentvolumeclaim "data" is being deleted`:                                                "VolumeBinding",
		`persistentvolumeclaim "data" bound to non-existent persistentvolume "pv-1"`:                   "VolumeBinding",
		`waiting for ephemeral volume controller to create the persistentvolumeclaim "db-0-scratch"`:   "VolumeBinding",
		`persistentvolumeclaim "data" not found`:                                                       "VolumeRestrictions",
		"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode": "VolumeRestrictions",
		"cannot allocate all claims":                                                                   "DynamicResources",
		"timed out trying to allocate devices":                                                         "DynamicResources",
		"asked by caller to stop allocating devices: filter timeout":                                   "DynamicResources",
		"resourceclaim in use":                                                                         "DynamicResources",
		"resource claim mill/gpu is in the process of being allocated":                                 "DynamicResources",
		"minCount (4) cannot be satisfied: 2 scheduled, 1 remaining":                                   "GangScheduling",
		"node(s) didn't satisfy plugin NodeAffinity":                                                   "NodeAffinity",
		"node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding]":                                "NodeAffinity VolumeBinding",
		"node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously":                 "NodeAffinity VolumeBinding",
		"PersistentVolumeClaim had no name":                                                            UnknownPlugin, // used by two plugins
		"node(s) were not ready":                                                                       UnknownPlugin, // up to v1.18
		"node(s) had memory pressure":                                                                  UnknownPlugin,
		"node(s) hold no free slice of the pool":                                                       UnknownPlugin,
		`csinode.storage.k8s.io "edge1" not found`:                                                     UnknownPlugin,
		"node(s) were unschedulable today":                                                             UnknownPlugin,
	} {
		plugins := strings.Fields(strings.ReplaceAll(want, UnknownPlugin, "?"))
		if got := PluginsOf("0/4 nodes are available: 4 "+reason+".", ""); !slices.Equal(namedUnknown(got), plugins) {
			t.Errorf("%q: got %q, want %q", reason, got, want)
		}
		plugins = append(plugins, "NodeResourcesFit")
		slices.Sort(plugins)
		if got := PluginsOf("0/4 nodes are available: 1 Insufficient cpu, 3 "+reason+". preemption: ...", ""); !slices.Equal(namedUnknown(got), slices.Compact(plugins)) {
			t.Errorf("%q with another reason: got %q, want %q", reason, got, want)
		}
	}
}

func namedUnknown(plugins []string) (named []string) {
	for _, p := range plugins {
		named = append(named, strings.ReplaceAll(p, UnknownPlugin, "?"))
	}
	slices.Sort(named)
	return named
}

// TestPluginsOfRelease: the PreFilter plugin that reports a missing claim depends on the release, and an error has no
// plugin.
func TestPluginsOfRelease(t *testing.T) {
	const missing = `0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`
	for _, c := range []struct {
		message, release string
		want             []string
	}{
		{missing, "", []string{"VolumeRestrictions"}},
		{missing, "v1.31", []string{"VolumeRestrictions"}},
		{missing, "v1.24", []string{"VolumeBinding"}},
		{"0/3 nodes are available: 3 Insufficient cpu.", "", []string{"NodeResourcesFit"}},
		{"0/0 nodes are available: .", "", nil},
		{"timeout", "", nil},
	} {
		if got := PluginsOf(c.message, c.release); !slices.Equal(got, c.want) {
			t.Errorf("%s, %q: %v, want %v", c.release, c.message, got, c.want)
		}
	}
}

// TestTableIncludesNewestRelease: reasonstable.go includes the release that go.mod requires.
func TestTableIncludesNewestRelease(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("reasonstable.go")
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`\bk8s\.io/kubernetes (v\S+)`).FindSubmatch(mod)
	if made, _, _ := strings.Cut(string(table), "\n"); required == nil || !strings.Contains(made, " to "+string(required[1])+".") {
		t.Errorf("go.mod requires %s; the table says %q: add the release to generate.go and run go generate", required, made)
	}
}

// TestLearnedPlugins: the plugin of an unknown reason is known once the model had an attempt with that reason.
func TestLearnedPlugins(t *testing.T) {
	const message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had something."
	l := LearnedPlugins{}
	if got, want := l.PluginsOf(message, ""), []string{UnknownPlugin, "NodeResourcesFit"}; !slices.Equal(got, want) {
		t.Errorf("before: %q, want %q", got, want)
	}
	l.Learn([]cycle.Reason{{Plugin: "VolumeBinding", Text: "node(s) had something"}, {Plugin: "NodeResourcesFit", Text: "Insufficient cpu"}})
	if got, want := l.PluginsOf(message, ""), []string{"NodeResourcesFit", "VolumeBinding"}; !slices.Equal(got, want) {
		t.Errorf("after: %q, want %q", got, want)
	}
	if len(l) != 1 {
		t.Errorf("learned %v, but NodeResourcesFit was known", l)
	}
}
