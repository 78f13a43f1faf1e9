package hostile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Limits of a run. A run is too slow if both its wall time and its CPU time exceed slow, since a
// busy machine adds only wall time.
const (
	slow        = 10 * time.Second
	hangTimeout = 2 * time.Minute
	maxMemory   = 1536 // MiB
	bombMemory  = 300  // MiB, for a compression bomb
)

// outcome is the result of a run of the program.
type outcome struct {
	args           []string
	code           int // -1 if it was killed
	stdout, stderr []byte
	wall, cpu      time.Duration
	memory         int // maximum resident, MiB
	killed         string
}

// maxKept limits how much of an output is kept. The rest is only checked.
const maxKept = 1 << 20

// run runs the program to its end or to its limits.
func run(t testing.TB, path, dir string, env []string, memory int, args ...string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangTimeout)
	defer cancel()
	o := &outcome{args: args}
	stdout, stderr := &outputChecker{}, &outputChecker{}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(cleanVariables(t), env...), stdout, stderr
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watching := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(watching)
		for ticks := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-over:
				ticks.Stop()
				return
			case <-ticks.C:
			}
			o.memory = max(o.memory, resident(cmd.Process.Pid))
			if o.memory > memory {
				o.killed = fmt.Sprintf("it takes more than %d MiB", memory)
				cmd.Process.Kill()
			}
		}
	}()
	err := cmd.Wait()
	o.wall = time.Since(begun)
	close(over)
	<-watching
	switch state := cmd.ProcessState; {
	case state == nil:
		t.Fatal(err)
	case ctx.Err() != nil && o.killed == "":
		o.killed = "it hangs"
		fallthrough
	default:
		o.code, o.cpu = state.ExitCode(), state.UserTime()+state.SystemTime()
	}
	o.stdout, o.stderr = stdout.kept.Bytes(), stderr.kept.Bytes()
	for name, l := range map[string]*outputChecker{"standard output": stdout, "standard error": stderr} {
		if len(l.partial) > 0 && l.bad == "" {
			l.bad = "a partial character at the end"
		}
		if l.bad != "" {
			t.Errorf("%v: %s has %s", o, name, l.bad)
		}
	}
	return o
}

func (o *outcome) String() string {
	stderr := strings.TrimSpace(string(o.stderr[:min(len(o.stderr), 400)]))
	return fmt.Sprintf("schedq %.200q: exit %d after %.1f s (%.1f s of CPU time, %d MiB), %q", o.args, o.code, o.wall.Seconds(), o.cpu.Seconds(), o.memory, stderr)
}

// peak matches the maximum resident size in /proc/PID/status.
var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// resident returns the maximum resident size of a process in MiB, or 0 if it is gone.
func resident(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	m := peak.FindSubmatch(status)
	if m == nil {
		return 0
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0
	}
	return kib >> 10
}

// forbidden matches the characters that no output may contain: control characters except tab and
// newline, bidirectional and invisible characters, other line separators, and tags.
var forbidden = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u2028\u2029\U000e0000-\U000e007f]")

// outputChecker checks the output and keeps its beginning.
type outputChecker struct {
	kept    bytes.Buffer
	partial []byte // the beginning of a character
	bad     string
}

func (l *outputChecker) Write(b []byte) (int, error) {
	l.kept.Write(b[:min(len(b), maxKept-l.kept.Len())])
	text := append(l.partial, b...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			whole = len(text) - i
		}
	}
	l.partial = bytes.Clone(text[whole:])
	if text = text[:whole]; l.bad == "" {
		if !utf8.Valid(text) {
			l.bad = fmt.Sprintf("invalid UTF-8: %.80q", text)
		} else if at := forbidden.FindIndex(text); at != nil {
			l.bad = fmt.Sprintf("%q: %q", text[at[0]:at[1]], text[max(0, at[0]-60):min(len(text), at[1]+60)])
		}
	}
	return len(b), nil
}

// problems returns the problems of a run: an exceeded limit, a crash, or invalid messages. Each
// message must be one line that starts with the program's name or one of prefixes.
func (o *outcome) problems(prefixes ...string) (problems []string) {
	addIf := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	addIf(o.killed != "", "%s", o.killed)
	addIf(o.killed == "" && (o.code < 0 || o.code > 2), "exit %d", o.code)
	addIf(o.wall > slow && o.cpu > slow, "it takes longer than %v", slow)
	addIf(bytes.Contains(o.stderr, []byte("goroutine ")) || bytes.Contains(o.stderr, []byte("panic:")), "it crashed")
	lines := strings.Split(strings.TrimSpace(string(o.stderr)), "\n")
	if o.code == 2 && strings.HasPrefix(lines[len(lines)-1], "See schedq ") {
		lines = lines[:len(lines)-1]
	}
	seen := map[string]bool{}
	for _, line := range lines {
		addIf(line != "" && seen[line], "a repeated message: %s", line)
		addIf(len(line) > 4096, "a message of %d bytes", len(line))
		hasPrefix := func(prefix string) bool { return strings.HasPrefix(line, prefix) }
		addIf(line != "" && !hasPrefix("schedq: ") && !slices.ContainsFunc(prefixes, hasPrefix), "a message of several lines: %s", line)
		seen[line] = true
	}
	addIf(o.killed == "" && o.code > 0 && lines[0] == "", "it fails without a message")
	return problems
}
