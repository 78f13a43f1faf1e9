//go:build watchonly

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWatchOnly: built without kube-scheduler, the program plays moves that are told, and says in one sentence what it can't do.
func TestWatchOnly(t *testing.T) {
	code, out, stderr := schedq(t, "", "watch", "--recording", "crowded")
	if lines := strings.Count(out, "\n"); code != 0 || lines < 10_000 {
		t.Errorf("exit %d, %d moves, %q", code, lines, stderr)
	}
	code, out, _ = schedq(t, "", "explain", "default/p-00206", "--recording", "crowded")
	if code != 0 || !strings.Contains(out, "What it needs is not known: this schedq was built to watch only") {
		t.Errorf("exit %d, %q", code, out)
	}
	if _, out, _ = schedq(t, "", "version"); !strings.Contains(out, " built to watch only, ") {
		t.Errorf("the version is %q", out)
	}
	audit := filepath.Join("..", "..", "sources", "files", "testdata", "audit", "audit.log")
	for _, args := range []string{
		"watch " + audit, "report " + audit, "rerun --recording crowded --release v1.31", "watch --recording crowded --release v1.31",
		"watch --recording crowded --scheduler-config none.yaml", "watch --recording crowded --feature-gates SchedulerPopFromBackoffQ=false",
		"play", "learn", "serve --play", "serve", "learn lint " + filepath.Join("..", "..", "lessons", "01-three-places.yaml"),
	} {
		code, _, stderr := schedq(t, "", strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, "this schedq was built to watch only") && !strings.Contains(stderr, "is not right") {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
}
