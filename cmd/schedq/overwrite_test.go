package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/disk/disktest"
	"github.com/schedq/schedq/sources/live/livetest"
)

const someRecording = "../../sources/embedded/workshop.jsonl.zst"

// smallRecording writes a trace of few lines.
func smallRecording(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.jsonl")
	text := `{"schedq":"trace","version":1}
{"time":"2026-11-21T12:00:00Z","verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}}}
{"time":"2026-11-21T12:00:00.1Z","move":{"pod":"default/web","to":"active","event":"UnscheduledPodAdd"}}
{"time":"2026-11-21T12:00:01Z","mark":{"text":"one"}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothingIsOverwrittenUnasked: each command that writes a file refuses one that is there, in a sentence that
// says how it is replaced; with --force it is, by a file of one's own.
func TestNothingIsOverwrittenUnasked(t *testing.T) {
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
			t.Errorf("schedq %s: the file holds %.40q, %v", c.command, text, err)
		}
		if c.mode == 0 {
			continue // needs a cluster or a terminal
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

// TestALinkIsNotFollowed: neither one in a file's place nor one that waits where files were once written first.
func TestALinkIsNotFollowed(t *testing.T) {
	small, folder := smallRecording(t), t.TempDir()
	victim := filepath.Join(folder, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"out.jsonl", ".part-other.jsonl"} {
		if err := os.Symlink("victim", filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(folder, "out.jsonl")
	if code, _, stderr := schedq(t, "", "convert", small, "-o", out); code != 1 || !strings.Contains(stderr, "is a symbolic link") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	for _, args := range [][]string{{"-o", out, "--force"}, {"-o", filepath.Join(folder, "other.jsonl")}} {
		if code, _, stderr := schedq(t, "", append([]string{"convert", small}, args...)...); code != 0 {
			t.Errorf("exit %d, %q", code, stderr)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		t.Errorf("the file behind the link holds %.40q, %v", text, err)
	}
}

// TestTwoConvertsOfOneName: one wins and the other says so; the file is the winner's.
func TestTwoConvertsOfOneName(t *testing.T) {
	folder := t.TempDir()
	from := []string{someRecording, smallRecording(t)}
	for round := range 3 {
		out := filepath.Join(folder, fmt.Sprint(round, ".jsonl"))
		codes, said := make([]int, len(from)), make([]string, len(from))
		var both sync.WaitGroup
		for i, in := range from {
			both.Go(func() {
				var stderr bytes.Buffer
				codes[i] = run(t.Context(), []string{"convert", in, "-o", out}, strings.NewReader(""), io.Discard, &stderr)
				said[i] = stderr.String()
			})
		}
		both.Wait()
		if codes[0]+codes[1] != 1 || !strings.Contains(said[0]+said[1], "exists already") || strings.Count(said[0]+said[1], "\n") != 1 {
			t.Errorf("exit %d and %d, %q", codes[0], codes[1], said)
		}
		winner := from[codes[0]] // the first if it ended with 0
		_, want, _ := schedq(t, "", "watch", winner)
		if code, got, stderr := schedq(t, "", "watch", out); code != 0 || got != want {
			t.Errorf("exit %d, %s: the file is not what %s was", code, stderr, winner)
		}
	}
}

// TestTwoRecordingsOfOneName: while a recording is written no other is, and it plays.
func TestTwoRecordingsOfOneName(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	kubeconfig := server.Kubeconfig(t)
	path := filepath.Join(t.TempDir(), "incident.jsonl")
	first := runLive(t, "record", "-o", path, "--kubeconfig", kubeconfig)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing is recorded: %s", first.stderr.String())
		}
	}
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

// TestEveryFaultOfConvert: whichever operation on the disk fails, OUT is as it was or whole, and the exit code says
// which; what is said is one line.
func TestEveryFaultOfConvert(t *testing.T) {
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
					var worth, said bytes.Buffer
					code := run(faults.Context(t.Context()), args, strings.NewReader(""), &worth, &said)
					got, _ := os.ReadFile(path)
					if n == 0 {
						want, operations = got, max(operations, faults.Count())
					}
					whole, old := len(got) > 0 && bytes.Equal(got, want), force && string(got) == "precious" || !force && got == nil
					if code == 0 && !whole || !whole && !old {
						t.Errorf("%s, operation %d: exit %d, and the file has %d bytes", file, n, code, len(got))
					}
					if (code == 0) != (said.Len() == 0) || strings.Count(said.String(), "\n") > 1 || code != 0 && !strings.Contains(said.String(), path) && !strings.Contains(said.String(), small) {
						t.Errorf("%s, operation %d: exit %d, %q", file, n, code, said.String())
					}
					if code != 0 && worth.Len() > 0 {
						t.Errorf("%s, operation %d: exit %d, and it is said what it is worth: %q", file, n, code, worth.String())
					}
					if left, _ := filepath.Glob(filepath.Join(folder, ".part-*")); left != nil && !faults.KeptFromRemoving() {
						t.Errorf("%s, operation %d: left is %v", file, n, left)
					}
				}
			}
		}
	}
}
