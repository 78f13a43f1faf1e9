package explain

import "testing"

// Several plugins may have rejected a pod, so their counts are not shown as parts of the total. Omitted
// plugins are counted.
func TestWaiting(t *testing.T) {
	for want, of := range map[string]struct {
		pods     int
		rejected map[string]int
	}{
		"none waiting": {0, nil},
		"1 waiting: NodeAffinity, TaintToleration":                      {1, map[string]int{"TaintToleration": 1, "NodeAffinity": 1}},
		"2 waiting, rejected by NodeAffinity (2)":                       {2, map[string]int{"NodeAffinity": 2}},
		"3 waiting, rejected by A (2), B (1), C (1) and 1 other plugin": {3, map[string]int{"A": 2, "B": 1, "C": 1, "D": 1}},
	} {
		if got := stillWaitingText(of.pods, of.rejected); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
