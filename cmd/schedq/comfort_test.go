package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/config"
)

// TestMain keeps the person's own configuration and state out of the tests.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "schedq")
	if err != nil {
		panic(err)
	}
	for _, variable := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if err := os.Setenv(variable, home); err != nil {
			panic(err)
		}
	}
	if err := os.Unsetenv(config.FileVariable); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(home); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// TestFilterFlag: the same words select the same pods as on the screen.
func TestFilterFlag(t *testing.T) {
	code, all, _ := schedq(t, "", "watch", "--recording", "workshop")
	_, only, stderr := schedq(t, "", "watch", "--recording", "workshop", "--filter", "store tier:unsched attempts>=2")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(only), "\n")
	if len(lines) == 0 || len(lines) >= strings.Count(all, "\n") {
		t.Errorf("%d moves match", len(lines))
	}
	for _, line := range lines {
		if !strings.Contains(line, "store") || !strings.Contains(line, "→ unschedulable") || strings.Contains(line, " 1 attempt") {
			t.Errorf("this move is told: %s", line)
		}
	}
}

// TestReportOfSomePods: a pod counts with all its moves if it matches after any of them.
func TestReportOfSomePods(t *testing.T) {
	_, out, _ := schedq(t, "", "report", "--recording", "workshop", "--filter", "name=store-0 tier:unsched")
	_, moves, _ := schedq(t, "", "watch", "--recording", "workshop", "--filter", "name=store-0")
	want := fmt.Sprintf("1 pods, %d moves,", strings.Count(moves, "\n"))
	if !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

func TestComfortMistakes(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(broken, []byte("paused: true\ntheme: pink\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(config.FileVariable, broken)
	for args, want := range map[string]string{
		"watch --recording workshop --filter attempts>": `letter 10: value missing after attempts>`,
		"report --recording workshop --filter colour:a": "letter 1: unknown field colour",
		"--filter /(":               "letter 2: invalid regular expression: missing closing )",
		"config":                    "config.yaml, line 2: ",
		"--recording workshop":      "config.yaml, line 2: ", // before the screen is taken
		"config --schema --example": "schema",
		"man":                       "schedq: man needs DIR",
	} {
		code, out, stderr := schedq(t, "", strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, want) || out != "" {
			t.Errorf("schedq %s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}

func TestConfigCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	t.Setenv(config.FileVariable, path)
	_, example, _ := schedq(t, "", "config", "--example")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := schedq(t, "", "config"); code != 0 || out != path+" is fine\n" {
		t.Errorf("exit %d, %q, %s", code, out, stderr)
	}
	if code, out, _ := schedq(t, "", "config", "--schema"); code != 0 || !strings.Contains(out, `"step-forward"`) {
		t.Errorf("exit %d, %s", code, out)
	}
	t.Setenv(config.FileVariable, "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if code, out, _ := schedq(t, "", "config"); code != 0 || !strings.Contains(out, "is not there") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestManPages: each command has one, and it is the same each time.
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

// TestCompletion: shells are told of commands, recordings, themes and a filter's fields.
func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"wat":                "watch",
		"watch --recording ": "workshop",
		"replay --theme ":    "colour-blind",
		"watch --filter att": "attempts>",
		"watch --output ":    "json",
	} {
		line := strings.Split(args, " ")
		_, out, _ := schedq(t, "", append([]string{"__complete"}, line...)...)
		if !strings.Contains(out, want) {
			t.Errorf("after %q it offers %q, want %s among it", args, out, want)
		}
	}
	if _, out, _ := schedq(t, "", "__complete", "watch", "--filter", "ns:a !pl"); !strings.Contains(out, "ns:a !plugin:") {
		t.Errorf("in the middle of a filter it offers %q", out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, out, _ := schedq(t, "", "completion", shell); code != 0 || !strings.Contains(out, "schedq") {
			t.Errorf("%s: exit %d", shell, code)
		}
	}
}
