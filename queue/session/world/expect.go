package world

import (
	"testing"
)

// ExpectText fails the test unless got is want.
func ExpectText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
