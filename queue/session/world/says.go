package world

import (
	"testing"
)

// Says fails the test unless got is want.
func Says(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("it says %q\nwant     %q", got, want)
	}
}
