package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// skewVariable is the environment variable with the clock offset of a skewed program in milliseconds.
const skewVariable = "E2E_CLOCK_AHEAD_MS"

// skewed builds schedq with a clock that is ahead by the value of skewVariable, and returns its path.
//
// Linux namespaces can't shift the wall clock of a process. A proxy that rewrites timestamps fails where
// the API has only whole seconds, and schedq would differ from the cluster. An option would exist for the
// test only, and affect only code that uses it. So the build replaces the time package, which shifts the
// clock of the whole program.
func skewed(t *testing.T) string {
	t.Helper()
	if os.Getenv("SCHEDQ") != "" {
		t.Skip("SCHEDQ is set to a program with the normal clock")
	}
	path, err := filepath.Abs("bin/skewed/schedq")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := buildSchedq(path, "-overlay="+clockOverlay(t, filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	t.Logf("built schedq with a skewed clock in %v", time.Since(start).Round(time.Second))
	return path
}

// clockOverlay writes a time package with a skewed clock to dir, and returns the overlay file for the go command.
func clockOverlay(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	listed, err := exec.Command("go", "list", "-f", "{{.Dir}}", "time").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(listed)), "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	const imports, now = "import (\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !bytes.Contains(source, []byte(imports)) || !bytes.Contains(source, []byte(now)) {
		t.Fatalf("%s has changed: adapt this test", original)
	}
	source = bytes.Replace(source, []byte(imports), []byte(imports+"\t\"syscall\"\n"), 1)
	source = bytes.Replace(source, []byte(now), []byte(now+`
	shifted := int64(nsec) + clockAhead%1e9 + 1e9
	sec += clockAhead/1e9 - 1 + shifted/1e9
	nsec = int32(shifted % 1e9)
`), 1)
	source = append(source, `
var clockAhead = func() int64 {
	text, _ := syscall.Getenv("`+skewVariable+`")
	ms, _ := atoi(text)
	return int64(ms) * 1e6
}()
`...)
	if source, err = format.Source(source); err != nil {
		t.Fatal(err)
	}
	// The suffix keeps the go command from treating the file as part of this module.
	changed, overlay := filepath.Join(dir, "time.go.txt"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{changed: source, overlay: list} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// TestClockOverlay checks the clock of a program with and without the variable.
func TestClockOverlay(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "clock")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"time\"\n\nfunc main() { println(time.Now().UnixNano()) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay="+clockOverlay(t, dir), "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, ahead := range []time.Duration{0, 300 * time.Millisecond, -300 * time.Millisecond, -time.Hour} {
		cmd := exec.Command(program)
		if cmd.Env = os.Environ(); ahead != 0 {
			cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", skewVariable, ahead.Milliseconds()))
		}
		before := time.Now()
		out, err := cmd.CombinedOutput()
		after := time.Now()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Unix(0, ns).Add(-ahead); got.Before(before) || got.After(after) {
			t.Errorf("with an offset of %v the clock is wrong by %v", ahead, got.Sub(before))
		}
	}
}
