package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestLongJoinedRecordings: real audit logs and the logs of their schedulers tell together the same, kept or not: as they are, cut to
// what a scheduler of -v=2 and of -v=3 writes, and in several parts each. SCHEDQ_RECORDINGS is their folder.
func TestLongJoinedRecordings(t *testing.T) {
	for _, log := range recordingFiles(t, "sched.log.gz") {
		audit := filepath.Join(filepath.Dir(log), "audit.log.gz")
		text := unpackedText(t, log)
		name := filepath.Base(filepath.Dir(log))
		t.Run(name, func(t *testing.T) { compareKept(t, audit, log) })
		t.Run(name+" at 2", func(t *testing.T) { compareKept(t, append(in(t, "2.log", cutTo(text, 2)), audit)...) })
		t.Run(name+" at 3", func(t *testing.T) { compareKept(t, append(in(t, "3.log", cutTo(text, 3)), audit)...) })
		t.Run(name+" turned down", func(t *testing.T) {
			half := inParts(text, 2)
			compareKept(t, append(in(t, "5.log", half[0]+cutTo(half[1], 2)), audit)...)
		})
		t.Run(name+" in parts", func(t *testing.T) {
			var content []string
			for i, part := range inParts(text, 3) {
				if i == 1 {
					part = cutTo(part, 2) // the verbosity was changed
				}
				content = append(content, fmt.Sprintf("sched.%d.log", i), part)
			}
			for i, part := range inParts(unpackedText(t, audit), 2) {
				content = append(content, fmt.Sprintf("audit.%d.log", i), part)
			}
			compareKept(t, in(t, content...)...)
		})
	}
}

// recordingFiles returns the files of that name in the folder of recordings.
func recordingFiles(t *testing.T, name string) []string {
	t.Helper()
	dir := os.Getenv("SCHEDQ_RECORDINGS")
	if dir == "" {
		t.Skip("SCHEDQ_RECORDINGS is not set")
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*", name))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	return logs
}

// compareKept compares the events of files that are kept with those if they are not, twice.
func compareKept(t *testing.T, paths ...string) {
	t.Helper()
	kept, err := opened(paths, keep)
	if err != nil {
		t.Fatal(err)
	}
	long, err := Open(context.Background(), paths, Options{LongFrom: 1, Summary: allSummary})
	if err != nil {
		t.Fatal(err)
	}
	if long.Reread == nil || kept.Reread != nil {
		t.Fatal("which of them is kept?")
	}
	if want, got := fmt.Sprint(kept.Name, kept.Formats, kept.End, kept.Notices), fmt.Sprint(long.Name, long.Formats, long.End, long.Notices); got != want {
		t.Errorf("notices\n%s\nand kept\n%s", got, want)
	}
	for range 2 {
		n := 0
		for ev, err := range long.All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if n >= len(kept.Events) || !ev.Time.Equal(kept.Events[n].Time) || !reflect.DeepEqual(ev.Fact, kept.Events[n].Fact) {
				t.Fatalf("the %dth event is %v %T %+v, and kept %v", n, ev.Time, ev.Fact, ev.Fact, kept.Events[min(n, len(kept.Events)-1)])
			}
			n++
		}
		if n != len(kept.Events) {
			t.Fatalf("%d events, and kept %d", n, len(kept.Events))
		}
	}
	if want, got := kindsOf(kept.Events), kindsOf(long.Events); !slices.Equal(got, want) {
		t.Errorf("the summary has %v, and the events %v", got, want)
	}
}

// kindsOf returns the kinds of facts in events.
func kindsOf(events []sources.Event) []string {
	kinds := map[string]bool{}
	for _, ev := range events {
		kinds[fmt.Sprintf("%T", ev.Fact)] = true
	}
	return slices.Sorted(maps.Keys(kinds))
}

