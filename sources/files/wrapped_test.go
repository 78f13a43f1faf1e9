package files_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
	"github.com/schedq/schedq/sources/trace"
)

// wrappers are the ways in which clouds and journals hand out a log's lines. stream is the program's name.
var wrappers = map[string]func(stream string, lines []logged) string{
	"CloudWatch, get-log-events": func(stream string, lines []logged) string {
		return document(`{"events":[`, lines, `],"nextForwardToken":"f/1"}`, func(l logged) any {
			return map[string]any{"timestamp": l.at.UnixMilli(), "message": l.text, "ingestionTime": l.at.UnixMilli()}
		})
	},
	"CloudWatch, filter-log-events, indented": func(stream string, lines []logged) string {
		var out bytes.Buffer
		_ = json.Indent(&out, []byte(document(`{"events":[`, lines, `],"searchedLogStreams":[]}`, func(l logged) any {
			return map[string]any{"logStreamName": stream + "-0a", "timestamp": l.at.UnixMilli(), "message": l.text, "eventId": "1"}
		})), "", "    ")
		return out.String()
	},
	"CloudWatch, subscription": func(stream string, lines []logged) string {
		return document(`{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"/aws/eks/x/cluster","logStream":"`+stream+`-0a","logEvents":[`, lines, "]}", func(l logged) any {
			return map[string]any{"id": "1", "timestamp": l.at.UnixMilli(), "message": l.text}
		})
	},
	"CloudWatch, Insights": func(_ string, lines []logged) string {
		return document(`{"results":[`, lines, `],"status":"Complete"}`, func(l logged) any {
			return []map[string]string{{"field": "@timestamp", "value": l.at.Format(time.DateTime)}, {"field": "@message", "value": l.text}}
		})
	},
	"CloudWatch, export to S3": func(_ string, lines []logged) string {
		return prefixed(lines, func(l logged) string { return l.at.Format("2006-01-02T15:04:05.000Z ") })
	},
	"CloudWatch, logs tail": func(stream string, lines []logged) string {
		return prefixed(lines, func(l logged) string { return l.at.Format("2006-01-02T15:04:05.000000+00:00 ") + stream + "-0a " })
	},
	"Azure Monitor, storage": func(stream string, lines []logged) string {
		return perLine(lines, func(l logged) any {
			return map[string]any{"category": stream, "operationName": "x", "time": l.at, "properties": map[string]string{"log": l.text + "\n", "stream": "stdout"}}
		})
	},
	"Azure Monitor, Event Hub": func(stream string, lines []logged) string {
		return document(`{"records":[`, lines, "]}", func(l logged) any {
			return map[string]any{"category": stream, "operationName": "x", "time": l.at, "properties": map[string]string{"log": l.text}}
		})
	},
	"Azure Monitor, AzureDiagnostics": func(stream string, lines []logged) string {
		return document("[", lines, "]", func(l logged) any {
			return map[string]any{"TenantId": "1", "Category": stream, "log_s": l.text}
		})
	},
	"Azure Monitor, resource-specific tables": func(stream string, lines []logged) string {
		return document("[", lines, "]", func(l logged) any {
			if strings.HasPrefix(l.text, "{") {
				return aksAudit(l)
			}
			return map[string]any{"Category": stream, "Level": "INFO", "Message": l.text, "PodName": "kube-scheduler-1", "TimeGenerated": l.at, "Type": "AKSControlPlane"}
		})
	},
	"a container runtime": func(_ string, lines []logged) string {
		return prefixed(lines, func(l logged) string { return l.at.Format("2006-01-02T15:04:05.000000000Z") + " stderr F " })
	},
	"a container runtime, Docker's JSON": func(_ string, lines []logged) string {
		return perLine(lines, func(l logged) any { return map[string]any{"log": l.text + "\n", "stream": "stderr", "time": l.at} })
	},
	"journald, JSON": func(stream string, lines []logged) string {
		return perLine(lines, func(l logged) any {
			return map[string]any{"MESSAGE": l.text, "SYSLOG_IDENTIFIER": stream, "__REALTIME_TIMESTAMP": strconv.FormatInt(l.at.UnixMicro(), 10)}
		})
	},
	"journald, short-iso": func(_ string, lines []logged) string {
		return prefixed(lines, func(l logged) string { return l.at.Format("2006-01-02T15:04:05-0700") + " host k3s[835]: " })
	},
	"journald, short": func(_ string, lines []logged) string {
		return prefixed(lines, func(l logged) string { return l.at.Format("Jan _2 15:04:05") + " host k3s[835]: " })
	},
}

