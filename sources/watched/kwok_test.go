package watched

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

func readKwok(t testing.TB, text string) (*sources.Part, error) {
	t.Helper()
	r, err := lines.New(context.Background(), "cluster.yaml", time.Time{}, io.NopCloser(strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	return ReadKwok(r)
}

// snapshot is what a cluster was when kwok came.
const snapshot = `apiVersion: v1
kind: Node
metadata:
  creationTimestamp: $(time-offset-nanosecond -60000000000)
  name: node-a
  uid: n1
status:
  allocatable:
    cpu: "4"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: no-matter
data:
  a: b
---
apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: $(time-offset-nanosecond -30000000000)
  name: old
  namespace: default
  uid: p1
spec:
  containers:
  - name: c
    image: i
status:
  phase: Pending
---
`

// patched is a document of a change.
func patched(seconds float64, resource, namespace, name, method, template string) string {
	doc := fmt.Sprintf("apiVersion: action.kwok.x-k8s.io/v1alpha1\nkind: ResourcePatch\ndurationNanosecond: %d\nmethod: %s\nresource:\n  resource: %s\n  version: v1\ntarget:\n  name: %s\n",
		int64(seconds*1e9), method, resource, name)
	if namespace != "" {
		doc += "  namespace: " + namespace + "\n"
	}
	if template != "" {
		doc += "template: " + template + "\n"
	}
	return doc + "---\n"
}

func TestReadKwok(t *testing.T) {
	text := snapshot +
		patched(1, "pods", "default", "old", "patch", `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes are available.","lastTransitionTime":"$(time-offset-nanosecond 1000000000)"}]}}`) +
		patched(2, "pods", "default", "new", "create", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new","namespace":"default","uid":"p2","creationTimestamp":"$(time-offset-nanosecond 2000000000)"},"spec":{"containers":[{"name":"c","image":"i"}]}}`) +
		patched(3, "pods", "default", "new", "patch", `{"spec":{"nodeName":"node-a"},"status":{"conditions":[{"type":"PodScheduled","status":"True"}]}}`) +
		patched(3.5, "pods", "default", "new", "patch", `{"metadata":{"annotations":{"a":"b"}}}`) +
		patched(4, "configmaps", "default", "no-matter", "patch", `{"data":{"a":"c"}}`) +
		patched(5, "pods", "default", "old", "delete", "") +
		patched(6, "pods", "default", "unknown", "delete", "")
	if !SniffKwok([]byte(text)) || !SniffKwok([]byte(text[len(snapshot):])) || SniffKwok([]byte("apiVersion: v1\nkind: Pod\n")) {
		t.Error("it is not told as what it is")
	}
	part, err := readKwok(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ev := range part.Events {
		said := ev.Time.Format("2006 05.000")
		switch f := ev.Fact.(type) {
		case *sources.Attached:
			said += " attached"
		case *sources.ObjectChange:
			m := f.Object.(metav1.Object)
			said += fmt.Sprintf(" %s %s %s", f.Verb, m.GetName(), m.GetUID())
			if f.Verb != sources.Deleted {
				raw, err := json.Marshal(f.Object)
				if err != nil {
					t.Fatal(err)
				}
				var seen struct {
					Spec   struct{ NodeName string }
					Status struct {
						Conditions []struct{ Status, LastTransitionTime string }
					}
				}
				if err := json.Unmarshal(raw, &seen); err != nil {
					t.Fatal(err)
				}
				for _, c := range seen.Status.Conditions {
					said += " " + c.Status + " " + c.LastTransitionTime
				}
				said = strings.TrimSpace(said + " " + seen.Spec.NodeName)
			}
		}
		got = append(got, said)
	}
	want := []string{"2000 00.000 added node-a n1", "2000 00.000 added old p1", "2000 00.000 attached", "2000 01.000 updated old p1 False 2000-01-01T00:00:01Z",
		"2000 02.000 added new p2", "2000 03.000 updated new p2 True  node-a", "2000 05.000 deleted old p1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if said := strings.Join(part.Notices, "\n"); !strings.Contains(said, "does not record when it began") {
		t.Errorf("%q", said)
	}
}

// TestKwokLeftOut: unreadable documents are skipped with a notice, and the rest is read.
func TestKwokLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"no YAML":      {"a: [\n---\n", "it is no YAML"},
		"aliases":      {"a: &a [1]\nb: *a\n---\n", "aliases"},
		"no object":    {"- 1\n---\n", "no object"},
		"no method":    {patched(1, "pods", "default", "old", "replace", "{}"), `no method "replace"`},
		"no such pod":  {patched(1, "pods", "default", "old", "patch", `{"metadata":{"uid":"\u0007"}}`), "uid"},
		"a time apart": {patched(1e10, "pods", "default", "old", "patch", `{}`), "out of range"},
		"patch of a list without an order": {patched(1, "pods", "default", "old", "patch", `{"status":{"$setElementOrder/conditions":[{"type":"a"}],"conditions":[1]}}`),
			"can't be applied"},
	} {
		t.Run(name, func(t *testing.T) {
			part, err := readKwok(t, snapshot+c.doc+patched(9, "pods", "default", "old", "delete", ""))
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(part.Notices, "\n"); !strings.Contains(said, c.want) {
				t.Errorf("%q does not say %q", said, c.want)
			}
			if n := len(part.Events); n != 4 {
				t.Errorf("%d events", n)
			}
		})
	}
	if _, err := readKwok(t, "apiVersion: v1\nkind: ConfigMap\n"); err == nil || !strings.Contains(err.Error(), "cluster.yaml") {
		t.Errorf("%v", err)
	}
}

func FuzzKwok(f *testing.F) {
	f.Add(snapshot + patched(1, "pods", "default", "old", "patch", `{"spec":{"nodeName":"node-a"}}`) + patched(2, "pods", "default", "old", "delete", ""))
	f.Add("a: &a [*a]\n---\n" + snapshot)
	f.Fuzz(func(t *testing.T, text string) {
		part, err := readKwok(t, text)
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

// TestSameOfBoth writes a recording of the simulator's as kwok would have: what is read of both is the same.
func TestSameOfBoth(t *testing.T) {
	text := usualRecord
	if path := os.Getenv("SCHEDQ_WATCHED"); path != "" { // a long one
		long, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = string(long)
	}
	_, want, err := told(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var docs strings.Builder
	began := want.Events[0].Time
	before := map[string]runtime.Object{}
	for _, ev := range want.Events {
		c, is := ev.Fact.(*sources.ObjectChange)
		if !is {
			continue
		}
		kind, m := c.Object.GetObjectKind().GroupVersionKind(), c.Object.(metav1.Object)
		id := kind.Kind + m.GetNamespace() + "/" + m.GetName()
		now := c.Object.DeepCopyObject()
		now.(metav1.Object).SetResourceVersion("")
		raw, err := json.Marshal(now)
		if err != nil {
			t.Fatal(err)
		}
		p := map[string]any{"apiVersion": "action.kwok.x-k8s.io/v1alpha1", "kind": "ResourcePatch", "durationNanosecond": ev.Time.Sub(began),
			"resource": map[string]string{"group": kind.Group, "version": kind.Version, "resource": resources[kind.Kind]},
			"target":   map[string]string{"namespace": m.GetNamespace(), "name": m.GetName()}}
		switch c.Verb {
		case sources.Deleted:
			p["method"] = "delete"
			delete(before, id)
		case sources.Added:
			p["method"], p["template"] = "create", json.RawMessage(raw)
			before[id] = now
		default:
			old, err := json.Marshal(before[id])
			if err != nil {
				t.Fatal(err)
			}
			diff, err := strategicpatch.CreateTwoWayMergePatch(old, raw, now)
			if err != nil {
				t.Fatal(err)
			}
			p["method"], p["template"] = "patch", json.RawMessage(diff)
			before[id] = now
		}
		doc, err := yaml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		docs.WriteString("---\n" + string(doc))
	}
	got, err := readKwok(t, docs.String())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := states(want, began), states(got, kwokBegan); !reflect.DeepEqual(a, b) {
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("the simulator's\n%s\nkwok's\n%s", a[i], b[i])
			}
		}
		t.Fatalf("%d changes of the simulator's, %d of kwok's", len(a), len(b))
	}
}

// states are the changes that a recording tells, without revisions, and without those in which nothing else changes.
func states(part *sources.Part, began time.Time) (all []string) {
	last := map[string]string{}
	for _, ev := range part.Events {
		c, is := ev.Fact.(*sources.ObjectChange)
		if !is {
			continue
		}
		obj := c.Object.DeepCopyObject()
		m := obj.(metav1.Object)
		m.SetResourceVersion("")
		raw, _ := json.Marshal(obj)
		id := obj.GetObjectKind().GroupVersionKind().Kind + m.GetNamespace() + "/" + m.GetName()
		state := string(raw)
		if c.Verb == sources.Deleted {
			state = "gone"
		}
		if last[id] == state {
			continue
		}
		last[id] = state
		all = append(all, fmt.Sprintf("%s %s %s %s", ev.Time.Sub(began), c.Verb, id, state))
	}
	return all
}

var resources = map[string]string{"Pod": "pods", "Node": "nodes", "Namespace": "namespaces", "PersistentVolume": "persistentvolumes",
	"PersistentVolumeClaim": "persistentvolumeclaims", "StorageClass": "storageclasses", "PriorityClass": "priorityclasses"}

// usualRecord is a pod's life, and a node's.
const usualRecord = `{"time":"2026-11-21T10:00:00Z","event":"Add","resource":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"1","creationTimestamp":"2026-11-21T10:00:00Z","labels":{"zone":"a","old":"b"}},"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoExecute"}]},"status":{"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"False"}]}}}
{"time":"2026-11-21T10:00:01Z","event":"Update","resource":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"1","creationTimestamp":"2026-11-21T10:00:00Z","labels":{"zone":"a"}},"spec":{"taints":[{"key":"b","effect":"NoExecute"}]},"status":{"allocatable":{"cpu":"8"},"conditions":[{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"False"}]}}}
{"time":"2026-11-21T10:00:02Z","event":"Add","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","uid":"2","creationTimestamp":"2026-11-21T10:00:02Z"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"schedulingGates":[{"name":"g"}],"tolerations":[{"key":"a","operator":"Exists"}]},"status":{"phase":"Pending"}}}
{"time":"2026-11-21T10:00:03Z","event":"Update","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","uid":"2","creationTimestamp":"2026-11-21T10:00:02Z"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"tolerations":[{"key":"a","operator":"Exists"}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes are available."}]}}}
{"time":"2026-11-21T10:00:04Z","event":"Update","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","uid":"2","creationTimestamp":"2026-11-21T10:00:02Z"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"tolerations":[{"key":"a","operator":"Exists"}]},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}]}}}
{"time":"2026-11-21T10:00:05Z","event":"Delete","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"}}}
`
