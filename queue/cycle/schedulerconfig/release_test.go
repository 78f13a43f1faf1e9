package schedulerconfig

import "testing"

// TestSinceMinor checks two changes of v1.35. The version determines the behaviour or, if it is unknown, the chosen release;
// without both, it is that of the newest release.
func TestSinceMinor(t *testing.T) {
	c, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"v1.31.4": false, "v1.33.0": false, "v1.34.1-eks-1234567": false, "v1.35.0": true, "v1.37.1": true, "": true} {
		if got := c.ForVersion(version).GatesUntilEvicted(); got != want {
			t.Errorf("%q gates until the last victim is evicted: %v, want %v", version, got, want)
		}
		if got := c.ForVersion(version).FreesAssumed(); got != want {
			t.Errorf("%q frees the node of a deleted assumed pod immediately: %v, want %v", version, got, want)
		}
	}
	chosen, err := c.ForRelease("v1.33")
	if err != nil {
		t.Fatal(err)
	}
	if chosen.GatesUntilEvicted() {
		t.Error("release v1.33 gates until the last victim is evicted")
	}
}
