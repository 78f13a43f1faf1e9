package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/config"
)

// TestConfigErrors: config reports mistakes in the file, and every command an invalid filter.
func TestConfigErrors(t *testing.T) {
	t.Setenv(config.FileVariable, writer(t)("config.yaml", "paused: true\ntheme: pink\n"))
	for _, f := range []failure{
		{[]string{"watch", "--recording", "workshop", "--filter", "attempts>"}, 2, `letter 10: value missing after attempts>`},
		{[]string{"report", "--recording", "workshop", "--filter", "colour:a"}, 2, "letter 1: unknown field colour"},
		{[]string{"--filter", "/("}, 2, "letter 2: invalid regular expression: missing closing )"},
		{[]string{"config"}, 1, "config.yaml, line 2: "},
		{[]string{"config", "--schema", "--example"}, 1, "schema"},
	} {
		f.check(t)
	}
}

func TestConfigCommand(t *testing.T) {
	_, example, _ := schedq(t, "", "config", "--example")
	path := writer(t)("config.yaml", example)
	t.Setenv(config.FileVariable, path)
	if code, out, stderr := schedq(t, "", "config"); code != 0 || out != path+" is valid\n" {
		t.Errorf("exit %d, %q, %s", code, out, stderr)
	}
	if code, out, _ := schedq(t, "", "config", "--schema"); code != 0 || !strings.Contains(out, `"step-forward"`) {
		t.Errorf("exit %d, %s", code, out)
	}
	t.Setenv(config.FileVariable, "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if code, out, _ := schedq(t, "", "config"); code != 0 || !strings.HasPrefix(out, "no configuration file at ") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestManPages: each visible command has a man page.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	if code, _, stderr := schedq(t, "", "man", dir); code != 0 {
		t.Fatal(stderr)
	}
	for _, name := range []string{"schedq", "schedq-watch", "schedq-replay", "schedq-config"} {
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil || !strings.Contains(string(page), ".SH SYNOPSIS") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "schedq-man.1")); err == nil {
		t.Error("a hidden command has a page")
	}
}
