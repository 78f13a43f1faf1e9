package explain

import "testing"

// Counts by plugin are of pods that several may have rejected: they are not said as if they were parts of the sum, and
// none is left out unsaid.
func TestWaiting(t *testing.T) {
	for want, of := range map[string]struct {
		pods     int
		rejected map[string]int
	}{
		"none waits":                                                 {0, nil},
		"1 waits: NodeAffinity, TaintToleration":                     {1, map[string]int{"TaintToleration": 1, "NodeAffinity": 1}},
		"2 wait, rejected by NodeAffinity (2)":                       {2, map[string]int{"NodeAffinity": 2}},
		"3 wait, rejected by A (2), B (1), C (1) and 1 other plugin": {3, map[string]int{"A": 2, "B": 1, "C": 1, "D": 1}},
	} {
		if got := waiting(of.pods, of.rejected); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
