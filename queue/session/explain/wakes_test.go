package explain

import "testing"

// TestWaitsForUnknownEvents: the sentence for one plugin is singular.
func TestWaitsForUnknownEvents(t *testing.T) {
	for want, plugins := range map[string][]string{
		"Woken by events that this plugin listens for.":          {"Own"},
		"Woken by events that one of these plugins listens for.": {"Own", "Other"},
	} {
		if got := (Hints{}).waitsFor(plugins); got != want {
			t.Errorf("%v: got %q, want %q", plugins, got, want)
		}
	}
}
