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

// What any input may cost at the most. Whatever takes this long and this much computing is too slow, however busy the
// machine is; whatever only takes this long waits for others.
const (
	slow       = 10 * time.Second
	hung       = 2 * time.Minute
	anyMemory  = 1536 // MiB
	bombMemory = 300  // MiB, of a small file that is much when it is unpacked
)

// outcome is what came of a run of the program.
type outcome struct {
	args           []string
	code           int // -1: it was killed
	stdout, stderr []byte
	wall, computed time.Duration
	memory         int // the most that was resident, MiB
	killed         string
}

// maxShown is how much of an output is kept. The rest is only looked at.
const maxShown = 1 << 20

// run runs the program to its end, or to what it may cost.
func run(t testing.TB, path, dir string, env []string, memory int, args ...string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	o := &outcome{args: args}
	stdout, stderr := &looked{}, &looked{}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(surroundings(t), env...), stdout, stderr
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watched := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(watched)
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
	<-watched
	switch state := cmd.ProcessState; {
	case state == nil:
		t.Fatal(err)
	case ctx.Err() != nil && o.killed == "":
		o.killed = "it hangs"
		fallthrough
	default:
		o.code, o.computed = state.ExitCode(), state.UserTime()+state.SystemTime()
	}
	o.stdout, o.stderr = stdout.kept.Bytes(), stderr.kept.Bytes()
	for name, l := range map[string]*looked{"standard output": stdout, "standard error": stderr} {
		if len(l.begun) > 0 && l.bad == "" {
			l.bad = "half a character at its end"
		}
		if l.bad != "" {
			t.Errorf("%v: %s has %s", o, name, l.bad)
		}
	}
	return o
}

func (o *outcome) String() string {
	said := strings.TrimSpace(string(o.stderr[:min(len(o.stderr), 400)]))
	return fmt.Sprintf("schedq %.200q: exit %d after %.1f s (%.1f s of computing, %d MiB), %q", o.args, o.code, o.wall.Seconds(), o.computed.Seconds(), o.memory, said)
}

// peak is the most memory that a process ever had.
var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// resident is the most memory that a process had so far, in MiB, or 0 if that isn't known (any more).
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

// forbidden is what no output may have: control characters but tab and line end, what turns the direction of writing,
// what nobody sees, other line ends, and tags.
var forbidden = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u2028\u2029\U000e0000-\U000e007f]")

// looked looks at what is written to it, and keeps the beginning.
type looked struct {
	kept  bytes.Buffer
	begun []byte // of a character that is not whole
	bad   string
}

func (l *looked) Write(b []byte) (int, error) {
	l.kept.Write(b[:min(len(b), maxShown-l.kept.Len())])
	text := append(l.begun, b...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			whole = len(text) - i
		}
	}
	l.begun = bytes.Clone(text[whole:])
	if text = text[:whole]; l.bad == "" {
		if !utf8.Valid(text) {
			l.bad = fmt.Sprintf("bytes that are no text: %.80q", text)
		} else if at := forbidden.FindIndex(text); at != nil {
			l.bad = fmt.Sprintf("%q: %q", text[at[0]:at[1]], text[max(0, at[0]-60):min(len(text), at[1]+60)])
		}
	}
	return len(b), nil
}

// judge says what is wrong with a run, whatever was run: it took too much, crashed, or did not say in a sentence each
// what a person should know. A sentence begins with the program's name, or as one of begun.
func (o *outcome) judge(begun ...string) (wrong []string) {
	wrongIf := func(is bool, format string, args ...any) {
		if is {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	wrongIf(o.killed != "", "%s", o.killed)
	wrongIf(o.killed == "" && (o.code < 0 || o.code > 2), "exit %d", o.code)
	wrongIf(o.wall > slow && o.computed > slow, "it takes longer than %v", slow)
	wrongIf(bytes.Contains(o.stderr, []byte("goroutine ")) || bytes.Contains(o.stderr, []byte("panic:")), "it crashed")
	lines := strings.Split(strings.TrimSpace(string(o.stderr)), "\n")
	if o.code == 2 && lines[len(lines)-1] == "See schedq --help." {
		lines = lines[:len(lines)-1]
	}
	seen := map[string]bool{}
	for _, line := range lines {
		wrongIf(line != "" && seen[line], "it says twice: %s", line)
		wrongIf(len(line) > 4096, "a sentence has %d bytes", len(line))
		begins := func(as string) bool { return strings.HasPrefix(line, as) }
		wrongIf(line != "" && !begins("schedq: ") && !slices.ContainsFunc(begun, begins), "it says more than one sentence: %s", line)
		seen[line] = true
	}
	wrongIf(o.killed == "" && o.code > 0 && lines[0] == "", "it fails without a word")
	return wrong
}
