package files

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestLongLogRecordings: real schedulers' logs tell the same alone, kept or not, as they are and in parts. SCHEDQ_RECORDINGS is their
// folder.
func TestLongLogRecordings(t *testing.T) {
	for _, log := range recordingFiles(t, "sched.log.gz") {
		text := unpackedText(t, log)
		parts := inParts(text, 3)
		name := filepath.Base(filepath.Dir(log))
		t.Run(name, func(t *testing.T) { compareKept(t, log) })
		t.Run(name+" in parts", func(t *testing.T) {
			compareKept(t, in(t, "0.log", parts[0], "1.log", parts[1], "2.log", parts[2])...)
		})
		for what, text := range map[string]string{"at 2": cutTo(text, 2), "at 3": cutTo(text, 3), "turned down": parts[0] + parts[1] + cutTo(parts[2], 2)} {
			t.Run(name+" "+what, func(t *testing.T) { compareKept(t, in(t, "cut.log", text)...) })
		}
	}
}

// compareAllKept compares the events and errors of files opened as long and not. The events have to be kept.
func compareAllKept(t *testing.T, paths ...string) {
	t.Helper()
	kept, want := opened(paths, keep)
	long, got := opened(paths, 1)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v, and kept %v", got, want)
	}
	if want == nil && (long.Reread != nil || allOf(t, long) != allOf(t, kept)) {
		t.Error("other events, or not kept")
	}
}

// TestLongLog: a scheduler's log has the same events, kept or not, at any verbosity, and joined with counts and marks.
func TestLongLog(t *testing.T) {
	_, five := aPair(40, 5)
	_, three := aPair(40, 3)
	_, two := aPair(40, 2)
	fives, threes, twos := inParts(five, 2), inParts(three, 2), inParts(two, 2)
	for name, content := range map[string][]string{
		"whole":              {"sched.log", five},
		"in parts":           {"sched.1.log", fives[0], "sched.2.log", fives[1]},
		"the second part":    {"sched.log", fives[1]},
		"with counts":        {"sched.log", five, "metrics.jsonl", counts, "driver.log", driverLog},
		"packed and cut off": {"sched.log.gz", packed(t, five[:len(five)-30])},
		"damaged":            {"sched.log", fives[0] + "what is this\n" + fives[1]},
		"out of order":       {"sched.log", fives[1] + fives[0]},
		"without moves":      {"sched.log", five[:strings.Index(five, "\n")+1]},
		"of 3":               {"sched.log", three},
		"of 2":               {"sched.log", two},
		"of 2, out of order": {"sched.log", twos[1] + twos[0]},
		"turned down":        {"sched.log", fives[0] + twos[1]},
		"turned up":          {"sched.log", threes[0] + fives[1]},
		"in parts, one of 2": {"sched.1.log", fives[0], "sched.2.log", twos[1]},
		"of 2, with counts":  {"driver.log", driverLog, "sched.log", two, "metrics.jsonl", counts},
	} {
		t.Run(name, func(t *testing.T) { compareKept(t, in(t, content...)...) })
	}
}

// TestLongLogSeeded: a scheduler's log has the objects of a seed, kept or not.
func TestLongLogSeeded(t *testing.T) {
	_, five := aPair(40, 5)
	seed := in(t, "seed.json", `{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","creationTimestamp":"2026-11-21T09:00:00Z"}}]}`)
	paths := in(t, "sched.log", five)
	kept, err := opened(paths, keep, seed...)
	if err != nil {
		t.Fatal(err)
	}
	long, err := opened(paths, 1, seed...)
	if err != nil {
		t.Fatal(err)
	}
	want := allOf(t, kept)
	if long.Reread == nil || kept.Reread != nil || !strings.Contains(want, `"kind":"Node"`) {
		t.Fatalf("which of them is kept, and where is the node?\n%s", want)
	}
	for range 2 {
		if got := allOf(t, long); got != want {
			t.Errorf("events\n%s\nand kept\n%s", got, want)
		}
	}
}

