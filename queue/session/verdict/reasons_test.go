package verdict

import (
	"slices"
	"testing"
)

// TestPluginOf: the plugins of reasons that a message gives without them.
func TestPluginOf(t *testing.T) {
	for reason, want := range map[string]string{
		"Insufficient example.com/gpu":     "NodeResourcesFit",
		"Too many pods":                    "NodeResourcesFit",
		"node(s) had untolerated taint(s)": "TaintToleration",
		"node(s) had untolerated taint {node.kubernetes.io/not-ready: }": "TaintToleration",
		"node(s) didn't match Pod's node affinity/selector":              "NodeAffinity",
		"node(s) didn't find available persistent volumes to bind":       "VolumeBinding",
		`persistentvolumeclaim "data" not found`:                         "", // several say so
	} {
		if got := PluginOf(reason); got != want {
			t.Errorf("%q is said by %q, want %q", reason, got, want)
		}
	}
}

// TestRejectors: the PreFilter plugin that misses a claim depends on the release.
func TestRejectors(t *testing.T) {
	const missing = `0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`
	for _, c := range []struct {
		message, release string
		want             []string
	}{
		{missing, "", []string{"VolumeRestrictions"}},
		{missing, "v1.31", []string{"VolumeRestrictions"}},
		{missing, "v1.24", []string{"VolumeBinding"}},
		{`0/3 nodes are available: persistentvolumeclaim "data" is being deleted.`, "", []string{UnknownPlugin}},
		{"0/3 nodes are available: 3 Insufficient cpu.", "", []string{"NodeResourcesFit"}},
		{"timeout", "", nil},
	} {
		if got := Rejectors(c.message, c.release); !slices.Equal(got, c.want) {
			t.Errorf("%s, %q: %v, want %v", c.release, c.message, got, c.want)
		}
	}
}
