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

// with returns the environment with the variables, each NAME=VALUE, or without it where there is only a NAME.
func with(environment []string, variables ...string) []string {
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

// TestPlaces: wherever it is begun, there is the screen, a smaller one or a sentence, and a program that ends when it is
// told to.
func TestPlaces(t *testing.T) {
	path := program(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	usual := surroundings(t)
	for name, c := range map[string]struct {
		place
		shows string
		code  int
		ends  string // what is said at the end
	}{
		"usual":                {place{usual, 30, 100}, "activeQ", 0, ""},
		"no home":              {place{with(usual, "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), 30, 100}, "activeQ", 0, ""},
		"read-only home":       {place{with(usual, "HOME=/proc", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), 30, 100}, "activeQ", 1, "/proc/.local"},
		"a file as home":       {place{with(usual, "HOME="+file, "XDG_STATE_HOME", "XDG_CONFIG_HOME"), 30, 100}, "", 1, "not a directory"},
		"small":                {place{usual, 5, 20}, "make it larger", 0, ""},
		"a cell":               {place{usual, 1, 1}, "s", 0, ""},
		"TERM unset":           {place{with(usual, "TERM"), 30, 100}, "activeQ", 0, ""},
		"TERM dumb":            {place{with(usual, "TERM=dumb"), 30, 100}, "", 1, "schedq watch and schedq report work without one"},
		"TERM of no terminfo":  {place{with(usual, "TERM=no-such-terminal", "TERMINFO=/nowhere"), 30, 100}, "activeQ", 0, ""},
		"no colours, no UTF-8": {place{with(usual, "NO_COLOR=1", "LC_ALL=POSIX"), 30, 100}, "activeQ", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := sitAt(t, c.place, path, "--recording", "workshop")
			if c.shows != "" {
				s.until(c.shows)
				s.types("q")
			}
			s.endsWith(c.code)
			s.until(c.ends)
		})
	}
}

// endsWith waits for the program's end, and checks its exit code and that it left no stack behind.
func (s *seat) endsWith(code int) {
	s.Helper()
	select {
	case err := <-s.ended:
		if got := s.program.ProcessState.ExitCode(); got != code {
			s.mu.Lock()
			s.Errorf("exit %d (%v), want %d: %q", got, err, code, s.written.String())
			s.mu.Unlock()
		}
	case <-time.After(patience):
		s.Fatal("it does not end")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Contains(s.written.Bytes(), []byte("goroutine ")) {
		s.Errorf("there is a stack: %q", s.written.String())
	}
}

// TestPlacesShared: two at once on one state directory, for the same recording, are in nobody's way.
func TestPlacesShared(t *testing.T) {
	path, at := program(t), place{surroundings(t), 40, 140}
	one, other := sitAt(t, at, path, "--recording", "workshop"), sitAt(t, at, path, "--recording", "workshop")
	for _, s := range []*seat{one, other} {
		s.until("activeQ")
	}
	one.types("q")
	other.types("q")
	one.endsWith(0)
	other.endsWith(0)
	again := sitAt(t, at, path, "--recording", "workshop")
	again.until("activeQ")
	again.types("q")
	again.endsWith(0)
}

// TestPlacesFull: on a disk without room nothing is half written, and a sentence says so.
func TestPlacesFull(t *testing.T) {
	path, disk := program(t), t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16k"); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip("nobody but root may mount a small disk")
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
	convert.Env = surroundings(t)
	out, err := convert.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("b.jsonl can't be written: no space left on device\n")) || bytes.Contains(out, []byte("goroutine ")) {
		t.Errorf("%v, %s", err, out)
	}
	s := sitAt(t, place{with(surroundings(t), "XDG_STATE_HOME="+disk), 40, 140}, path, "--recording", "workshop")
	s.until("activeQ")
	s.types("q")
	s.endsWith(1)
	s.until("no space left on device")
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

// TestPlacesOfOldClusters: a kubeconfig with what clients read years ago leads to a sentence.
func TestPlacesOfOldClusters(t *testing.T) {
	path := program(t)
	for user, says := range map[string]string{
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
		cmd.Env = surroundings(t)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), says) || strings.Count(string(out), "\n") > 3 || strings.Contains(string(out), "goroutine ") {
			t.Errorf("%s: %v, %s", user, err, out)
		}
	}
}