// cutTo returns what of a scheduler's log comes at that verbosity: see cutLog of package report.
func cutTo(log string, verbosity int) string {
	begins := []string{"Starting Kubernetes Scheduler", "Error scheduling pod; retrying", "Unable to schedule pod", "Successfully bound pod to node",
		"Pod doesn't exist in informer cache", `command failed" err="finished without leader elect"`}
	if verbosity > 2 {
		begins = append(begins, "Attempting to schedule pod", "Updating pod condition", "Add event for", "Delete event for")
	}
	var cut strings.Builder
	kept := false
	for line := range strings.Lines(log) {
		if _, text, ok := strings.Cut(line, `] "`); ok && strings.IndexByte("IWE", line[0]) >= 0 {
			kept = slices.ContainsFunc(begins, func(message string) bool { return strings.HasPrefix(text, message) }) ||
				verbosity > 2 && strings.HasPrefix(text, `Pod moved to an internal scheduling queue" `) && strings.Contains(text, " unschedulable plugins=")
		}
		if kept {
			cut.WriteString(line)
		}
	}
	return cut.String()
}

// inParts cuts a text between lines into so many parts.
func inParts(text string, n int) (parts []string) {
	for ; n > 1; n-- {
		at := len(text) / n
		at += strings.IndexByte(text[at:], '\n') + 1
		parts = append(parts, text[:at])
		text = text[at:]
	}
	return append(parts, text)
}

func unpackedText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// aPair is an audit log and the log of its scheduler, of one pod after another: each comes, is tried in vain and then bound, and ends
// when some more have come. Of verbosity 2 the log tells only how attempts end.
func aPair(pods, verbosity int) (audit, sched string) {
	begin := time.Date(2026, 11, 21, 10, 0, 1, 0, time.UTC)
	var a, s strings.Builder
	a.WriteString(startLog())
	s.WriteString(`I1121 10:00:00.500000       1 server.go:187] "Starting Kubernetes Scheduler" version="v1.37.1"` + "\n")
	revision := 10
	request := func(at time.Time, pod int, verb, resource, node, phase string) {
		revision++
		fmt.Fprintf(&a, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/pods/p-%d%s",`+
			`"verb":%q,"userAgent":"kube-scheduler/v1.37.1","objectRef":{"resource":"pods","namespace":"default","name":"p-%d","apiVersion":"v1"},"responseStatus":{"code":200},"responseObject":{"kind":"Pod","apiVersion":"v1","metadata":`+
			`{"name":"p-%d","namespace":"default","uid":"u%d","resourceVersion":"%d","creationTimestamp":"2026-11-21T10:00:01Z"},"spec":{"nodeName":%q,"containers":[{"name":"c"}]},"status":{"phase":%q}},`+
			`"requestReceivedTimestamp":%q,"stageTimestamp":%q}`+"\n",
			pod, resource, verb, pod, pod, pod, revision, node, phase, stamp(at), stamp(at.Add(4*time.Millisecond)))
	}
	line := func(of int, at time.Time, pod int, text string) {
		if of <= verbosity {
			fmt.Fprintf(&s, "I%s       1 x.go:1] %s\n", at.Format("0102 15:04:05.000000"), strings.ReplaceAll(text, "POD", fmt.Sprintf("default/p-%d", pod)))
		}
	}
	const stay = 20
	for i := range pods {
		at := begin.Add(time.Duration(i) * time.Second)
		request(at, i, "create", "", "", "Pending")
		line(5, at.Add(2*time.Millisecond), i, `"Entity moved to an internal scheduling queue" type="pod" entity="POD" event="UnscheduledPodAdd" queue="Active"`)
		line(3, at.Add(3*time.Millisecond), i, `"Attempting to schedule pod" pod="POD"`)
		line(2, at.Add(5*time.Millisecond), i, `"Unable to schedule pod; no fit; waiting" pod="POD" err="0/1 nodes are available: 1 Too many pods."`)
		line(5, at.Add(5*time.Millisecond), i, `"Checking events for in-flight pod" pod="POD" unschedulablePlugins={"NodeResourcesFit":{}}`)
		line(3, at.Add(5*time.Millisecond), i, `"Pod moved to an internal scheduling queue" pod="POD" event="ScheduleAttemptFailure" queue="Unschedulable" unschedulable plugins={"NodeResourcesFit":{}}`)
		line(5, at.Add(100*time.Millisecond), i, `"Entity moved to an internal scheduling queue" type="pod" entity="POD" event="AssignedPodDelete" queue="Active"`)
		line(3, at.Add(101*time.Millisecond), i, `"Attempting to schedule pod" pod="POD"`)
		line(2, at.Add(110*time.Millisecond), i, `"Successfully bound pod to node" pod="POD" node="n"`)
		request(at.Add(108*time.Millisecond), i, "update", "/status", "n", "Running")
		if i >= stay {
			request(at.Add(120*time.Millisecond), i-stay, "delete", "", "n", "Running")
		}
	}
	return a.String(), s.String()
}