// aksAudit is a row of AKSAudit: of the columns that hold JSON, Azure Monitor hands out the text.
func aksAudit(l logged) any {
	var e map[string]json.RawMessage
	if err := json.Unmarshal([]byte(l.text), &e); err != nil {
		panic(err)
	}
	plain := func(key string) string {
		var s string
		_ = json.Unmarshal(e[key], &s)
		return s
	}
	return map[string]any{"AuditId": plain("auditID"), "Level": plain("level"), "ObjectRef": string(e["objectRef"]), "RequestReceivedTime": plain("stageTimestamp"),
		"RequestUri": plain("requestURI"), "ResponseObject": string(e["responseObject"]), "ResponseStatus": string(e["responseStatus"]), "Stage": plain("stage"),
		"StageReceivedTime": plain("stageTimestamp"), "TimeGenerated": l.at, "User": string(e["user"]), "UserAgent": plain("userAgent"), "Verb": plain("verb"), "Type": "AKSAudit"}
}

// logged is a line of a log, and when it was written.
type logged struct {
	at   time.Time
	text string
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func document(begin string, lines []logged, end string, record func(logged) any) string {
	var all []string
	for _, l := range lines {
		all = append(all, marshal(record(l)))
	}
	return begin + strings.Join(all, ",") + end + "\n"
}

func perLine(lines []logged, record func(logged) any) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(marshal(record(l)) + "\n")
	}
	return b.String()
}

func prefixed(lines []logged, prefix func(logged) string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(prefix(l) + l.text + "\n")
	}
	return b.String()
}

