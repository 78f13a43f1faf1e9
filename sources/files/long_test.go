package files

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/trace"
)

// selected is a summary of all events, or if it is none of none.
type selected struct {
	none   bool
	events []sources.Event
}

func (s *selected) Add(ev sources.Event) {
	if !s.none {
		s.events = append(s.events, ev)
	}
}

func (s *selected) Events() []sources.Event { return s.events }

func allSummary() Summary { return &selected{} }
func noSummary() Summary  { return &selected{none: true} }

// opened opens files, as those of a long recording from so many bytes on.
func opened(paths []string, from int64, seeds ...string) (*sources.Recording, error) {
	return Open(context.Background(), paths, Options{Seeds: seeds, LongFrom: from, Summary: noSummary})
}

// allOf returns a recording as a trace, and its notices.
func allOf(t *testing.T, rec *sources.Recording) string {
	t.Helper()
	var text bytes.Buffer
	w, err := trace.NewWriter(&text)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range rec.All(context.Background()) {
		if err == nil {
			err = w.Write(ev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %v %s\n%s\n%s", rec.Name, rec.Formats, rec.End, strings.Join(rec.Notices, "\n"), text.String())
}

// traceOf is the trace of an audit log.
func traceOf(t *testing.T, audit string) string {
	t.Helper()
	rec, err := opened(in(t, "audit.log", audit), keep)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(allOf(t, rec), `{"schedq"`)
	return `{"schedq"` + text
}

const keep = 1 << 60

// TestLong: a recording that is not kept has the same events as a kept one, each time it is read.
func TestLong(t *testing.T) {
	audit := startLog() + auditLog + factsLog
	wrapped := fmt.Sprintf(`{"events":[{"timestamp":1763719201372,"message":%q},{"timestamp":1763719201373,"message":%q}]}`, strings.Split(audit, "\n")[0], strings.Split(audit, "\n")[1])
	traced := traceOf(t, audit)
	for name, content := range map[string][]string{
		"plain":             {"audit.log", audit},
		"packed":            {"audit.log.gz", packed(t, audit)},
		"wrapped":           {"audit.json", wrapped},
		"torn":              {"audit.json", wrapped[:len(wrapped)-20]},
		"cut off":           {"audit.log", audit[:len(audit)-30]},
		"damaged":           {"audit.log", auditLog + "what is this\n" + factsLog},
		"two":               {"audit.log", auditLog, "audit.1.log", startLog() + factsLog},
		"in a folder":       {"audit.log", audit, "other.txt", "nothing\n"},
		"with a hole":       {"audit.log", auditLog + "\x00\x00\x00\n" + factsLog},
		"a trace":           {"run.trace", traced},
		"a packed trace":    {"run.trace.gz", packed(t, traced)},
		"a damaged trace":   {"run.trace", traced + "what is this\n" + traced[strings.LastIndex(traced[:len(traced)-1], "\n")+1:]},
		"a trace cut off":   {"run.trace", traced[:len(traced)-10]},
		"a trace of others": {"run.trace", traced + `{"time":"2036-01-01T00:00:00Z","unheard":{}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			paths := in(t, content...)
			if name == "in a folder" {
				paths = []string{filepath.Dir(paths[0])}
			}
			compareKept(t, paths...)
		})
	}
}

// TestLongErrors: Open returns the same errors as for a kept recording.
func TestLongErrors(t *testing.T) {
	for name, content := range map[string]string{
		"other":      "{}\n",
		"no changes": strings.ReplaceAll(auditLog, `"verb":"create"`, `"verb":"get"`),
		"empty":      "",
	} {
		t.Run(name, func(t *testing.T) {
			paths := in(t, "audit.log", content)
			_, want := opened(paths, keep)
			_, got := opened(paths, 1)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, and kept %v", got, want)
			}
		})
	}
	paths := in(t, "audit.log", auditLog)
	rec, err := opened(paths, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	for _, err := range rec.All(context.Background()) {
		if err == nil || !strings.Contains(err.Error(), "audit.log") {
			t.Errorf("a file that is gone: %v", err)
		}
	}
}

// TestLongTraceIsKept: a trace is kept, however long, if its times go back, if the scheduler's log tells of attempts in it, or if
// there is something beside it.
func TestLongTraceIsKept(t *testing.T) {
	traced := traceOf(t, startLog()+auditLog+factsLog)
	header, rest, _ := strings.Cut(traced, "\n")
	records := strings.SplitAfter(rest, "\n")
	half := len(records) / 2
	swapped := header + "\n" + strings.Join(records[half:], "") + strings.Join(records[:half], "")
	logged := traced + `{"time":"2036-01-01T00:00:00Z","logged":{"verbosity":4}}` + "\n"
	for name, paths := range map[string][]string{
		"goes back": in(t, "run.trace", swapped),
		"logged":    in(t, "run.trace", logged),
		"two":       in(t, "run.trace", traced, "other.trace", traced),
	} {
		t.Run(name, func(t *testing.T) { compareAllKept(t, paths...) })
	}
}

// TestLongTraceGrows: playback ignores what is written to a trace after it was opened.
func TestLongTraceGrows(t *testing.T) {
	traced := traceOf(t, startLog()+auditLog+factsLog)
	paths := in(t, "run.trace", traced)
	rec, err := opened(paths, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := allOf(t, rec)
	last := traced[strings.LastIndex(traced[:len(traced)-1], "\n")+1:]
	if err := os.WriteFile(paths[0], []byte(traced+last+last), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := allOf(t, rec); got != want {
		t.Errorf("events\n%s\nwant\n%s", got, want)
	}
}

// TestLongTraceIsBounded: a long trace may tell of any number of pods, one after the other, but not of more at once, or within a
// minute, than the memory allows.
func TestLongTraceIsBounded(t *testing.T) {
	const pods, memory = 1000, 100_000 // about 1,500 bytes per pod
	record := func(at time.Duration, verb string, pod int) string {
		return fmt.Sprintf(`{"time":%q,"verb":%q,"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p%d","namespace":"default","uid":"u%d"}}}`+"\n",
			time.Unix(1763719201, 0).Add(at).UTC().Format(time.RFC3339Nano), verb, pod, pod)
	}
	moved := func(at time.Duration, pod int, to string) string {
		return fmt.Sprintf(`{"time":%q,"move":{"pod":"default/p%d","to":%q}}`+"\n", time.Unix(1763719201, 0).Add(at).UTC().Format(time.RFC3339Nano), pod, to)
	}
	coming := func(at time.Duration, pod int) string { return record(at, "added", pod) + moved(at, pod, "active") }
	deleted := func(at time.Duration, pod int) string { return record(at, "deleted", pod) }
	bound := func(at time.Duration, pod int) string { return moved(at, pod, "scheduled") }
	for _, test := range []struct {
		name         string
		begins, ends func(at time.Duration, pod int) string
		comes, stays time.Duration // 0 is for good
		tooMuch      bool
	}{
		{"one after the other", coming, deleted, time.Minute, time.Second, false},
		{"one after the other, within a minute", coming, deleted, time.Millisecond, time.Microsecond, true},
		{"for good", coming, deleted, time.Minute, 0, true},
		{"moves alone, of pods that are bound", func(at time.Duration, pod int) string { return moved(at, pod, "active") }, bound, time.Minute, time.Second, false},
		{"moves alone, of pods that stay", func(at time.Duration, pod int) string { return moved(at, pod, "active") }, bound, time.Minute, 0, true},
	} {
		var text strings.Builder
		text.WriteString(`{"schedq":"trace","version":1}` + "\n")
		for i := range pods {
			text.WriteString(test.begins(time.Duration(i)*test.comes, i))
			if test.stays > 0 {
				text.WriteString(test.ends(time.Duration(i)*test.comes+test.stays, i))
			}
		}
		paths := in(t, "run.trace", text.String())
		_, err := Open(context.Background(), paths, Options{LongFrom: 1, Memory: memory, Summary: noSummary})
		if test.tooMuch != (err != nil && strings.Contains(err.Error(), "--memory")) || !test.tooMuch && err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestLongStdin: a recording from standard input is kept.
func TestLongStdin(t *testing.T) {
	rec, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(auditLog), LongFrom: 1, Summary: noSummary})
	if err != nil || rec.Reread != nil || len(rec.Events) == 0 {
		t.Errorf("%d events, %v", len(rec.Events), err)
	}
}

// TestLongStops: stopping to read a long recording leaves no goroutine and no open file.
func TestLongStops(t *testing.T) {
	rec, err := opened(in(t, "audit.log", strings.Repeat(startLog()+auditLog+factsLog, 300)), 1)
	if err != nil {
		t.Fatal(err)
	}
	for range rec.All(context.Background()) {
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range rec.All(ctx) {
		if err == nil {
			t.Error("it goes on when it was stopped")
		}
	}
}

// TestLongRecordings: real recordings, in the folder SCHEDQ_RECORDINGS, have the same events, kept or not.
func TestLongRecordings(t *testing.T) {
	for _, path := range recordingFiles(t, "audit.log.gz") {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { compareKept(t, path) })
	}
}
