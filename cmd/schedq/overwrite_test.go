package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/schedq/schedq/sources/disk/disktest"
	"github.com/schedq/schedq/sources/live/livetest"
)

// smallRecording writes a trace of a few lines.
func smallRecording(t *testing.T) string {
	t.Helper()
	return writer(t)("small.jsonl", traceOf(
		`{"time":"2026-11-21T12:00:00Z","verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}}}`,
		`{"time":"2026-11-21T12:00:00.1Z","move":{"pod":"default/web","to":"active","event":"UnscheduledPodAdd"}}`,
		`{"time":"2026-11-21T12:00:01Z","mark":{"text":"one"}}`))
}

// TestForce: each command that writes a file replaces an existing one only with --force.
func TestForce(t *testing.T) {
	small := smallRecording(t)
	for _, c := range []struct {
		command string
		file    string
		mode    fs.FileMode
	}{
		{"convert " + small + " -o", "out.jsonl", 0o600},
		{"convert " + small + " -o", "out.jsonl.zst", 0o600},
		{"convert " + small + " -o", "out.yaml", 0o600},
		{"convert " + small + " -o", "out.parquet", 0o600},
		{"learn new", "lesson.yaml", 0o644},
		{"record -o", "out.jsonl", 0},
		{"seed -o", "out.jsonl", 0},
		{"play -o", "out.yaml", 0},
		{"man", "schedq.1", 0o644},
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, c.file)
		if err := os.WriteFile(path, []byte("precious"), 0o640); err != nil {
			t.Fatal(err)
		}
		args := append(strings.Fields(c.command), path)
		if c.command == "man" {
			args[1] = folder
		}
		code, _, stderr := schedq(t, "", args...)
		if want := fmt.Sprintf("schedq: %s exists already: name another file, or replace it with --force\n", path); code != 1 || stderr != want {
			t.Errorf("schedq %s: exit %d, %q", c.command, code, stderr)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
			t.Errorf("schedq %s: the file contains %.40q, %v", c.command, text, err)
		}
		if c.mode == 0 {
			continue // --force needs a cluster or a terminal
		}
		if code, _, stderr := schedq(t, "", append(args, "--force")...); code != 0 {
			t.Errorf("schedq %s --force: exit %d, %q", c.command, code, stderr)
		}
		if info, err := os.Stat(path); err != nil || info.Size() < 20 || info.Mode() != c.mode {
			t.Errorf("schedq %s --force: %v, %v", c.command, info, err)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, ".part-*")); left != nil {
			t.Errorf("schedq %s left %v", c.command, left)
		}
	}
}

// TestRecordLocksFile: no other command can write a file that is being recorded.
func TestRecordLocksFile(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	kubeconfig := server.Kubeconfig(t)
	path := filepath.Join(t.TempDir(), "incident.jsonl")
	first := runLive(t, "record", "-o", path, "--kubeconfig", kubeconfig)
	eventuallyIn(t, path, "schedq")
	for _, more := range [][]string{nil, {"--force"}} {
		for _, command := range [][]string{{"record", "-o", path, "--kubeconfig", kubeconfig, "--for", "1s"}, {"convert", smallRecording(t), "-o", path}} {
			code, _, stderr := schedq(t, "", append(command, more...)...)
			if want := fmt.Sprintf("schedq: %s is being written by another schedq\n", path); code != 1 || stderr != want {
				t.Errorf("schedq %s: exit %d, %q", command[0], code, stderr)
			}
		}
	}
	if code := first.stop(); code != 0 {
		t.Errorf("exit %d: %s", code, first.stderr.String())
	}
	if code, _, stderr := schedq(t, "", "report", path); code != 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestConvertDiskFaults fails each disk operation in turn: OUT is complete with exit code 0, and
// unchanged with an error of one line otherwise.
func TestConvertDiskFaults(t *testing.T) {
	small := smallRecording(t)
	files := []string{"out.jsonl.zst", "out.jsonl", "out.yaml"}
	if testing.Short() {
		files = files[:1]
	}
	for _, file := range files {
		var want []byte
		operations := 1
		for n := 0; n <= operations; n++ {
			for _, fails := range []syscall.Errno{syscall.ENOSPC, 0} {
				for _, force := range []bool{false, true} {
					folder := t.TempDir()
					path := filepath.Join(folder, file)
					args := []string{"convert", small, "-o", path}
					if force {
						args = append(args, "--force")
						if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					faults := &disktest.Faults{From: n, Fails: fails}
					var stdout, stderr bytes.Buffer
					code := run(faults.Context(t.Context()), args, strings.NewReader(""), &stdout, &stderr)
					got, _ := os.ReadFile(path)
					if n == 0 {
						want, operations = got, max(operations, faults.Count())
					}
					whole, old := len(got) > 0 && bytes.Equal(got, want), force && string(got) == "precious" || !force && got == nil
					if code == 0 && !whole || !whole && !old {
						t.Errorf("%s, operation %d: exit %d with a file of %d bytes", file, n, code, len(got))
					}
					if (code == 0) != (stderr.Len() == 0) || strings.Count(stderr.String(), "\n") > 1 || code != 0 && !strings.Contains(stderr.String(), path) && !strings.Contains(stderr.String(), small) {
						t.Errorf("%s, operation %d: exit %d, %q", file, n, code, stderr.String())
					}
					if code != 0 && stdout.Len() > 0 {
						t.Errorf("%s, operation %d: exit %d with output %q", file, n, code, stdout.String())
					}
					if left, _ := filepath.Glob(filepath.Join(folder, ".part-*")); left != nil && !faults.KeptFromRemoving() {
						t.Errorf("%s, operation %d: left %v", file, n, left)
					}
				}
			}
		}
	}
}
