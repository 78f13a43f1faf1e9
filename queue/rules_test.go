package queue

import "testing"

// TestReleaseFor: which preset is the queue of a version.
func TestReleaseFor(t *testing.T) {
	for version, want := range map[string]struct {
		name  string
		exact bool
	}{
		"v1.37.1": {"v1.37", true}, "v1.36.0": {"v1.36", true}, "v1.35.0": {"v1.35", true}, "v1.34.3": {"v1.34", true},
		"v1.33.5-gke.100": {"v1.33", true}, "v1.32.9": {"v1.32", true}, "v1.31.4": {"v1.31", true}, "v1.29.0": {"v1.29", true}, "v1.27.0": {"v1.28", true},
		"v1.25.0": {"v1.24", true}, "v1.23.17": {"v1.23", true}, "v1.22.0": {"v1.23", true}, "v1.21.14": {"v1.19", true},
		"v1.18.20": {"v1.19", true}, "v1.17.17": {"v1.16", true}, "v1.16.15": {"v1.16", true},
		"v1.38.0": {"v1.37", false}, "v1.9.0": {"v1.16", false}, "": {"", false}, "1.37": {"", false}, "v2.0.0": {"", false},
	} {
		if name, exact := ReleaseFor(version); name != want.name || exact != want.exact {
			t.Errorf("%q: %q, %v", version, name, exact)
		}
	}
}
