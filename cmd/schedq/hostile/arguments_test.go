package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestArguments: hostile arguments and file names are handled or rejected cleanly.
func TestArguments(t *testing.T) {
	path := program(t)
	dir := t.TempDir()
	odd := "ev\x1b[2J\u009b31m\u202e\u200b\x07\x7f\nil"
	for name, content := range map[string][]byte{"good": trace(smallNode, pod("p1", "")), odd: trace(smallNode, pod("p1", "")), "-o": trace(smallNode)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	long, huge := strings.Repeat("x", 5_000), strings.Repeat("9", 100_000)
	for _, args := range [][]string{
		{"watch", odd}, {"watch", "./-o"}, {"watch", "--", "-o"}, {"watch", "-o"}, {"watch", ""}, {"watch", "."}, {"watch", "loop"}, {"watch", long}, {"watch", "good/good"},
		{"watch", "/dev/null"}, {"watch", "/proc/self/mem"}, {"watch", "/dev/tty"},
		{"watch", "good", "good"}, {"watch", "good", odd, "loop"}, {"watch", "good", "--memory", huge}, {"watch", "good", "--memory", "1e99999999"}, {"watch", "good", "--memory", "-1"},
		{"watch", "good", "--memory", "1"}, {"watch", "good", "--filter", strings.Repeat("(", 5_000)}, {"watch", "good", "--filter", "/" + strings.Repeat("(a*)*", 1_000) + "/"},
		{"watch", "good", "--filter", odd}, {"watch", "good", "--release", odd}, {"watch", "good", "--feature-gates", strings.Repeat("A=true,", 10_000)},
		{"watch", "good", "--scheduler-config", "/dev/zero"}, {"watch", "good", "--scheduler-config", "."}, {"watch", "good", "--scheduler-config", odd},
		{"explain", odd, "good"}, {"explain", huge, "good"}, {"explain", "default/p1", "good", "--at", huge}, {"explain", "default/p1", "good", "--at", odd},
		{"explain", odd, "pod/" + odd, "good"}, {"list", "good", "--sort", odd}, {"list", "good", "--sort", huge},
		{"wait", odd, "good", "--for", "bound"}, {"wait", "default/p1", "good", "--for", huge}, {"wait", "default/p1", "good", "--for", odd}, {"wait", "default/p1", "good", "--for", odd + ">"},
		{"wait", "default/p1", "good", "--for", "waiting>" + huge}, {"wait", "default/p1", "good", "--for", "bound", "--timeout", huge}, {"wait", "default/p1", "good", "--for", "waiting>2540400h", "--timeout", "2540400h"},
		{"convert", "good", "-o", "/dev/full"}, {"convert", "good", "-o", "good"}, {"convert", "good", "-o", "loop"}, {"convert", "good", "-o", long}, {"convert", "good", "-o", "."},
		{"convert", "good", "-o", "none/" + odd}, {"rerun", "good", "--release", huge},
		{"learn", "lint", "/dev/zero"}, {"learn", "lint", odd, "loop", "."}, {"learn", odd}, {"learn", huge}, {"config", odd}, {odd}, {"--" + odd}, {"-" + long}, {"help", odd}, {huge},
		{"record", "-o", "good", "--for", "1s"}, {"record", "-o", "new", "--for", huge}, {"record", "-o", "new", "--for", "1s", "--kubeconfig", "/dev/zero"},
		{"record", "-o", "new", "--for", "1s", "--server", "http://\x1b[2J"}, {"serve", "--listen", huge}, {"serve", "--listen", odd},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			o := run(t, path, dir, nil, maxMemory, args...)
			t.Logf("%v", o)
			for _, w := range o.problems("ev", "loop", ".", "/dev/zero") {
				t.Errorf("%s: %v", w, o)
			}
		})
	}
}
