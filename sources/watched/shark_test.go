package watched

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// sharkLine is a record: a list if event is empty.
func sharkLine(second float64, path, event, body string) string {
	at := time.Date(2026, 7, 22, 21, 19, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second))).Format(time.RFC3339Nano)
	if event != "" {
		event = fmt.Sprintf(`"event_type":%q,`, event)
	}
	return fmt.Sprintf(`{"id":"8c73e8f9-70d8-43ba-b655-0ac31f853baa","captured_at":%q,"api_path":%q,%s"http_method":"GET","response_code":200,"response_body":%s}`+"\n", at, path, event, body)
}

// sharkList is what an API server answers: its items do not say what they are.
func sharkList(kind string, revision int, items ...string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","items":[%s],"kind":"%sList","metadata":{"resourceVersion":"%d"}}`, strings.Join(items, ","), kind, revision)
}

func sharkPod(name, uid string, revision int, node string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"demo","uid":%q,"resourceVersion":"%d"},"spec":{"nodeName":%q,"schedulerName":"default-scheduler","containers":[{"name":"c"}]}}`, name, uid, revision, node)
}

// watchedPod is a pod as a watch tells it.
func watchedPod(name, uid string, revision int, node string) string {
	return `{"apiVersion":"v1","kind":"Pod",` + sharkPod(name, uid, revision, node)[1:]
}

// readShark says what a recording tells, a line for each event.
func readShark(t testing.TB, text string) (string, *sources.Part, error) {
	r, err := lines.New(context.Background(), "capture.kshrk", time.Time{}, io.NopCloser(strings.NewReader(text)))
	if err != nil {
		return "", nil, err
	}
	part, err := ReadShark(r)
	if err != nil {
		return "", nil, err
	}
	var said strings.Builder
	for _, ev := range part.Events {
		fmt.Fprint(&said, ev.Time.Format("05.000 "))
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			m := f.Object.(metav1.Object)
			fmt.Fprintf(&said, "%s %s %s\n", f.Verb, m.GetName(), m.GetResourceVersion())
		case *sources.Attached:
			fmt.Fprintf(&said, "attached, nodes %v\n", f.Nodes)
		case *sources.SchedulerRunning:
			fmt.Fprintf(&said, "%s\n", f.Release)
		case *sources.FailedAttempt:
			fmt.Fprintf(&said, "%s failed: %s\n", f.Pod.Name, f.Message)
		case *sources.Tried:
			fmt.Fprintf(&said, "%s was tried %d times\n", f.Pod.Name, f.Attempts)
		}
	}
	return said.String(), part, nil
}

const (
	sharkPods, sharkNodes, sharkEvents = "/api/v1/namespaces/demo/pods", "/api/v1/nodes", "/api/v1/namespaces/demo/events"
	sharkMeta                          = `{"format_version":2,"capture_id":"8c73","captured_at":"2026-07-22T21:19:00Z","captured_until":"2026-07-22T21:20:00Z","kubernetes_version":"v1.36.1","watch_enabled":true}` + "\n"
)

func sharkEvent(revision, count, second int) string {
	return fmt.Sprintf(`"metadata":{"name":"a.1","namespace":"demo","uid":"e1","resourceVersion":"%d"},"reason":"FailedScheduling","message":"0/1 nodes are available.","type":"Warning","eventTime":"2026-07-22T21:18:50.000000Z","series":{"count":%d,"lastObservedTime":"2026-07-22T21:19:%02d.000000Z"},"involvedObject":{"kind":"Pod","namespace":"demo","name":"a","uid":"u1"},"reportingComponent":"default-scheduler"}`,
		revision, count, second)
}

func TestReadShark(t *testing.T) {
	node := `{"metadata":{"name":"n","uid":"n1","resourceVersion":"5"}}`
	begin := []string{
		sharkLine(1, sharkPods, "", sharkList("Pod", 10, sharkPod("a", "u1", 8, ""))),
		sharkLine(1.1, sharkNodes, "", sharkList("Node", 10, node)),
	}
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"what there was, and what a watch told", "01.000 added a 8\n01.100 added n 5\n01.100 attached, nodes true\n01.100 v1.36.1\n02.000 added b 11\n03.000 updated b 12\n04.000 deleted b 13\n",
			append(slices.Clone(begin), sharkLine(2, sharkPods, "ADDED", watchedPod("b", "u2", 11, "")), sharkLine(3, sharkPods, "MODIFIED", watchedPod("b", "u2", 12, "n")), sharkLine(4, sharkPods, "DELETED", watchedPod("b", "u2", 13, "n")))},
		{"a list tells what a watch missed", "01.000 added a 8\n01.100 added n 5\n01.100 attached, nodes true\n01.100 v1.36.1\n02.000 deleted a 8\n02.000 added b 11\n03.000 updated b 13\n",
			append(slices.Clone(begin), sharkLine(2, sharkPods, "", sharkList("Pod", 12, sharkPod("b", "u2", 11, ""))), sharkLine(3, sharkPods, "MODIFIED", watchedPod("b", "u2", 13, "n")))},
		{"a list that is older than what a watch told", "01.000 added a 8\n01.100 added n 5\n01.100 attached, nodes true\n01.100 v1.36.1\n02.000 deleted a 14\n02.100 added b 15\n",
			append(slices.Clone(begin), sharkLine(2, sharkPods, "DELETED", watchedPod("a", "u1", 14, "")), sharkLine(2.1, sharkPods, "ADDED", watchedPod("b", "u2", 15, "")),
				sharkLine(2.2, sharkPods, "", sharkList("Pod", 13, sharkPod("a", "u1", 8, ""))))},
		{"replaced by another of the name", "01.000 added a 8\n01.100 added n 5\n01.100 attached, nodes true\n01.100 v1.36.1\n02.000 deleted a 8\n02.000 added a 11\n",
			append(slices.Clone(begin), sharkLine(2, sharkPods, "", sharkList("Pod", 12, sharkPod("a", "u2", 11, ""))), sharkLine(3, sharkPods, "MODIFIED", watchedPod("a", "u2", 11, "")))},
		{"a watch before all is listed", "01.000 added a 8\n01.100 added n 5\n01.100 attached, nodes true\n01.100 v1.36.1\n01.100 added b 11\n",
			append(slices.Clone(begin), sharkLine(1.05, sharkPods, "ADDED", watchedPod("b", "u2", 11, "")))},
		{"failed attempts", "01.000 added a 8\n01.200 a was tried 2 times\n01.200 attached, nodes false\n01.200 v1.36.1\n03.000 a failed: 0/1 nodes are available.\n",
			[]string{begin[0], sharkLine(1.2, sharkEvents, "", sharkList("Event", 10, "{"+sharkEvent(9, 2, 0))), sharkLine(3.1, sharkEvents, "MODIFIED", `{"apiVersion":"v1","kind":"Event",`+sharkEvent(12, 3, 3))}},
		{"tables, and what is refused", "01.000 added a 8\n01.100 added n 5\n01.100 attached, nodes true\n01.100 v1.36.1\n02.000 added b 11\n",
			append(slices.Clone(begin), sharkLine(1.5, sharkPods+"?as=Table", "", `{"kind":"Table"}`), strings.Replace(sharkLine(1.5, sharkPods, "", sharkList("Pod", 11)), "200", "403", 1),
				sharkLine(1.5, "/api", "", `{}`), sharkLine(2, sharkPods, "ADDED", watchedPod("b", "u2", 11, "")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if at, ok := SniffShark([]byte(c.lines[0])); !ok || at.Second() != 1 {
				t.Errorf("it is not told as what it is: %v", at)
			}
			for _, text := range []string{sharkMeta + strings.Join(c.lines, ""), reversed(c.lines) + sharkMeta} { // an archive is in no order
				got, part, err := readShark(t, text)
				if err != nil || got != c.want {
					t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
				} else if len(part.Notices) > 0 {
					t.Error(part.Notices)
				}
			}
		})
	}
}

func reversed(lines []string) string {
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// TestSharkLeftOut: unreadable records are skipped with a notice, and a file that is not a recording is an error.
func TestSharkLeftOut(t *testing.T) {
	good := sharkLine(1, sharkPods, "", sharkList("Pod", 10, sharkPod("a", "u1", 8, ""))) + sharkLine(2, sharkPods, "ADDED", watchedPod("b", "u2", 11, ""))
	for bad, want := range map[string]string{
		`"k8shark-capture/records/0/1.json.zst"`: "not a JSON object",
		`{"id":"1"}`:                             "no time or no path",
		`{"id":"1","captured_at":"0001-01-01T00:00:00Z","api_path":"/api/v1/pods"}`:         "out of range",
		sharkLine(3, sharkPods, "", `7`):                                                    "no list",
		sharkLine(3, sharkPods, "", `{"items":[7]}`):                                        "an object in it is none",
		sharkLine(3, sharkPods, "ADDED", watchedPod("../x", "u3", 12, "")):                  "not a Kubernetes object name",
		sharkLine(3, sharkPods, "ADDED", watchedPod("c", "u3", 12, ""))[:100] + "\n" + good: "not a JSON object",
	} {
		got, part, err := readShark(t, good+strings.TrimSuffix(bad, "\n")+"\n")
		if err != nil || !strings.Contains(got, "added b 11") || !strings.Contains(strings.Join(part.Notices, "\n"), want) {
			t.Errorf("%s: %v %v, it tells\n%s", bad, err, part, got)
		}
	}
	for text, want := range map[string]string{
		strings.SplitAfter(good, "\n")[0]:                                                "captured without watch: true",
		strings.Replace(sharkMeta, `"format_version":2`, `"format_version":3`, 1) + good: "version 3, and schedq reads up to 2",
		sharkMeta: "no object that kube-scheduler reads",
	} {
		if _, _, err := readShark(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func FuzzShark(f *testing.F) {
	f.Add(sharkMeta + sharkLine(1, sharkPods, "", sharkList("Pod", 10, sharkPod("a", "u1", 8, ""))) + sharkLine(2, sharkPods, "ADDED", watchedPod("b", "u2", 11, "")))
	f.Add(sharkLine(1, sharkEvents, "MODIFIED", `{"apiVersion":"v1","kind":"Event",`+sharkEvent(12, 3, 3)))
	f.Fuzz(func(t *testing.T, text string) {
		_, part, err := readShark(t, text)
		if err != nil {
			if s := err.Error(); string(sources.Sanitize(s)) != s {
				t.Fatalf("%q", s)
			}
			return
		}
		for _, n := range part.Notices {
			if string(sources.Sanitize(n)) != n {
				t.Fatalf("%q", n)
			}
		}
	})
}