// TestLongLogKept: problems of schedulers' logs are reported as if they were kept.
func TestLongLogKept(t *testing.T) {
	_, five := aPair(40, 5)
	for name, content := range map[string][]string{
		"of another program": {"sched.log", "I1121 10:00:00.500000       1 server.go:187] \"Version\" version=\"v1.37.1\"\n"},
		"of two runs":        {"sched.log", five, "sched.2.log", strings.ReplaceAll(five, "I1121", "I1120")},
		"mixed":              {"sched.log", five + auditLog},
	} {
		t.Run(name, func(t *testing.T) { compareAllKept(t, in(t, content...)...) })
	}
}

// TestLongTruth: a scheduler's log that tells all moves tells the same beside a recording that it is compared with, kept or not, and
// what can't be of the same run is said.
func TestLongTruth(t *testing.T) {
	audit, five := aPair(40, 5)
	_, two := aPair(40, 2)
	audits, fives := inParts(audit, 2), inParts(five, 2)
	other := strings.ReplaceAll(five, "p-", "q-")
	yearLater := func(log string) string { return strings.ReplaceAll(log, "2026-", "2019-") }
	for name, c := range map[string]struct {
		audit string
		log   []string
		long  bool
		wrong string // in the notices; empty if nothing is wrong
	}{
		"of 5":                    {audit, []string{five}, true, ""},
		"in parts":                {audit, fives, true, ""},
		"of years ago":            {yearLater(audit), []string{five}, true, ""},
		"begins earlier":          {audits[1], []string{five}, true, ""},
		"with pods of its own":    {audit, []string{other + five[strings.Index(five, "\n")+1:]}, true, ""},
		"of 2":                    {audit, []string{two}, true, ""},
		"with an audit log":       {audit, []string{five, audit}, true, ""},
		"of other pods":           {audit, []string{other}, false, "none of the 40 pods"},
		"one of them, other pods": {audit, []string{fives[0], strings.ReplaceAll(fives[1], "p-", "q-")}, false, "none of the"},
		"of another time":         {audit, []string{strings.ReplaceAll(five, "I1121", "I1120")}, false, "of different runs"},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := opened(in(t, "audit.log", c.audit), keep)
			if err != nil {
				t.Fatal(err)
			}
			var content []string
			for i, log := range c.log {
				content = append(content, fmt.Sprintf("%d.log", i), log)
			}
			paths := in(t, content...)
			beside := func(from int64) (*sources.Recording, error) {
				return Open(t.Context(), paths, Options{Beside: rec, LongFrom: from, Summary: noSummary})
			}
			kept, want := beside(keep)
			long, got := beside(1)
			if fmt.Sprint(got) != fmt.Sprint(want) || (want != nil) != (c.wrong != "") || want != nil && !strings.Contains(want.Error(), c.wrong) {
				t.Fatalf("%v, and kept %v, want %q", got, want, c.wrong)
			}
			if want == nil && ((long.Reread != nil) != c.long || allOf(t, long) != allOf(t, kept)) {
				t.Errorf("other events, or kept: %t", long.Reread == nil)
			}
		})
	}
}

// TestLongHolds: memory depends on the pods that are there at a time, not on how long the logs are: of a scheduler's log alone, and with the
// audit log beside it.
func TestLongHolds(t *testing.T) {
	for _, c := range []struct {
		verbosity, perPod int // events
		audited           bool
	}{{5, 4, false}, {2, 1, false}, {5, 4, true}, {2, 4, true}} {
		held := map[int]uint64{} // bytes, by how many pods came and went
		for _, pods := range []int{5000, 20_000} {
			audit, sched := aPair(pods, c.verbosity)
			content := []string{"sched.log", sched}
			if c.audited {
				content = append(content, "audit.log", audit)
			}
			rec, err := opened(in(t, content...), 1)
			if err != nil {
				t.Fatal(err)
			}
			audit, sched, content = "", "", nil
			n := 0
			for _, err := range rec.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == c.perPod*pods {
					held[pods] = heap()
				}
			}
			if held[pods] == 0 || rec.Reread == nil {
				t.Fatalf("%+v: %d events of %d pods", c, n, pods)
			}
		}
		t.Logf("%+v: %d KB are held of 5,000 pods, and %d KB of 20,000", c, held[5000]>>10, held[20_000]>>10)
		if most := held[5000] + held[5000]/2; held[20_000] > most {
			t.Errorf("%+v: %d bytes are held of 20,000 pods, and %d of 5,000", c, held[20_000], held[5000])
		}
	}
}
