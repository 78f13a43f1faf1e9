package world

import (
	"testing"
)

func Says(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("it says %q\nwant     %q", got, want)
	}
}
