package schedulerconfig

import "testing"

// TestSinceMinor: when a preemptor's gate opens, and the place of a pod that is deleted is free, changed with v1.35. What is known of the version decides, and else the release that a person has chosen; a scheduler of which
// neither is known is the newest.
func TestSinceMinor(t *testing.T) {
	c, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"v1.31.4": false, "v1.33.0": false, "v1.34.1-eks-1234567": false, "v1.35.0": true, "v1.37.1": true, "": true} {
		if got := c.Of(version).GatesUntilEvicted(); got != want {
			t.Errorf("%q gates until the last victim is evicted: %v, want %v", version, got, want)
		}
		if got := c.Of(version).FreesAssumed(); got != want {
			t.Errorf("%q frees the place of an assumed pod as soon as it is deleted: %v, want %v", version, got, want)
		}
	}
	chosen, err := c.In("v1.33")
	if err != nil {
		t.Fatal(err)
	}
	if chosen.GatesUntilEvicted() {
		t.Error("the release v1.33 gates until the last victim is evicted")
	}
}