// auditOf and klogOf are what an API server and a scheduler could have written of a recording.
func auditOf(rec *sources.Recording) (lines []logged) {
	verbs := map[sources.Verb]string{sources.Added: "create", sources.Updated: "update", sources.Deleted: "delete"}
	resources := map[string]string{"Pod": "pods", "Node": "nodes", "Namespace": "namespaces", "Service": "services"}
	for i, e := range rec.Events {
		c, ok := e.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		kind := c.Object.GetObjectKind().GroupVersionKind()
		m := c.Object.(metav1.Object)
		if resources[kind.Kind] == "" {
			continue
		}
		lines = append(lines, logged{e.Time, fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"%d","stage":"ResponseComplete","requestURI":"/%d","verb":"%s","user":{"username":"x"},"userAgent":"x","objectRef":{"apiVersion":"v1","name":"%s","namespace":"%s","resource":"%s"},"responseStatus":{"metadata":{},"code":200},"responseObject":%s,"stageTimestamp":"%s"}`,
			i, i, verbs[c.Verb], m.GetName(), m.GetNamespace(), resources[kind.Kind], marshal(c.Object), e.Time.Format("2006-01-02T15:04:05.000000Z"))})
	}
	return lines
}

func klogOf(rec *sources.Recording) (lines []logged) {
	for _, e := range rec.Events {
		m, ok := e.Fact.(*sources.Move)
		if !ok || m.Restated {
			continue
		}
		add := func(format string, args ...any) {
			lines = append(lines, logged{e.Time, e.Time.Format("I0102 15:04:05.000000") + "       1 schedule_one.go:1] " + fmt.Sprintf(format, args...)})
		}
		switch m.To {
		case sources.TierInFlight:
			add(`"Attempting to schedule pod" pod="%s"`, m.Pod)
		case sources.TierScheduled:
			add(`"Successfully bound pod to node" pod="%s" node="%s"`, m.Pod, m.Node)
		case sources.TierActive, sources.TierBackoff, sources.TierUnschedulable:
			queue := map[sources.Tier]string{sources.TierActive: "Active", sources.TierBackoff: "Backoff", sources.TierUnschedulable: "Unschedulable"}[m.To]
			add(`"Entity moved to an internal scheduling queue" entity="%s" event="%s" queue="%s" type="pod"`, m.Pod, m.Event, queue)
		}
	}
	return lines
}

// traceOf opens files and returns the trace that convert would make of them.
func traceOf(t *testing.T, paths ...string) []byte {
	t.Helper()
	rec, err := files.Open(t.Context(), paths, files.Options{Now: time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := trace.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rec.Events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWrappers: a recording gives the same trace in each wrapper, byte for byte.
func TestWrappers(t *testing.T) {
	recordings := embedded.All()
	if testing.Short() {
		recordings = recordings[:1]
	}
	for _, info := range recordings {
		rec, err := embedded.Open(t.Context(), info.Name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write := func(name, content string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		bare := func(logged) string { return "" }
		audit, klog := auditOf(rec), klogOf(rec)
		until := klog[min(len(klog), 2000)-1].at // of the large ones a part will do
		audit, klog = writtenBy(until, audit), writtenBy(until, klog)
		want := traceOf(t, write("audit.log", prefixed(audit, bare)), write("sched.log", prefixed(klog, bare)))
		if len(want) < 10_000 {
			t.Fatalf("%d bytes of trace", len(want))
		}
		for name, wrap := range wrappers {
			t.Run(info.Name+", "+name, func(t *testing.T) {
				paths := []string{write("sched.json", wrap("kube-scheduler", klog))}
				if strings.HasPrefix(name, "journald") { // it has no audit log
					paths = append(paths, filepath.Join(dir, "audit.log"))
				} else {
					paths = append(paths, write("audit.json", wrap("kube-apiserver-audit", audit)))
				}
				if got := traceOf(t, paths...); !bytes.Equal(got, want) {
					t.Errorf("another trace, of %d bytes, want %d", len(got), len(want))
				}
			})
		}
		t.Run(info.Name+", klog's JSON format", func(t *testing.T) {
			if got := traceOf(t, filepath.Join(dir, "audit.log"), write("sched.json", klogJSON(klog))); !bytes.Equal(got, want) {
				t.Errorf("another trace, of %d bytes, want %d", len(got), len(want))
			}
		})
		t.Run(info.Name+", Cloud Logging", func(t *testing.T) {
			if got := traceOf(t, write("gke.json", cloudAudit(t, audit)), write("gke.jsonl", cloudKlog(klog))); !bytes.Equal(got, want) {
				t.Errorf("another trace, of %d bytes, want %d", len(got), len(want))
			}
		})
	}
}

func writtenBy(until time.Time, lines []logged) []logged {
	return slices.DeleteFunc(lines, func(l logged) bool { return l.at.After(until) })
}

// klogJSON is what klog would have written with --logging-format=json.
func klogJSON(lines []logged) string {
	var b strings.Builder
	for _, l := range lines {
		_, rest, _ := strings.Cut(l.text, "] ")
		message, rest, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `" `)
		record := map[string]any{"ts": json.RawMessage(fmt.Sprintf("%d.%03d", l.at.UnixMilli(), l.at.Nanosecond()/1000%1000)), "caller": "scheduler/schedule_one.go:1", "msg": message, "v": 5}
		for _, pair := range strings.Split(strings.TrimSuffix(rest, `"`), `" `) {
			key, value, _ := strings.Cut(pair, `="`)
			record[key] = value
			if namespace, name, ok := strings.Cut(value, "/"); ok {
				record[key] = map[string]string{"name": name, "namespace": namespace}
			}
		}
		b.WriteString(marshal(record) + "\n")
	}
	return b.String()
}

// cloudAudit and cloudKlog are how Cloud Logging has an audit log's and a scheduler's lines.
func cloudAudit(t testing.TB, lines []logged) string {
	return document("[", lines, "]", func(l logged) any {
		var e struct {
			AuditID, Verb  string
			ObjectRef      struct{ Name, Namespace, Resource string }
			ResponseObject map[string]any
		}
		if err := json.Unmarshal([]byte(l.text), &e); err != nil {
			t.Fatal(err)
		}
		e.ResponseObject["@type"] = "core.k8s.io/v1." + e.ResponseObject["kind"].(string)
		resource := "core/v1/"
		if e.ObjectRef.Namespace != "" {
			resource += "namespaces/" + e.ObjectRef.Namespace + "/"
		}
		return map[string]any{"insertId": "1", "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity", "timestamp": l.at,
			"operation": map[string]any{"id": e.AuditID, "producer": "k8s.io"},
			"protoPayload": map[string]any{"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "methodName": "io.k8s.core.v1." + e.ObjectRef.Resource + "." + e.Verb,
				"resourceName": resource + e.ObjectRef.Resource + "/" + e.ObjectRef.Name, "authenticationInfo": map[string]string{"principalEmail": "x"},
				"requestMetadata": map[string]string{"callerSuppliedUserAgent": "x"}, "response": e.ResponseObject, "status": map[string]int{}}}
	})
}

func cloudKlog(lines []logged) string {
	return perLine(lines, func(l logged) any {
		_, text, _ := strings.Cut(l.text, "] ")
		return map[string]any{"insertId": "1", "timestamp": l.at, "severity": "INFO", "jsonPayload": map[string]string{"message": text, "source": "schedule_one.go:1", "pid": "1"}}
	})
}