// stamp is a time as audit logs have it.
func stamp(at time.Time) string { return at.Format("2006-01-02T15:04:05.000000Z") }

// TestLongJoined: an audit log joined with its scheduler's log has the same events, kept or not.
func TestLongJoined(t *testing.T) {
	audit, five := aPair(40, 5)
	_, two := aPair(40, 2)
	fives, twos, audits := inParts(five, 2), inParts(two, 2), inParts(audit, 2)
	silent := strings.ReplaceAll(five, "p-", "q-")
	for name, content := range map[string][]string{
		"of 5":                 {"audit.log", audit, "sched.log", five},
		"of 2":                 {"sched.log", two, "audit.log", audit},
		"turned down":          {"audit.log", audit, "sched.log", fives[0] + twos[1]},
		"turned up":            {"audit.log", audit, "sched.log", twos[0] + fives[1]},
		"in parts":             {"audit.1.log", audits[0], "sched.1.log", fives[0], "sched.2.log", twos[1], "audit.2.log", audits[1]},
		"the second part":      {"audit.log", audit, "sched.log", fives[1]},
		"audited later":        {"audit.log", audits[1], "sched.log", five},
		"audited for less":     {"audit.log", audits[0], "sched.log", two},
		"with facts":           {"audit.log", startLog() + auditLog + factsLog, "sched.log", schedLog},
		"with counts":          {"audit.log", audit, "sched.log", fives[0], "metrics.jsonl", counts, "driver.log", driverLog},
		"packed and cut off":   {"audit.log.gz", packed(t, audit), "sched.log", five[:len(five)-30]},
		"damaged":              {"audit.log", audit, "sched.log", fives[0] + "what is this\n" + fives[1]},
		"in the middle":        {"audit.log", strings.ReplaceAll(audit, `"create"`, `"update"`), "sched.log", two},
		"out of order":         {"audit.log", audit, "sched.log", fives[1] + fives[0]},
		"without moves":        {"audit.log", audit, "sched.log", five[:strings.Index(five, "\n")+1]},
		"of pods of its own":   {"audit.log", audit, "sched.log", five + silent[strings.Index(silent, "\n")+1:]},
		"mixed":                {"audit.log", audit, "sched.log", five + audits[1]},
		"mixed, no audit log":  {"sched.log", five + audit},
		"mixed, no other log":  {"audit.log", audit + two},
		"mixed, torn event":    {"sched.log", five + audit[:200] + "\n"},
		"mixed, other's lines": {"audit.log", audit + "I1121 10:00:02.000000       1 kubelet.go:1] \"Starting kubelet\"\n"},
		"twice":                {"audit.log", audit, "sched.log", five, "sched.2.log", five},
		"a part twice":         {"audit.log", audit, "sched.log", twos[0], "sched.2.log", two},
		"of another's starts":  {"audit.log", audit, "sched.log", strings.Replace(two, "10:00:00.5", "09:58:00.5", 1)},
	} {
		t.Run(name, func(t *testing.T) { compareKept(t, in(t, content...)...) })
	}
}

// TestLongJoinedKept: errors in an audit log and a scheduler's log read as if the logs were kept in memory, and logs that can't be streamed
// are kept.
func TestLongJoinedKept(t *testing.T) {
	audit, five := aPair(40, 5)
	for name, content := range map[string][]string{
		"of other pods":    {"audit.log", audit, "sched.log", strings.ReplaceAll(five, "p-", "q-")},
		"of another time":  {"audit.log", audit, "sched.log", strings.ReplaceAll(five, "I1121", "I1120")},
		"of other program": {"audit.log", audit, "sched.log", "I1121 10:00:00.500000       1 server.go:187] \"Version\" version=\"v1.37.1\"\n"},
		"mixed, audit":     {"audit.log", strings.Repeat(audit, 20) + schedLog, "sched.log", five},
	} {
		t.Run(name, func(t *testing.T) { compareAllKept(t, in(t, content...)...) })
	}
}

// heap is how many bytes of memory are in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
