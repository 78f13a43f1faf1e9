package explain

import "testing"

// TestWaitsForUnknownEvents: the sentence for one plugin is singular.
func TestWaitsForUnknownEvents(t *testing.T) {
	for want, plugins := range map[string][]string{
		"Events that this plugin listens for can wake it.":          {"Own"},
		"Events that one of these plugins listens for can wake it.": {"Own", "Other"},
	} {
		if got := (Hints{}).waitsFor(plugins); got != want {
			t.Errorf("%v: got %q, want %q", plugins, got, want)
		}
	}
}
