package explain

import "testing"

// TestWaitsForWhatIsNotKnown: of one plugin it is not said that it is one of several.
func TestWaitsForWhatIsNotKnown(t *testing.T) {
	for want, plugins := range map[string][]string{
		"An event that it registered for wakes the pod.":     {"Own"},
		"An event that one of them registered for wakes it.": {"Own", "Other"},
	} {
		if got := (Hints{}).waitsFor(plugins); got != want {
			t.Errorf("of %v it says %q, want %q", plugins, got, want)
		}
	}
}
