package seed

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The shapes are built as their tools' code and documentation have them: kubectl get -o json and -o yaml (client-go's
// printers), kubectl cluster-info dump (lists whose items don't say their kind, as an API server sends them), oc adm inspect
// (must-gather: YAML, an object or a list a file), kwokctl snapshot record --snapshot (documents of YAML), and k8shark
// (docs/archive-format.md of phenixblue/k8shark: a record of what was asked and answered).
const (
	pod  = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"u-a","creationTimestamp":"2026-11-21T10:00:00Z"},"spec":{"containers":[{"name":"c","env":[{"name":"TOKEN","value":"s3cret"}]}]}}`
	node = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-21T10:05:00Z"}]}}`
	// bare is an item of a list.
	bare   = `{"metadata":{"name":"a","namespace":"default"}}`
	secret = `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="}}`
	failed = `{"kind":"Event","apiVersion":"v1","metadata":{"name":"a.1","namespace":"default"},"reason":"FailedScheduling","message":"0/1 nodes are available","involvedObject":{"kind":"Pod","namespace":"default","name":"a","uid":"u-a"},"firstTimestamp":"2026-11-21T10:01:00Z","lastTimestamp":"2026-11-21T10:03:00Z","count":4}`
)

func TestShapes(t *testing.T) {
	const both = "Pod a, Node n"
	for name, c := range map[string]struct{ text, want string }{
		"kubectl get -o json":                    {`{"apiVersion":"v1","items":[` + pod + `,` + node + `],"kind":"List","metadata":{"resourceVersion":""}}`, both},
		"one object after the other":             {pod + "\n" + node + secret, both},
		"cluster-info dump":                      {`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[` + bare + `]}` + node, both},
		"a list that says at its end what it is": {`{"items":[` + bare + `],"kind":"PodList","apiVersion":"v1"}` + node, both},
		"lists in a list":                        {`{"kind":"List","apiVersion":"v1","items":[{"kind":"PodList","apiVersion":"v1","items":[` + bare + `]},` + node + `]}`, both},
		"must-gather, a file":                    {"---\napiVersion: v1\nkind: Node\nmetadata:\n  name: \"n\"\n", "Node n"},
		"must-gather, a list":                    {"---\napiVersion: v1\nitems:\n- metadata:\n    name: a\n    namespace: default\nkind: PodList\nmetadata: {}\n", "Pod a"},
		"kwokctl snapshot":                       {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: ConfigMap\n---\n\n---\napiVersion: v1\nkind: Node\nmetadata:\n  name: \"n\"\n", both},
		"k8shark":                                {`{"id":"1","captured_at":"2026-11-21T10:00:30Z","api_path":"/api/v1/pods","http_method":"GET","response_code":200,"response_body":{"kind":"PodList","apiVersion":"v1","items":[` + bare + `]}}`, "Pod a of /api/v1/pods at 10:00:30"},
		"cluster-info dump, in one stream": {`{"kind":"PodList","apiVersion":"v1","items":[` + bare + "]}\n==== START logs for container c of pod default/a ====\n{\"kind\":\"Pod\"\n" + strings.Repeat("x", 1<<17) +
			"==== END logs for container c of pod default/a ====\n" + node + "\n", both},
		"an array":            {`[` + pod + `,` + node + `]`, both},
		"an array over lines": {"[\n " + pod + ",\n " + node + "\n]\n", both},
		"an array of lists":   {`[{"kind":"PodList","apiVersion":"v1","items":[` + bare + `]},` + node + `]`, both},
		"objects without kind": {`[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}},{"metadata":{"name":"n"},"spec":{},"status":{"nodeInfo":{}}},` +
			`{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}},{"metadata":{"name":"d","namespace":"x"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{}}},` +
			`{"metadata":{"name":"s"},"provisioner":"p"},{"metadata":{"name":"h"},"value":7},{"metadata":{"name":"z","namespace":"x"},"spec":{"replicas":1}}]`,
			"Pod a, Node n, PersistentVolume v, PersistentVolumeClaim d, StorageClass s, PriorityClass h, 1 left out"},
		"a list without kind":    {`{"items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}]}`, "Pod a"},
		"an object without kind": {`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}`, "Pod a"},
		"Events":                 {`{"kind":"List","apiVersion":"v1","items":[` + pod + `,` + failed + `]}`, "Pod a, 4 attempts"},
	} {
		t.Run(name, func(t *testing.T) {
			if !Sniff([]byte(c.text)) {
				t.Error("it is not known for what it is")
			}
			file, err := Read(strings.NewReader(c.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(file); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			for _, hidden := range []string{"s3cret", "TOKEN", "aHVudGVyMg"} {
				if strings.Contains(fmt.Sprintf("%+v", file), hidden) {
					t.Errorf("%s is kept", hidden)
				}
			}
		})
	}
}

func show(f *File) string {
	var all []string
	for _, l := range f.Lists {
		for _, obj := range l.Objects {
			s := obj.GetObjectKind().GroupVersionKind().Kind + " " + obj.(metav1.Object).GetName()
			if l.Source != "" {
				s += " of " + l.Source + " at " + l.Taken.Format("15:04:05")
			}
			all = append(all, s)
		}
		for _, e := range l.Events {
			all = append(all, fmt.Sprintf("%d attempts", e.DeprecatedCount))
		}
	}
	if f.LeftOut > 0 {
		all = append(all, fmt.Sprintf("%d left out", f.LeftOut))
	}
	return strings.Join(all, ", ")
}

// TestHeard: the time of a list follows from the latest heartbeat of a kubelet.
func TestHeard(t *testing.T) {
	file, err := Read(strings.NewReader(pod+node), nil)
	if err != nil || file.Lists[0].Heard.Format("15:04:05") != "10:05:00" {
		t.Errorf("%v %v", err, file)
	}
}

// TestRefused: what is no seed, or out of all proportion, is one sentence.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		" \n":                      "it is empty",
		secret:                     "it holds no object that kube-scheduler reads",
		`{"kind":"Pod"`:            "it is not JSON throughout: unexpected EOF",
		"[1]":                      "no object in it can be read: a document in it is no object",
		"a: &x 1\nb: *x\n":         "it has aliases (*NAME), which no tool writes that hands out objects",
		"apiVersion: v1\nitems: [": "it is no YAML: yaml: line 2: did not find expected node content",
		`{"items":7}`:              "the items of a list in it are no list",
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + strings.Repeat("a", maxObject) + `"}}`: "an object in it has more than 16 MiB",
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"../x"}}`:                                   "no object in it can be read: in a Pod, \"../x\" is not a Kubernetes object name",
	} {
		_, err := Read(strings.NewReader(text), nil)
		if err == nil || err.Error() != want {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{pod, pod + node, `{"kind":"List","apiVersion":"v1","items":[` + pod + `,` + failed + `]}`, `{"items":[` + bare + `],"kind":"PodList","apiVersion":"v1"}`,
		`{"captured_at":"2026-11-21T10:00:30Z","api_path":"/x","response_body":{"kind":"PodList","apiVersion":"v1","items":[` + bare + `]}}`,
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n---\napiVersion: v1\nitems: []\nkind: PodList\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Sniff(data)
		file, err := Read(strings.NewReader(string(data)), nil)
		if err == nil && len(show(file)) == 0 {
			t.Error("it holds nothing, and no error says so")
		}
	})
}

// TestLongYAML: a list in YAML is read item by item however long it is, whatever stands around its items. What can't be taken
// apart is refused before it is decoded.
func TestLongYAML(t *testing.T) {
	const n = 8_000
	item := func(dash string, i int, kind string) string {
		in := strings.Repeat(" ", len(dash))
		return fmt.Sprintf("%smetadata:\n%s  name: p%d\n%s  namespace: d\n%s  annotations: {note: \"- {a: b}\"}\n%s%s\n%sspec: {containers: [{name: c}]}\n", dash, in, i, in, in, in, kind, in)
	}
	list := func(before, dash, kind, after string) string {
		var b strings.Builder
		b.WriteString(before + "items:\n")
		for i := range n {
			b.WriteString(item(dash, i, kind))
		}
		return b.String() + after
	}
	for _, c := range []struct {
		name, text, want string
		objects, leftOut int
	}{
		{"as kubectl writes it", list("apiVersion: v1\n", "- ", "kind: Pod\n  apiVersion: v1", "kind: List\nmetadata:\n  resourceVersion: \"\"\n"), "", n, 0},
		{"indented", list("apiVersion: v1\nkind: List\n", "  - ", "kind: Pod\n    apiVersion: v1", ""), "", n, 0},
		{"of one kind, told behind the items", list("apiVersion: v1\n", "- ", "status: {}", "kind: PodList\n"), "", n, 0},
		{"behind another document", "apiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: d}\n---\n" + list("apiVersion: v1\n", "- ", "kind: Pod\n  apiVersion: v1", "kind: List\n"), "", n + 1, 0},
		{"with an item of too many values", list("apiVersion: v1\n", "- ", "kind: Pod\n  apiVersion: v1", "- data: ["+strings.Repeat("{},", 300_000)+"]\nkind: List\n"), "", n, 1},
		{"on one line", "apiVersion: v1\nkind: List\nitems: [" + strings.Repeat("{},", 1_000_000) + "{}]\n", "more than 200000 values", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := Read(strings.NewReader(c.text), nil)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := len(file.Lists[0].Objects); got != c.objects || file.LeftOut != c.leftOut {
				t.Errorf("%d objects, %d left out: %v", got, file.LeftOut, file.Cause)
			}
		})
	}
}
