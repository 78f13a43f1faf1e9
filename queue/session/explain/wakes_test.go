package explain

import (
	"testing"

	"github.com/schedq/schedq/queue/session/verdict"
)

// TestWaitsForUnknownEvents: a list that leaves out the events of a plugin says so.
func TestWaitsForUnknownEvents(t *testing.T) {
	for want, plugins := range map[string][]string{
		"Events that this plugin listens for can wake it.":                                   {"Own"},
		"Events that one of these plugins listens for can wake it.":                          {"Own", "Other"},
		"Any event may wake it.":                                                             {verdict.UnknownPlugin},
		"Events that the known plugins listen for can wake it, and others that are unknown.": {"Own", verdict.UnknownPlugin},
	} {
		if got := (Hints{}).waitsFor(plugins); got != want {
			t.Errorf("%v: got %q, want %q", plugins, got, want)
		}
	}
}
