package files

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// readDamaged reads a log that a fuzzer modified, and checks invariants of recordings and errors.
func readDamaged(t *testing.T, content []byte) *sources.Recording {
	t.Helper()
	rec, err := Read(context.Background(), "f", content)
	messages := []string{fmt.Sprint(err)}
	if err == nil {
		messages = rec.Notices
	}
	for _, s := range messages {
		if len(s) > 2000 || string(sources.Sanitize(s)) != s {
			t.Fatalf("%q", s)
		}
	}
	if len(messages) > 12 {
		t.Fatalf("%d notices: %q", len(messages), messages)
	}
	return rec
}

// FuzzTorn damages logs: a piece is taken out, another put in its place, and another log is glued to it.
func FuzzTorn(f *testing.F) {
	logs := []string{created("a", 1) + created("b", 2), traceHeader + marked("a", 1) + marked("b", 2), tried("a", 1) + tried("b", 2),
		counted(1, 1) + counted(2, 2), driverLog + driverLog, recorded("a", 1) + recorded("b", 2)}
	for i := range logs {
		f.Add(uint8(i), uint8(i), uint16(40), uint16(60), []byte("\x00\x00"))
		f.Add(uint8(i), uint8(i+1), uint16(5), uint16(5), []byte("\n"))
		f.Add(uint8(i), uint8(i), uint16(100), uint16(30000), []byte(`{"kind":"Event"`))
	}
	f.Fuzz(func(t *testing.T, log, glued uint8, from, length uint16, piece []byte) {
		text := logs[int(log)%len(logs)]
		start := min(int(from), len(text))
		end := min(start+int(length), len(text))
		readDamaged(t, []byte(text[:start]+string(piece)+text[end:]+logs[int(glued)%len(logs)]))
	})
}

// FuzzWrapped puts something before each line of a log, as a container's runtime, journald or a log shipper does. What
// is not read is counted.
func FuzzWrapped(f *testing.F) {
	log := tried("a", 1) + tried("b", 2) + tried("c", 3)
	for _, before := range []string{"", "2026-11-21T10:00:02.372925000Z stderr F ", "2026-11-21T10:00:02.372925000Z stderr P ", "2026-11-21T10:00:02Z ",
		"Nov 21 10:00:02 host kube-scheduler[1]: ", "[pod/kube-scheduler-a/kube-scheduler] ", `{"log":"`, "\t", "\x1b[32m"} {
		f.Add(before, "", log)
		f.Add(before, `\n","stream":"stderr"}`, log)
		f.Add(before, "\r", log)
	}
	f.Fuzz(func(t *testing.T, before, behind, log string) {
		var wrapped strings.Builder
		for line := range strings.Lines(log) {
			wrapped.WriteString(before + strings.TrimSuffix(line, "\n") + behind + "\n")
		}
		rec := readDamaged(t, []byte(wrapped.String()))
		if rec == nil {
			return
		}
		for _, e := range rec.Events {
			if m, ok := e.Fact.(*sources.Move); ok && (sources.CheckName(m.Pod.Name) != nil || !m.To.Known()) {
				t.Fatalf("%+v", m)
			}
		}
	})
}
