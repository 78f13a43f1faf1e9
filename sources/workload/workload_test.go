package workload

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// said is what a part tells, a line for each moment.
func said(p *Part) string {
	var b strings.Builder
	for _, o := range p.Objects {
		n := o.(*corev1.Node)
		fmt.Fprintf(&b, "%s %s %s %s gpu %s %s\n", n.Name, n.Status.Allocatable.Cpu(), n.Status.Allocatable.Memory(), n.Status.Allocatable.Pods(), amount(n.Status.Allocatable), n.Labels[gpuModel])
	}
	for _, m := range p.Moments {
		fmt.Fprint(&b, m.At)
		for _, d := range m.Delete {
			fmt.Fprintf(&b, " -%s", d.Name)
		}
		for _, o := range m.Objects {
			if pod, is := o.(*corev1.Pod); is {
				fmt.Fprintf(&b, " +%s", pod.Name)
				continue
			}
			fmt.Fprintf(&b, " +%s %s", o.GetObjectKind().GroupVersionKind().Kind, o.(metav1.Object).GetName())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func amount(list corev1.ResourceList) string {
	q := list[gpuMilli]
	return q.String()
}

func readOpenb(t testing.TB, text string) (*Part, error) {
	t.Helper()
	r, err := lines.New(context.Background(), "table.csv", time.Time{}, io.NopCloser(strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	return ReadOpenb(r)
}

func TestOpenb(t *testing.T) {
	if SniffOpenb([]byte(podsHeader+"\r")) != PodsFormat || SniffOpenb([]byte(nodesHeader)) != NodesFormat || SniffOpenb([]byte("a,b")) != "" {
		t.Error("the tables are not told as what they are")
	}
	nodes, err := readOpenb(t, nodesHeader+"\nopenb-node-0000,64000,262144,2,P100\nopenb-node-0001,32000,262144,0,\n")
	if err != nil || said(nodes) != "openb-node-0000 64 256Gi 1001 gpu 2k P100\nopenb-node-0001 32 256Gi 1001 gpu 0 \n" {
		t.Errorf("%v\n%s", err, said(nodes))
	}
	pods, err := readOpenb(t, podsHeader+"\nopenb-pod-0000,12000,16384,1,1000,,LS,Running,0,100,0\nopenb-pod-0001,6000,12288,2,460,V100M16|V100M32,BE,Failed,50,50,50\nopenb-pod-0002,6000,12288,0,0,,BE,Pending,50,,\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(pods), "0s +openb-pod-0000\n50s +openb-pod-0001 +openb-pod-0002\n51s -openb-pod-0001\n1m40s -openb-pod-0000\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	pod := pods.Moments[1].Objects[0].(*corev1.Pod)
	if got := amount(pod.Spec.Containers[0].Resources.Requests); got != "920" || fmt.Sprint(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values) != "[V100M16 V100M32]" {
		t.Errorf("%s %v", got, pod.Spec.Affinity)
	}
	s := Scenario("x", []*Part{pods, nodes}, nil)
	if len(s.Objects) != 2 || len(s.Moments) != 4 || s.End != 130*time.Second || !s.Start.Equal(openbBegan) {
		t.Errorf("%d objects, %d moments, %s from %s", len(s.Objects), len(s.Moments), s.End, s.Start)
	}
}

// TestOpenbLeftOut: a row that can't be read is left out, and told.
func TestOpenbLeftOut(t *testing.T) {
	for row, want := range map[string]string{
		"a,1,1,0":                         "the row has 4 fields, not 5",
		"a,-1,1,0,":                       `"-1" is no number from 0`,
		"a,x\x1b[2J,1,0,":                 "is no number from 0",
		"a,99999999999999999999,1,0,":     "is no number from 0",
		"../a,1,1,0,":                     "not a Kubernetes object name",
		"a,1,1,1,\"; drop":                "is no label",
		"b,1,1,0,,,,":                     "the row has 8 fields, not 5",
		strings.Repeat("a", 300) + ",,,,": "not a Kubernetes object name",
	} {
		p, err := readOpenb(t, nodesHeader+"\nok,1,1,0,\n"+row+"\n")
		if err != nil || len(p.Objects) != 1 || !strings.Contains(strings.Join(p.Notices, "\n"), want) {
			t.Errorf("%q: %v %v", row, err, p)
		}
	}
	for text, want := range map[string]string{
		nodesHeader + "\n":                             "the table has no rows",
		nodesHeader + "\n1,2,3,4\n":                    "table.csv:2: the row has 4 fields",
		podsHeader + "\na,1,1,0,0,,LS,Running,9,8,9\n": "the pod is deleted before it is created",
	} {
		if _, err := readOpenb(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// packed writes a value as SimKube does. Maps are pairs: their order counts.
func packed(b []byte, v any) []byte {
	switch v := v.(type) {
	case pairs:
		b = msgp.AppendMapHeader(b, uint32(len(v)/2))
		for _, e := range v {
			b = packed(b, e)
		}
	case []any:
		b = msgp.AppendArrayHeader(b, uint32(len(v)))
		for _, e := range v {
			b = packed(b, e)
		}
	default:
		b, _ = msgp.AppendIntf(b, v)
	}
	return b
}

type pairs []any

func skDeployment(name string, replicas int) any {
	labels := pairs{"app", name}
	return pairs{"apiVersion", "apps/v1", "kind", "Deployment", "metadata", pairs{"annotations", pairs{}, "name", name, "namespace", "default"}, "spec", pairs{
		"replicas", replicas, "selector", pairs{"matchLabels", labels}, "template", pairs{"metadata", pairs{"creationTimestamp", nil, "labels", labels},
			"spec", pairs{"containers", []any{pairs{"name", "c", "image", "nginx:1.14.2", "resources", pairs{}}}, "schedulerName", "default-scheduler"}}}}
}

func skPod(name string) any {
	return pairs{"apiVersion", "v1", "kind", "Pod", "metadata", pairs{"name", name, "namespace", "testing"}, "spec", pairs{"containers", []any{pairs{"name", "c", "image", "busybox"}}, "restartPolicy", "Never",
		"volumes", []any{pairs{"name", "kube-api-access-plhnn", "projected", pairs{"sources", []any{pairs{"serviceAccountToken", pairs{"path", "token"}}}}}}}}
}

func skCron(name string) any {
	return pairs{"apiVersion", "batch/v1", "kind", "CronJob", "metadata", pairs{"name", name, "namespace", "default"}, "spec", pairs{"schedule", "* * * * *", "jobTemplate", pairs{"spec", pairs{
		"template", pairs{"spec", pairs{"containers", []any{pairs{"name", "c", "image", "busybox"}}, "restartPolicy", "Never"}}}}}}
}

func skEvent(ts int64, applied, deleted []any) any {
	return pairs{"ts", ts, "applied_objs", applied, "deleted_objs", deleted}
}

// skTrace is a trace, with the members in the order in which SimKube writes them.
func skTrace(version int, events []any, lifecycles pairs) string {
	return string(packed(nil, pairs{"version", version, "config", pairs{"trackedObjects", pairs{"v1.Pod", pairs{"trackLifecycle", true}}}, "events", events,
		"index", pairs{"v1.Pod", pairs{"testing/a", uint64(1)}}, "pod_lifecycles", lifecycles}))
}

func TestSimKube(t *testing.T) {
	for _, c := range []struct {
		name, trace, want string
	}{
		{"pods that run", skTrace(2, []any{skEvent(1000, []any{skPod("a")}, nil), skEvent(1042, []any{skPod("b")}, nil)},
			pairs{[]any{"v1.Pod", "testing/a"}, pairs{uint64(2151974655102796215), []any{pairs{"Finished", []any{1001, 1013}}}},
				[]any{"v1.Pod", "testing/b"}, pairs{uint64(1), []any{pairs{"Running", 1043}}}}),
			"0s +a\n12s -a\n42s +b\n"},
		{"a deployment that grows, shrinks and goes", skTrace(2, []any{skEvent(1000, []any{skDeployment("web", 2)}, nil), skEvent(1010, []any{skDeployment("web", 3)}, nil),
			skEvent(1020, []any{skDeployment("web", 1)}, nil), skEvent(1030, nil, []any{skDeployment("web", 1)})}, nil),
			"0s +ReplicaSet W +W1 +W2\n10s +ReplicaSet W +W3\n20s -W2 -W3 +ReplicaSet W\n30s -W -W1\n"},
		{"a cron job", skTrace(2, []any{skEvent(1000, []any{skCron("hello")}, nil), skEvent(1200, nil, []any{skCron("hello")})},
			pairs{[]any{"batch/v1.CronJob", "default/hello"}, pairs{uint64(7), []any{pairs{"Finished", []any{1060, 1090}}, pairs{"Finished", []any{1120, 1150}}}}}),
			"1m0s +J1\n1m30s -J1\n2m0s +J2\n2m30s -J2\n3m20s -J1 -J2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !SniffSimKube([]byte(c.trace)) || SniffSimKube([]byte("\x85\xa7visions..")) {
				t.Error("it is not told as what it is")
			}
			p, err := ReadSimKube("t.sktrace", strings.NewReader(c.trace))
			if err != nil {
				t.Fatal(err)
			}
			if got := renamed(said(p), c.want); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
			if len(p.Notices) > 0 {
				t.Error(p.Notices)
			}
		})
	}
}

// renamed replaces generated names by those of want, in the order in which they come.
func renamed(got, want string) string {
	names := map[string]string{}
	gotWords, wantWords := strings.Fields(got), strings.Fields(want)
	for i, w := range gotWords {
		if i < len(wantWords) && names[strings.TrimLeft(w, "+-")] == "" && len(w) > len(wantWords[i]) {
			names[strings.TrimLeft(w, "+-")] = strings.TrimLeft(wantWords[i], "+-")
		}
	}
	for long, short := range names {
		got = strings.ReplaceAll(got, long+" ", short+" ")
		got = strings.ReplaceAll(got, long+"\n", short+"\n")
	}
	return got
}

// TestSimKubeRefused: a damaged or excessive trace is refused in one sentence, and objects that make no pods are skipped.
func TestSimKubeRefused(t *testing.T) {
	good := skTrace(2, []any{skEvent(1000, []any{skPod("a")}, nil)}, nil)
	for trace, want := range map[string]string{
		good[:len(good)/2]:                               "the trace is damaged: ",
		skTrace(3, nil, nil):                             "schedq reads version 2 of SimKube's traces, and this is another",
		skTrace(2, nil, nil):                             "the trace makes no pod",
		skTrace(2, []any{skEvent(1<<60, nil, nil)}, nil): "out of range",
		skTrace(2, []any{skEvent(1000, []any{skPod("../a")}, nil)}, nil):            "the trace makes no pod, the first because",
		skTrace(2, []any{skEvent(1000, []any{skDeployment("a", 1<<30)}, nil)}, nil): "the trace makes no pod, the first because",
		"\x8f\xa7version\x02\xa6events\xdd\xff\xff\xff\xff":                         "the trace is damaged",
		"\x85\xa7version\x02\xa6config" + strings.Repeat("\x91", 1<<16):             "the trace is damaged",
	} {
		_, err := ReadSimKube("t.sktrace", strings.NewReader(trace))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "t.sktrace: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: %v, want %s", trace, err, want)
		}
	}
	p, err := ReadSimKube("t.sktrace", strings.NewReader(skTrace(2, []any{skEvent(1000, []any{skPod("a"), skPod("B")}, nil)}, nil)))
	if err != nil || said(p) != "0s +a\n" || !strings.Contains(strings.Join(p.Notices, ""), "of the trace's objects, 1 make no pods, the first because") {
		t.Errorf("%v %v", err, p)
	}
}

func FuzzOpenb(f *testing.F) {
	f.Add(podsHeader + "\nopenb-pod-0000,12000,16384,1,1000,V100M16|V100M32,LS,Running,0,100,0\n")
	f.Add(nodesHeader + "\nopenb-node-0000,64000,262144,2,P100\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readOpenb(t, text)
		checkSaid(t, p, err)
	})
}

func FuzzSimKube(f *testing.F) {
	f.Add([]byte(skTrace(2, []any{skEvent(1000, []any{skPod("a"), skDeployment("b", 2), skCron("c")}, []any{skPod("d")})},
		pairs{[]any{"batch/v1.CronJob", "default/c"}, pairs{uint64(7), []any{pairs{"Finished", []any{1060, 1090}}}}})))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := ReadSimKube("t.sktrace", bytes.NewReader(content))
		checkSaid(t, p, err)
	})
}

func checkSaid(t *testing.T, p *Part, err error) {
	t.Helper()
	texts := []string{}
	if err != nil {
		texts = append(texts, err.Error())
	} else {
		texts = p.Notices
		Scenario("x", []*Part{p}, nil).Recording()
	}
	for _, s := range texts {
		if string(sources.Sanitize(s)) != s {
			t.Fatalf("%q", s)
		}
	}
}
