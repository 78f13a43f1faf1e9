package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
)

// A tiny run: one pod is created and scheduled. The API server completes its response after the scheduler's watch has
// delivered the pod.
const (
	auditLog = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/pods","verb":"create","objectRef":{"resource":"pods","namespace":"default","apiVersion":"v1"},"responseStatus":{"code":201},"responseObject":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1","namespace":"default","uid":"u1","resourceVersion":"10"},"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"hunter2"}]}]}},"requestReceivedTimestamp":"2026-11-21T10:00:01.000000Z","stageTimestamp":"2026-11-21T10:00:01.004000Z"}
{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/pods/web-1/binding","verb":"create","objectRef":{"resource":"pods","namespace":"default","name":"web-1","uid":"u1","apiVersion":"v1","subresource":"binding"},"responseStatus":{"code":201},"requestObject":{"target":{"name":"node-a"}},"responseObject":{"kind":"Status"},"requestReceivedTimestamp":"2026-11-21T10:00:01.005000Z","stageTimestamp":"2026-11-21T10:00:01.006000Z"}
`
	schedLog = `I1121 10:00:00.500000       1 server.go:187] "Starting Kubernetes Scheduler" version="v1.37.1"
I1121 10:00:01.002000       1 active_queue.go:414] "Entity moved to an internal scheduling queue" type="pod" entity="default/web-1" event="UnscheduledPodAdd" queue="Active"
I1121 10:00:01.003000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/web-1"
I1121 10:00:01.006000       1 schedule_one.go:483] "Successfully bound pod to node" pod="default/web-1" node="node-a"
`
	// What the scheduler reported to the API server when its attempt of another pod failed, and when it began.
	factsLog = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/apis/events.k8s.io/v1/namespaces/default/events","verb":"create","userAgent":"kube-scheduler/v1.37.1","objectRef":{"resource":"events","namespace":"default","apiGroup":"events.k8s.io"},"responseStatus":{"code":201},"responseObject":{"kind":"Event","apiVersion":"events.k8s.io/v1","eventTime":"2026-11-21T10:00:01.007000Z","reason":"FailedScheduling","regarding":{"kind":"Pod","namespace":"default","name":"web-2","uid":"u2"},"note":"no"},"stageTimestamp":"2026-11-21T10:00:01.009000Z"}
{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/pods/web-2/status","verb":"patch","userAgent":"kube-scheduler/v1.37.1","objectRef":{"resource":"pods","namespace":"default","name":"web-2","uid":"u2","apiVersion":"v1","subresource":"status"},"responseStatus":{"code":200},"responseObject":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-2","namespace":"default","uid":"u2","resourceVersion":"12"},"spec":{"containers":[{"name":"c"}]}},"requestReceivedTimestamp":"2026-11-21T10:00:01.007500Z","stageTimestamp":"2026-11-21T10:00:01.008000Z"}
`
	counts = `{"time":"2026-11-21T10:00:01.006Z","active":0,"backoff":0,"unschedulable":0,"gated":0}
`
	driverLog = `2026/11/21 10:00:01    0.0s a pod
`
	traceFile = `{"schedq":"trace","version":1}
{"time":"2026-11-21T10:00:00Z","mark":{"text":"x"}}
`
)

