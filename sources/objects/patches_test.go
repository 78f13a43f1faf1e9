package objects

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
)

// known is a node, as it is known before a request.
const known = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"ua","labels":{"disk":"ssd","zone":"1"}},` +
	`"spec":{"taints":[{"key":"old","effect":"NoSchedule"},{"key":"gpu","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4"}}}`

func object(t testing.TB, text string) (runtime.Object, *sources.Decoder) {
	t.Helper()
	d := sources.NewDecoder()
	obj, err := d.Decode([]byte(text))
	if err != nil || obj == nil {
		t.Fatalf("%v, %v", obj, err)
	}
	return obj, d
}

// TestApply: what a request asks for is what the object becomes, whatever way it is said.
func TestApply(t *testing.T) {
	const patched, plain = "/api/v1/nodes/a", "/api/v1/nodes/a?fieldManager=kubectl-label"
	const applied = "/api/v1/nodes/a?fieldManager=me&force=true"
	for _, c := range []struct{ name, verb, sub, uri, body, want string }{
		{"strategic merge", "patch", "", plain, `{"metadata":{"labels":{"disk":null,"x":"y"}},"spec":{"taints":[{"key":"new","effect":"NoExecute"}]}}`,
			"map[x:y zone:1] new 4"},
		{"strategic merge that replaces", "patch", "", patched, `{"metadata":{"labels":{"$patch":"replace","x":"y"}}}`, "map[x:y] old,gpu 4"},
		{"strategic merge of a status", "patch", "status", patched, `{"metadata":{"labels":{"x":"y"}},"status":{"allocatable":{"cpu":"2"}}}`, "map[disk:ssd zone:1] old,gpu 2"},
		{"a status that is none of it", "patch", "", patched, `{"metadata":{"labels":{"x":"y"}},"status":{"allocatable":{"cpu":"2"}}}`, "map[disk:ssd x:y zone:1] old,gpu 4"},
		{"nothing new", "patch", "", patched, `{"metadata":{"labels":{"zone":"1"}}}`, "unchanged"},
		{"nothing that is kept", "patch", "", patched, `{"metadata":{"annotations":{"a":"b"}}}`, "unchanged"},

		{"JSON patch", "patch", "", patched, `[{"op":"add","path":"/metadata/labels/x","value":"y"},{"op":"remove","path":"/spec/taints/0"},{"op":"replace","path":"/metadata/labels/zone","value":"2"}]`,
			"map[disk:ssd x:y zone:2] gpu 4"},
		{"JSON patch of what is not kept", "patch", "", patched, `[{"op":"test","path":"/metadata/annotations/a","value":"b"},{"op":"remove","path":"/metadata/annotations/a"},{"op":"add","path":"/spec/taints/-","value":{"key":"new","effect":"NoExecute"}}]`,
			"map[disk:ssd zone:1] old,gpu,new 4"},
		{"JSON patch that moves and copies", "patch", "", patched, `[{"op":"move","from":"/metadata/labels/zone","path":"/metadata/labels/z"},{"op":"copy","from":"/metadata/labels/disk","path":"/metadata/labels/d"}]`,
			"map[d:ssd disk:ssd z:1] old,gpu 4"},
		{"JSON patch of a status", "patch", "status", patched, `[{"op":"replace","path":"/status/allocatable/cpu","value":"2"},{"op":"add","path":"/metadata/labels/x","value":"y"}]`, "map[disk:ssd zone:1] old,gpu 2"},
		{"JSON patch of what is no status", "patch", "", patched, `[{"op":"replace","path":"/status/allocatable/cpu","value":"2"}]`, "unchanged"},

		{"server-side apply", "patch", "", applied, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null,"labels":{"x":"y"}},"spec":{"taints":[{"key":"new","effect":"NoExecute"}]},"status":{}}`,
			"map[disk:ssd x:y zone:1] new 4"},
		{"server-side apply states no absence", "patch", "", applied, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","labels":{"disk":null,"x":"y"}}}`, "map[disk:ssd x:y zone:1] old,gpu 4"},
		{"server-side apply of a status", "patch", "status", applied, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"2"}}}`, "map[disk:ssd zone:1] old,gpu 2"},

		{"update", "update", "", patched, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"other","labels":{"x":"y"}},"spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"2"}}}`,
			"map[x:y] gpu 4"},
		{"update of a status", "update", "status", patched, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"status":{"allocatable":{"cpu":"2"}}}`, "map[disk:ssd zone:1] old,gpu 2"},

		{"no object", "patch", "", patched, `7`, "not told"},
		{"a create", "create", "", patched, `{}`, "not told"},
		{"another subresource", "patch", "scale", patched, `{"spec":{}}`, "not told"},
		{"no status", "patch", "status", patched, `{"metadata":{}}`, "not told"},
		{"no patch", "patch", "", patched, `[7]`, "error"},
		{"no such value", "patch", "status", patched, `{"status":{"allocatable":7}}`, "error"},
		{"an order of what has none", "patch", "", patched, `{"spec":{"$setElementOrder/taints":[{"key":"gpu"}],"taints":[{"$patch":"delete","key":"old"}]}}`, "error"}, // apimachinery v0.37.1 panics
		{"no operation at all", "patch", "", patched, "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"Node"},`, maxOperations) + `{"op":"test","path":"/kind"}]`, "error"},
		{"too large", "patch", "", patched, `{"metadata":{"labels":{"x":"` + strings.Repeat("y", maxBody) + `"}}}`, "not told"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := outcome(t, c.verb, c.sub, c.uri, c.body); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// outcome says what becomes of the known node: its labels, taints and CPUs.
func outcome(t *testing.T, verb, sub, uri, body string) string {
	r, ok := NewRequest(verb, sub, []byte(uri), []byte(body))
	if !ok {
		return "not told"
	}
	old, d := object(t, known)
	obj, err := r.Apply(old, d)
	switch {
	case err != nil:
		return "error"
	case obj == nil:
		return "unchanged"
	}
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var node struct {
		Metadata struct {
			UID    string
			Labels map[string]string
		}
		Spec   struct{ Taints []struct{ Key string } }
		Status struct{ Allocatable struct{ CPU string } }
	}
	if err := json.Unmarshal(text, &node); err != nil {
		t.Fatal(err)
	}
	if node.Metadata.UID != "ua" {
		t.Errorf("it is another node: %s", node.Metadata.UID)
	}
	var taints []string
	for _, taint := range node.Spec.Taints {
		taints = append(taints, taint.Key)
	}
	return fmt.Sprint(node.Metadata.Labels, " ", strings.Join(taints, ","), " ", node.Status.Allocatable.CPU)
}

// TestGrowth: a JSON patch that copies the object into itself does not fill the memory.
func TestGrowth(t *testing.T) {
	var ops []string
	for i := range 60 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"/metadata","path":"/metadata/x%d"}`, i))
	}
	r, ok := NewRequest("patch", "", nil, []byte("["+strings.Join(ops, ",")+"]"))
	old, d := object(t, known)
	if _, err := r.Apply(old, d); !ok || err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v, %v", ok, err)
	}
}

// FuzzApply: no request makes Apply panic.
func FuzzApply(f *testing.F) {
	f.Add("patch", "", "?fieldManager=x", `{"kind":"Node","apiVersion":"v1","metadata":{"labels":{"a":"b"}}}`)
	f.Add("patch", "status", "", `[{"op":"add","path":"/status/x","value":1}]`)
	f.Add("update", "", "", `{"metadata":{"labels":null},"spec":{"taints":[{}]}}`)
	f.Fuzz(func(t *testing.T, verb, sub, uri, body string) {
		if r, ok := NewRequest(verb, sub, []byte(uri), []byte(body)); ok {
			old, d := object(t, known)
			_, _ = r.Apply(old, d)
		}
	})
}
