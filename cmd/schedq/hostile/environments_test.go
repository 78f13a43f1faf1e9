//go:build linux

package hostile

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// withVariables sets variables given as NAME=VALUE, and removes those given as NAME.
func withVariables(environment []string, variables ...string) []string {
	environment = slices.Clone(environment)
	for _, v := range variables {
		name, _, set := strings.Cut(v, "=")
		environment = slices.DeleteFunc(environment, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if set {
			environment = append(environment, v)
		}
	}
	return environment
}

// TestPlaces: in any environment the program shows the screen, or an error, and ends when asked to.
func TestPlaces(t *testing.T) {
	path := program(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	usual := cleanVariables(t)
	for name, c := range map[string]struct {
		environment
		shows string
		code  int
		last  string // in the last output
	}{
		"usual":                {environment{usual, 30, 100}, "activeQ", 0, ""},
		"no home":              {environment{withVariables(usual, "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), 30, 100}, "activeQ", 0, ""},
		"read-only home":       {environment{withVariables(usual, "HOME=/proc", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), 30, 100}, "activeQ", 1, "/proc/.local"},
		"a file as home":       {environment{withVariables(usual, "HOME="+file, "XDG_STATE_HOME", "XDG_CONFIG_HOME"), 30, 100}, "activeQ", 1, "not a directory"},
		"small":                {environment{usual, 5, 20}, "make it larger", 0, ""},
		"one cell":             {environment{usual, 1, 1}, "s", 0, ""},
		"TERM unset":           {environment{withVariables(usual, "TERM"), 30, 100}, "activeQ", 0, ""},
		"TERM dumb":            {environment{withVariables(usual, "TERM=dumb"), 30, 100}, "", 1, "schedq watch and schedq report work without one"},
		"unknown TERM":         {environment{withVariables(usual, "TERM=no-such-terminal", "TERMINFO=/nowhere"), 30, 100}, "activeQ", 0, ""},
		"no colours, no UTF-8": {environment{withVariables(usual, "NO_COLOR=1", "LC_ALL=POSIX"), 30, 100}, "activeQ", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := startAt(t, c.environment, path, "--recording", "workshop")
			if c.shows != "" {
				s.waitFor(c.shows)
				s.typeKeys("q")
			}
			s.waitExit(c.code)
			s.waitFor(c.last)
		})
	}
}

// waitExit waits for the program to end and checks its exit code, and that it printed no stack.
func (s *console) waitExit(code int) {
	s.Helper()
	select {
	case err := <-s.ended:
		if got := s.program.ProcessState.ExitCode(); got != code {
			s.mu.Lock()
			s.Errorf("exit %d (%v), want %d: %q", got, err, code, s.written.String())
			s.mu.Unlock()
		}
	case <-time.After(timeout):
		s.Fatal("the program does not end")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Contains(s.written.Bytes(), []byte("goroutine ")) {
		s.Errorf("it printed a stack: %q", s.written.String())
	}
}

// TestPlacesShared: two programs can show the same recording with the same state directory.
func TestPlacesShared(t *testing.T) {
	path, at := program(t), environment{cleanVariables(t), 40, 140}
	one, other := startAt(t, at, path, "--recording", "workshop"), startAt(t, at, path, "--recording", "workshop")
	for _, s := range []*console{one, other} {
		s.waitFor("activeQ")
	}
	one.typeKeys("q")
	other.typeKeys("q")
	one.waitExit(0)
	other.waitExit(0)
	again := startAt(t, at, path, "--recording", "workshop")
	again.waitFor("activeQ")
	again.typeKeys("q")
	again.waitExit(0)
}

// TestPlacesFull: a full disk is an error and leaves no partial file.
func TestPlacesFull(t *testing.T) {
	path, disk := program(t), t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16k"); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip("mount needs root")
	} else if err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	fill := bytes.Repeat([]byte("x"), 1<<10)
	for f, err := os.Create(filepath.Join(disk, "full")); err == nil; _, err = f.Write(fill) {
		defer f.Close()
	}
	recording := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(recording, manyPods(100), 0o600); err != nil {
		t.Fatal(err)
	}
	convert := exec.CommandContext(t.Context(), path, "convert", recording, "-o", filepath.Join(disk, "b.jsonl"))
	convert.Env = cleanVariables(t)
	out, err := convert.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("b.jsonl can't be written: no space left on device\n")) || bytes.Contains(out, []byte("goroutine ")) {
		t.Errorf("%v, %s", err, out)
	}
	s := startAt(t, environment{withVariables(cleanVariables(t), "XDG_STATE_HOME="+disk), 40, 140}, path, "--recording", "workshop")
	s.waitFor("activeQ")
	s.typeKeys("q")
	s.waitExit(1)
	s.waitFor("no space left on device")
	entries, err := os.ReadDir(disk)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "full" && !e.IsDir() {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestPlacesOfOldClusters: removed kubeconfig features are an error.
func TestPlacesOfOldClusters(t *testing.T) {
	path := program(t)
	for user, want := range map[string]string{
		"auth-provider: {name: gcp, config: {cmd-path: gcloud}}":                                                  "gcp",
		"auth-provider: {name: azure, config: {environment: AzurePublicCloud}}":                                   "azure",
		"exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws-iam}":                             "v1alpha1",
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/a-plugin, interactiveMode: Never}": "a-plugin",
	} {
		config := filepath.Join(t.TempDir(), "config")
		text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],\n" +
			"clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: u, user: {" + user + "}}]}"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), path, "list", "--kubeconfig", config)
		cmd.Env = cleanVariables(t)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") > 3 || strings.Contains(string(out), "goroutine ") {
			t.Errorf("%s: %v, %s", user, err, out)
		}
	}
}