// in writes files into a fresh folder and returns their paths, in the order given.
func in(t testing.TB, nameAndText ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := 0; i < len(nameAndText); i += 2 {
		path := filepath.Join(dir, nameAndText[i])
		if err := os.WriteFile(path, []byte(nameAndText[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func show(events []sources.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s ", e.Time.Format("05.000"))
		switch f := e.Fact.(type) {
		case *sources.SchedulerStarted:
			fmt.Fprintf(&b, "start %s\n", f.Release)
		case *sources.ObjectChange:
			fmt.Fprintf(&b, "%s\n", f.Verb)
		case *sources.Move:
			fmt.Fprintf(&b, "to %s\n", f.To)
		case *sources.Counts:
			fmt.Fprintf(&b, "counts\n")
		case *sources.Mark:
			fmt.Fprintf(&b, "mark %s\n", f.Text)
		case *sources.FailedAttempt:
			fmt.Fprintf(&b, "failed %s\n", f.Pod)
		case *sources.StatusPatched:
			fmt.Fprintf(&b, "patched %s\n", f.Pod)
		case *sources.SchedulerRunning:
			fmt.Fprintf(&b, "heard %s\n", f.Release)
		}
	}
	return b.String()
}

func TestMerge(t *testing.T) {
	zs, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Neither names nor the order of files matter.
	paths := in(t, "a.gz", driverLog, "b.txt", counts, "c", string(zs.EncodeAll([]byte(schedLog), nil)), "d.zst", packed(t, auditLog))
	rec, err := Open(context.Background(), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `00.500 start v1.37.1
01.000 mark a pod
01.002 added
01.002 to active
01.003 to inflight
01.006 updated
01.006 to scheduled
01.006 counts
`
	if got := show(rec.Events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if rec.Name != "a.gz and 3 others" || strings.Join(rec.Formats, " ") != "marks metrics schedlog audit" || len(rec.Notices) != 0 {
		t.Errorf("%q, %v, %q", rec.Name, rec.Formats, rec.Notices)
	}
}

// startLog is a scheduler's start as the API server sees it.
func startLog() string {
	text := ""
	for _, r := range []string{"pods", "nodes", "services", "persistentvolumes", "persistentvolumeclaims"} {
		text += fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseStarted","requestURI":"/api/v1/%s?sendInitialEvents=true","verb":"watch",`+
			`"userAgent":"kube-scheduler/v1.37.1","objectRef":{"resource":%q},"stageTimestamp":"2026-11-21T10:00:00.600000Z"}`+"\n", r, r)
	}
	return text
}

// TestFacts: the scheduler's activity in an audit log counts where the scheduler's own log is missing.
func TestFacts(t *testing.T) {
	audit := startLog() + auditLog + factsLog
	rec, err := Open(context.Background(), in(t, "audit.log", audit), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The log begins in the middle: web-2 was there before it was patched.
	if got, want := show(rec.Events), `00.600 added
00.600 start v1.37.1
01.004 added
01.006 updated
01.007 failed default/web-2
01.008 updated
01.008 patched default/web-2
01.009 heard v1.37.1
`; got != want {
		t.Errorf("alone it gives\n%s\nwant\n%s", got, want)
	}
	if rec, err = Open(context.Background(), in(t, "audit.log", audit, "sched.log", schedLog), Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := show(rec.Events), `00.500 start v1.37.1
00.600 added
01.002 added
01.002 to active
01.003 to inflight
01.006 updated
01.006 to scheduled
01.008 updated
`; got != want {
		t.Errorf("beside the scheduler's log it gives\n%s\nwant\n%s", got, want)
	}
}

// TestCountsAfterTheLog: measurements after the end of the scheduler's log are ignored.
func TestCountsAfterTheLog(t *testing.T) {
	late := strings.ReplaceAll(counts, "10:00:01.006", "10:00:09.000")
	for content, want := range map[string]int{counts: 1, late: 0} {
		rec, err := Open(context.Background(), in(t, "sched.log", schedLog, "counts", content), Options{Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(show(rec.Events), "counts"); got != want {
			t.Errorf("%d counts of %s, want %d", got, content, want)
		}
	}
}

func TestStandardInput(t *testing.T) {
	rec, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(packed(t, schedLog)),
		Now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil || rec.Name != "standard input" || len(rec.Events) != 4 || rec.Events[0].Time.Year() != 2026 {
		t.Fatalf("%v %+v", err, rec)
	}
}

// TestYearOfTheAuditLog reads a scheduler's log whose file is years younger than the run.
func TestYearOfTheAuditLog(t *testing.T) {
	paths := in(t, "sched.log", strings.ReplaceAll(schedLog, "I1121", "I1121"), "audit.log", strings.ReplaceAll(auditLog, "2026-", "2019-"))
	rec, err := Open(context.Background(), paths, Options{})
	if err != nil || rec.Events[0].Time.Year() != 2019 {
		t.Errorf("%v %+v", err, rec)
	}
}

// TestBeside opens a file that is compared with a recording of the same run, and not merged with it.
func TestBeside(t *testing.T) {
	past := strings.NewReplacer("2026-", "2019-").Replace
	other := strings.NewReplacer("web-1", "other").Replace
	later := strings.NewReplacer("10:00:", "11:30:").Replace
	rec, err := Open(context.Background(), in(t, "audit.log", past(auditLog)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ log, want string }{
		{schedLog, ""},
		{other(schedLog), "DIR/a and audit.log are of different runs: none of the 1 pods in the former, such as default/other, is in the latter"},
		{later(schedLog), "audit.log and DIR/a are of different runs: the former covers 2019-11-21 10:00:01 to 10:00:01, the latter 2019-11-21 11:30:00 to 11:30:01"},
		{later(past(auditLog)), "audit.log and DIR/a are of different runs: the former covers 2019-11-21 10:00:01 to 10:00:01, the latter 2019-11-21 11:30:01 to 11:30:01"},
	} {
		paths, got := in(t, "a", c.log), ""
		truth, err := Open(context.Background(), paths, Options{Beside: rec})
		if err != nil {
			got = strings.ReplaceAll(err.Error(), filepath.Dir(paths[0]), "DIR")
		} else if len(truth.Events) != 4 || truth.Events[0].Time.Year() != 2019 {
			t.Errorf("%+v", truth)
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestBadInput is the list of what people get wrong: each gives one clear sentence that names the file,
// the line and the cause. What is only damaged in part is an error if a person asks for it, and a notice else.
func TestBadInput(t *testing.T) {
	long := auditLog + `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"` + strings.Repeat("a", 100<<20)
	klog := func(text string) string { return schedLog + "I1121 10:00:02.000000       1 a.go:1] " + text + "\n" }
	later := strings.NewReplacer("10:00:", "11:30:").Replace
	for _, c := range []struct {
		name   string
		files  []string
		want   string
		notice string // if it is none that stops the reading
	}{
		{"empty", []string{"a", ""}, "DIR/a is empty", ""},
		{"gzip cut off half-way", []string{"a", packed(t, strings.Repeat(auditLog, 9))[:300]}, "DIR/a: the gzip data is cut off after line 0: unexpected EOF", ""},
		{"a line of binary", []string{"a", auditLog + "\x00\x01\xff\n" + auditLog}, "DIR/a:3: the line is binary, not text",
			"DIR/a: line 3 can't be read: the line is not a JSON object"},
		{"binary from the start", []string{"a", "\x7fELF\x02\x01\x00"}, "DIR/a:1: the line is binary, not text", ""},
		{"a line of 100 MB", []string{"a", long}, "DIR/a:3: the line is longer than 16 MiB",
			"DIR/a: line 3 can't be read: the line is longer than 16 MiB"},
		{"a first line of 100 MB", []string{"a", long[len(auditLog)+60:]}, "DIR/a:1: the line is longer than 16 MiB", ""},
		{"a klog of another program", []string{"a", "I1121 10:00:02.000000       1 kubelet.go:1] \"Starting kubelet\"\n"},
			"DIR/a: this is not a kube-scheduler log: it is kubelet's", ""},
		{"a log of another program", []string{"a", "\x1b[32mINFO\x1b[0m listening on :8080\n"},
			`DIR/a has a format that schedq does not read (an audit log of kube-apiserver, a log of kube-scheduler, a trace, a recording of kube-scheduler-simulator, kwok or k8shark, counts, marks, a scenario, a SimKube trace or a table of openb; pass objects, as kubectl get -o json prints them, as --seed): its first line is "␛[32mINFO␛[0m listening on :8080"`, ""},
		{"Markdown that shows no lines of one", []string{"a", "# How it reads\n\n```json\n{}\n```\n"},
			"DIR/a is a Markdown text, and no fence in it contains unmodified lines of an audit log or kube-scheduler's log", ""},
		{"Markdown that shows lines of one", []string{"a", "# How it reads\n\n```json\n" + auditLog + "```\n"},
			"DIR/a:1: the line is not a JSON object", "DIR/a: 3 lines can't be read, the first is line 1: the line is not a JSON object"},
		{"objects", []string{"a", listOf(podObject("web-1", "u1", "2026-11-21T10:00:01Z"))},
			"DIR/a contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log", ""},
		{"objects of an array", []string{"a", "[" + podObject("web-1", "u1", "2026-11-21T10:00:01Z") + "]"},
			"DIR/a contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log", ""},
		{"a pod in YAML", []string{"a", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"},
			"DIR/a contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log", ""},
		{"kubectl describe", []string{"a", "Name:             saw-0\nNamespace:        mill\nStatus:           Pending\nEvents:\n  Type     Reason            Age   From\n"},
			"DIR/a is output of kubectl describe, without the times of attempts: pass the output of kubectl get -o json as --seed, with an audit log or kube-scheduler's log", ""},
		{"a table of Events", []string{"a", "LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n2m1s        Warning   FailedScheduling   pod/saw-0   0/4 nodes are available\n"},
			"DIR/a is a table of Events, with ages instead of times: pass the output of kubectl get events -A -o json as --seed, with a log", ""},
		{"a table of pods", []string{"a", "NAMESPACE   NAME    READY   STATUS    RESTARTS   AGE\nmill        saw-0   0/1     Pending   0          2m\n"},
			"DIR/a is a table from kubectl, without times: pass the output with -o json as --seed, with a log", ""},
		{"messages without times", []string{"a", "\"Unable to schedule pod; no fit; waiting\" pod=\"mill/saw-0\"\n"},
			"DIR/a has kube-scheduler's messages without klog's header, which has their times: pass the lines as kube-scheduler writes them", ""},
		{"klog's JSON of another program", []string{"a", `{"ts":1763722576372.925,"caller":"a.go:1","msg":"Starting kubelet","v":3}` + "\n"},
			"DIR/a: this is not a kube-scheduler log: none of its 1 lines is one that kube-scheduler writes", ""},
		{"CloudWatch's, cut off", []string{"a", `{"events":[{"timestamp":1763722576372,"message":` + strconv.Quote(strings.TrimSpace(auditLog)) + `},{"timest`},
			"DIR/a: cannot be read after line 2: what holds the log's lines is cut off", "DIR/a: what holds the log's lines is cut off: schedq skips the rest"},
		{"an unknown trace version", []string{"a", `{"schedq":"trace","version":7}` + "\n"},
			"DIR/a:1: the trace has version 7, and this schedq reads version 1: use a newer schedq", ""},
		{"a pod name full of escape codes", []string{"a", klog("\"Attempting to schedule pod\" pod=\"default/\x1b]0;gotcha\x07\u202e\"")},
			`DIR/a:5: "␛]0;gotcha␇<U+202E>" is not a Kubernetes object name`,
			`DIR/a: line 5 can't be read: "␛]0;gotcha␇<U+202E>" is not a Kubernetes object name`},
		{"and in an audit log", []string{"a", strings.ReplaceAll(auditLog, `"name":"web-1","namespace"`, `"name":"\u001b[2J","namespace"`)},
			`DIR/a:1: in a Pod, "␛[2J" is not a Kubernetes object name`,
			`DIR/a: a change of an object is left out, in line 1, of Pod default/\u001b[2J: in a Pod, "␛[2J" is not a Kubernetes object name`},
		{"different runs", []string{"a", auditLog, "b", later(schedLog)},
			"DIR/a and DIR/b are of different runs: the former covers 2026-11-21 10:00:01 to 10:00:01, the latter 2026-11-21 11:30:00 to 11:30:01", ""},
		{"different runs at the same time", []string{"a", auditLog, "b", strings.ReplaceAll(schedLog, "web-1", "other")},
			"DIR/b and DIR/a are of different runs: none of the 1 pods in the former, such as default/other, is in the latter", ""},
		{"two schedulers", []string{"a", schedLog + strings.ReplaceAll(klog(`"x"`), "10:00:0", "10:00:3"), "b", strings.ReplaceAll(schedLog, "10:00:0", "10:00:1")},
			"DIR/a and DIR/b are of different runs: the former covers 2026-11-21 10:00:01 to 10:00:31, the latter 2026-11-21 10:00:11 to 10:00:11, and schedulers that take turns do not work at the same time: open the log of one scheduler", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := in(t, c.files...)
			dir := filepath.Dir(paths[0])
			for _, strict := range []bool{true, false} {
				rec, err := Open(context.Background(), paths, Options{Strict: strict})
				if err == nil && !strict && c.notice != "" {
					if got := strings.ReplaceAll(strings.Join(rec.Notices, "|"), dir, "DIR"); !strings.Contains(got, c.notice) {
						t.Errorf("notices %s\nwant    %s", got, c.notice)
					}
					continue
				}
				if err == nil {
					t.Fatal("it was taken")
				}
				if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != c.want || !strict && c.notice != "" {
					t.Errorf("strict %v: got  %s\nwant %s", strict, got, c.want)
				}
			}
		})
	}
}

func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	paths := in(t, "a", auditLog)
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{nil, "no file is given"},
		{[]string{filepath.Join(dir, "none")}, "none: no such file or directory"},
		{[]string{paths[0], filepath.Join(dir, "none")}, "none: no such file or directory"},
		{[]string{dir}, " contains no file"},
		{[]string{"-", "-"}, "- is given twice"},
		{[]string{"-"}, "standard input is empty"},
	} {
		_, err := Open(context.Background(), c.paths, Options{Stdin: strings.NewReader("")})
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.paths, err, c.want)
		}
	}
}

// TestCutOff: a cut-off last line is no error, and the lines before it are read.
func TestCutOff(t *testing.T) {
	paths := in(t, "audit.log", auditLog[:len(auditLog)-30], "sched.log.gz", packed(t, schedLog[:len(schedLog)-30]))
	rec, err := Open(context.Background(), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(strings.Join(rec.Notices, "\n"), filepath.Dir(paths[0])+"/", "")
	if got != `audit.log: line 2 is cut off; the recording ends at 2026-11-21 10:00:01.004 UTC
sched.log.gz: line 4 is cut off; the recording ends at 2026-11-21 10:00:01.003 UTC` {
		t.Error(got)
	}
	if len(rec.Events) != 4 {
		t.Errorf("%s", show(rec.Events))
	}
}

// TestSequel: rotated logs, and a scheduler that was restarted, are one run.
func TestSequel(t *testing.T) {
	later := strings.NewReplacer("10:00:0", "10:00:3", "web-1", "web-2", "u1", "u2").Replace
	rec, err := Open(context.Background(), in(t, "b", later(auditLog), "a", auditLog, "y", later(schedLog), "x", schedLog), Options{})
	if err != nil || len(rec.Events) != 12 || show(rec.Events[:1]) != "00.500 start v1.37.1\n" {
		t.Errorf("%v %+v", err, rec)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, in(t, "a", auditLog, "b", schedLog), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestOneBadFile: the error is about the bad file, not about the other one, whose reading was stopped.
func TestOneBadFile(t *testing.T) {
	var long strings.Builder
	for i := range 20_000 {
		long.WriteString(strings.ReplaceAll(auditLog, `"kind":"Event",`, fmt.Sprintf(`"kind":"Event","auditID":"%d",`, i)))
	}
	paths := in(t, "a", long.String(), "b", traceFile+"rubbish\n")
	if _, err := Open(context.Background(), paths, Options{Strict: true}); err == nil || !strings.HasSuffix(err.Error(), "b:3: the line is not a JSON object") {
		t.Errorf("%v", err)
	}
}

func FuzzOpen(f *testing.F) {
	for _, seed := range []string{auditLog, startLog() + factsLog, schedLog, counts, driverLog, traceFile} {
		f.Add([]byte(seed), []byte(driverLog))
		f.Add([]byte(packed(f, seed)), []byte(auditLog))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		rec, err := Open(context.Background(), in(t, "a", string(a), "b", string(b)), Options{})
		if err != nil {
			if len(err.Error()) > 2000 || string(sources.Sanitize(err.Error())) != err.Error() {
				t.Fatalf("%q", err)
			}
			return
		}
		for i, e := range rec.Events {
			if i > 0 && e.Time.Before(rec.Events[i-1].Time) {
				t.Fatalf("event %d goes back in time", i)
			}
		}
	})
}

// TestRecordOfEvent: of an attempt that both the scheduler's log and its Event tell of, the log tells when and why, and the
// Event as which attempt of the pod it was recorded.
func TestRecordOfEvent(t *testing.T) {
	const v2 = `I1121 10:00:01.006900       1 schedule_one.go:1194] "Unable to schedule pod; no fit; waiting" pod="default/web-2" err="no"
I1121 10:00:09.006900       1 schedule_one.go:1194] "Unable to schedule pod; no fit; waiting" pod="default/web-2" err="no"
`
	recorded := strings.Replace(factsLog, `"uid":"u2"},"note"`, `"uid":"u2","resourceVersion":"11"},"note"`, 1)
	rec, err := Open(t.Context(), in(t, "audit.log", recorded, "sched.log", v2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range rec.Events {
		if f, ok := e.Fact.(*sources.FailedAttempt); ok {
			all = append(all, fmt.Sprintf("%s log=%v uid=%s version=%s count=%d", e.Time.Format("05.000000"), f.Log, f.UID, f.Version, f.Count))
		}
	}
	if want := "[01.006900 log=true uid=u2 version=11 count=1 09.006900 log=true uid=u2 version= count=0]"; fmt.Sprint(all) != want {
		t.Errorf("attempts %v, want %s", all, want)
	}
}
