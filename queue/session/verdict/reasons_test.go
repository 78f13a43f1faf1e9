package verdict

import (
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
