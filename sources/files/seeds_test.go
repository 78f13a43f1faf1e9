package files

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/sources"
)

// middle is an audit log that begins while a scheduler is at work: web-1 is bound, which was there before, and web-2 comes.
var middle = middleLine(0, "create", "/binding", "web-1", `"requestObject":{"target":{"name":"node-a"}},"responseObject":{"kind":"Status"}`) +
	middleLine(1, "create", "", "web-2", `"responseObject":`+podObject("web-2", "u2", "2026-11-21T10:00:01Z"))

func middleLine(second int, verb, sub, name, objects string) string {
	at := fmt.Sprintf("2026-11-21T10:00:%02d", second)
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","verb":%q,"userAgent":"kube-scheduler/v1.37.1","objectRef":{"resource":"pods","namespace":"default","name":%q,"subresource":%q},"responseStatus":{"code":201},%s,"requestReceivedTimestamp":"%s.000000Z","stageTimestamp":"%s.500000Z"}`+"\n",
		verb, name, strings.TrimPrefix(sub, "/"), objects, at, at)
}

func podObject(name, uid, created string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":%q,"resourceVersion":"10","creationTimestamp":%q},"spec":{"containers":[{"name":"c"}]}}`, name, uid, created)
}

func nodeObject(name, uid, beat string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":%q,"resourceVersion":"5","creationTimestamp":"2026-11-20T10:00:00Z"},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":%q}]}}`, name, uid, beat)
}

func listOf(objects ...string) string {
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(objects, ",") + `]}`
}

// TestSeeds: what seeds tell of the objects that were there before a log is taken as far as it fits.
func TestSeeds(t *testing.T) {
	const before = "2026-11-21T09:59:00Z"
	fits := listOf(nodeObject("node-a", "na", before), podObject("web-1", "u1", before), podObject("idle", "u3", before))
	for _, c := range []struct {
		name, seed string
		want       []string // of which the recording tells before the first change
		says       string
	}{
		{"none", "", nil, ""},
		{"as it was", fits, []string{"node-a", "idle", "web-1"}, ""},
		{"what the log tells itself", listOf(nodeObject("node-a", "na", before), podObject("web-2", "u2", "2026-11-21T10:00:01Z")), []string{"node-a"}, ""},
		{"of the time before a name was used again", listOf(nodeObject("node-a", "na", before), podObject("web-2", "old", before)), []string{"node-a"},
			"Objects of the seed left out, replaced by others with their names before the logs begin: 1."},
		{"of a time after it", listOf(nodeObject("node-a", "na", before), podObject("web-9", "u9", "2026-11-21T10:20:00Z")), []string{"node-a"},
			"Objects of the seed left out, created after the logs end: 1."},
		{"of another cluster", listOf(nodeObject("node-z", "nz", before), podObject("web-1", "u1", before)), nil,
			"The seed is of another cluster than the logs, and is left out: nothing that both name is the same."},
		{"of another time", listOf(nodeObject("node-a", "na", "2026-11-21T08:59:00Z")), nil,
			"DIR/seed is of another time and is left out: it last contains a heartbeat of a node at 2026-11-21 08:59:00, but the logs cover 2026-11-21 10:00:00 to 10:00:01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := in(t, "audit.log", middle, "seed", c.seed)
			opts := Options{Seeds: paths[1:]}
			if c.seed == "" {
				opts.Seeds = nil
			}
			rec, err := Open(t.Context(), paths[:1], opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := thereBefore(rec); !slices.Equal(got, c.want) {
				t.Errorf("before there were %v, want %v", got, c.want)
			}
			said := strings.ReplaceAll(strings.Join(rec.Notices, "\n"), filepath.Dir(paths[0]), "DIR")
			if said != c.says {
				t.Errorf("it says %q, want %q", said, c.says)
			}
		})
	}
}

// thereBefore are the objects that were there when a recording came to the scheduler.
func thereBefore(rec *sources.Recording) (names []string) {
	for _, e := range rec.Events {
		switch f := e.Fact.(type) {
		case *sources.ObjectChange:
			switch o := f.Object.(type) {
			case *corev1.Pod:
				names = append(names, o.Name)
			case *corev1.Node:
				names = append(names, o.Name)
			}
		case *sources.Attached:
			return names
		}
	}
	return nil
}

// TestSeedsFound: a seed may be a folder or an archive, of a must-gather or of k8shark, of which the answers are taken that are
// nearest to the begin of the logs.
func TestSeedsFound(t *testing.T) {
	record := func(at string, pods ...string) string {
		return fmt.Sprintf(`{"id":"1","captured_at":%q,"api_path":"/api/v1/pods","http_method":"GET","response_code":200,"response_body":%s}`, at, strings.Replace(listOf(pods...), `"List"`, `"PodList"`, 1))
	}
	content := map[string]string{
		"version":                               "v4.18\n",
		"cluster-scoped-resources/nodes/n.yaml": "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: node-a\n  uid: na\n  creationTimestamp: \"2026-11-20T10:00:00Z\"\n",
		"namespaces/default/core/secrets.yaml":  "---\napiVersion: v1\nkind: SecretList\nitems:\n- metadata:\n    name: s\n",
		"records/1.json":                        record("2026-11-21T09:58:00Z", podObject("gone", "u7", "2026-11-21T09:00:00Z")),
		"records/2.json":                        record("2026-11-21T09:59:30Z", podObject("web-1", "u1", "2026-11-21T09:00:00Z")),
		"records/3.json":                        record("2026-11-21T10:00:01Z", podObject("later", "u8", "2026-11-21T09:00:00Z")),
	}
	dir := t.TempDir()
	archive := filepath.Join(t.TempDir(), "seed.tar")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, seed := range []string{dir, archive} {
		rec, err := Open(t.Context(), in(t, "audit.log", middle), Options{Seeds: []string{seed}})
		if err != nil {
			t.Fatal(err)
		}
		said := seed + ": 2 of the 6 files in it are left out: objects that kube-scheduler does not read (1: namespaces/default/core/secrets.yaml), text (1: version)"
		if got := strings.Join(thereBefore(rec), " "); got != "node-a web-1" || !slices.Equal(rec.Notices, []string{said}) {
			t.Errorf("before there were %s, and it says %q", got, rec.Notices)
		}
	}
}

// TestNoSeed: a file that is named and is none is an error.
func TestNoSeed(t *testing.T) {
	paths := in(t, "audit.log", middle, "seed", "hello\n", "empty", "", "secrets", `{"kind":"SecretList","apiVersion":"v1","items":[]}`)
	for i, want := range []string{
		"DIR/seed is no seed: pass objects as kubectl, must-gather, kwokctl, k8shark or schedq seed write them",
		"DIR/empty is empty",
		"DIR/secrets: it holds no object that kube-scheduler reads",
	} {
		_, err := Open(t.Context(), paths[:1], Options{Seeds: paths[1+i : 2+i]})
		if err == nil || strings.ReplaceAll(err.Error(), filepath.Dir(paths[0]), "DIR") != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTracedSeed: a trace that came to a scheduler at work tells of that moment, attempts included.
func TestTracedSeed(t *testing.T) {
	const text = `{"schedq":"trace","version":1}
{"time":"2026-11-21T09:59:00Z","verb":"added","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-a","uid":"na"}}}
{"time":"2026-11-21T09:59:00Z","verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"idle","namespace":"default","uid":"u3"},"spec":{"containers":[{"name":"c"}]}}}
{"time":"2026-11-21T09:59:00Z","tried":{"pod":"default/idle","uid":"u3","attempts":4,"failed":"2026-11-21T09:58:00Z"}}
{"time":"2026-11-21T09:59:00Z","attached":{"began":"2026-11-21T09:00:00Z"}}
`
	rec, err := Open(t.Context(), in(t, "audit.log", middle), Options{Seeds: in(t, "seed.jsonl", text)})
	if err != nil {
		t.Fatal(err)
	}
	tried, began := 0, time.Time{}
	for _, e := range rec.Events {
		switch f := e.Fact.(type) {
		case *sources.Tried:
			tried = f.Attempts
		case *sources.Attached:
			began = f.Began
		}
	}
	if tried != 4 || began.Hour() != 9 {
		t.Errorf("%d attempts, began %s, of %v", tried, began, thereBefore(rec))
	}
}

// TestSeedBesideLog: beside a scheduler's log alone, a seed's pods are as they were when the log began: those that were bound since wait
// until then, as in a must-gather, which has the pods as they are at its end.
func TestSeedBesideLog(t *testing.T) {
	const (
		at    = "2026-11-21T10:00:0"
		node  = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-a","uid":"na"}}`
		other = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-z","uid":"nz"}}`
	)
	pod := func(name, created, node, bound string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":%q,"creationTimestamp":%q},"spec":{"nodeName":%q,"containers":[{"name":"c"}]},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":%q}]}}`,
			name, "u-"+name, created, node, bound)
	}
	line := func(second int, text string) string {
		return fmt.Sprintf("I1121 10:00:0%d.500000       1 schedule_one.go:314] %s\n", second, text)
	}
	log := line(0, `"Unable to schedule pod; no fit; waiting" pod="default/early" err="0/1 nodes are available: 1 Insufficient cpu."`) +
		line(2, `"Successfully bound pod to node" pod="default/early" node="node-a"`) +
		line(4, `"Successfully bound pod to node" pod="default/unknown" node="node-a"`) +
		line(6, `"Unable to schedule pod; no fit; waiting" pod="default/late" err="0/1 nodes are available: 1 Insufficient cpu."`) +
		line(8, `"Unable to schedule pod; no fit; waiting" pod="default/unknown-2" err="0/1 nodes are available: 1 Insufficient cpu."`)
	for name, c := range map[string]struct {
		seed string
		want []string
		says string
	}{
		"of the end": {listOf(node, pod("early", "2026-11-21T09:00:00Z", "node-a", at+"2Z"), pod("late", at+"3Z", "node-a", at+"7Z"), pod("old", "2026-11-21T09:00:00Z", "node-a", "2026-11-21T09:00:00Z"), pod("after", "2026-11-21T10:10:00Z", "", at+"9Z")),
			[]string{"00.5 added early", "00.5 added old on node-a", "00.5 early failed", "02.5 early bound", "03.0 added late", "04.5 unknown bound", "06.5 late failed", "07.0 updated late on node-a", "08.5 unknown-2 failed"},
			"Objects of the seed left out, created after the logs end: 1."},
		"of one namespace": {listOf(pod("old", "2026-11-21T09:00:00Z", "node-a", "2026-11-21T09:00:00Z")),
			[]string{"00.5 added old on node-a", "00.5 early failed", "02.5 early bound", "04.5 unknown bound", "06.5 late failed", "08.5 unknown-2 failed"}, ""},
		"of another cluster": {listOf(other, pod("old", "2026-11-21T09:00:00Z", "node-z", "2026-11-21T09:00:00Z")),
			[]string{"00.5 early failed", "02.5 early bound", "04.5 unknown bound", "06.5 late failed", "08.5 unknown-2 failed"},
			"The seed is of another cluster than the logs, and is left out: nothing that both name is the same."},
	} {
		t.Run(name, func(t *testing.T) {
			paths := in(t, "sched.log", log, "seed.json", c.seed)
			for _, from := range []int64{0, 1} { // kept, and read again
				opts := Options{Seeds: paths[1:], LongFrom: from, Now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
				if from > 0 {
					opts.Summary = noSummary
				}
				rec, err := Open(t.Context(), paths[:1], opts)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for ev, err := range rec.All(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					what := ""
					switch f := ev.Fact.(type) {
					case *sources.FailedAttempt:
						what = f.Pod.Name + " failed"
					case *sources.Bound:
						what = f.Pod.Name + " bound"
					case *sources.ObjectChange:
						if p, is := f.Object.(*corev1.Pod); is {
							if what = string(f.Verb) + " " + p.Name; p.Spec.NodeName != "" {
								what += " on " + p.Spec.NodeName
							}
						}
					}
					if what != "" {
						got = append(got, ev.Time.Format("05.0")+" "+what)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("long from %d: got\n%s\nwant\n%s", from, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
				if said := strings.Join(rec.Notices, "|"); c.says != "" && !strings.Contains(said, c.says) {
					t.Errorf("it says %q, want %q", said, c.says)
				}
			}
		})
	}
}

// TestSeedShapes: of a folder, arrays and objects without kind are taken, and the others counted by reason.
func TestSeedShapes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"core_v1_nodes.json": "[" + nodeObject("node-a", "na", "2026-11-21T09:59:00Z") + "]",
		"pods.json":          `[{"metadata":{"name":"web-1","namespace":"default","uid":"u1","creationTimestamp":"2026-11-20T10:00:00Z"},"spec":{"containers":[{"name":"c"}]}}]`,
		"unknown.json":       `[{"metadata":{"name":"x"},"spec":{"replicas":1}}]`,
		"configmaps.json":    `[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}]`,
		"empty.json":         "",
		"kube-scheduler.log": schedLog,
		"version.txt":        "v1.37.1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := Open(t.Context(), in(t, "audit.log", middle), Options{Seeds: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(thereBefore(rec), " "); got != "node-a web-1" {
		t.Errorf("before there were %s", got)
	}
	said := strings.Join(rec.Notices, "|")
	if !strings.Contains(said, "5 of the 7 files in it are left out: empty (1: empty.json), log (1: kube-scheduler.log), other objects, or without a kind (1: configmaps.json), text (1: version.txt), unreadable (1: unknown.json)") {
		t.Errorf("it says %q", said)
	}
}
