package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)

func write(t interface{ Fatal(...any) }, events []sources.Event) []byte {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte, strict ...bool) (*sources.Part, error) {
	r, err := lines.New(context.Background(), "f", time.Time{}, io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if len(strict) > 0 {
		r.Strict()
	}
	return Read(r)
}

// example is a little of everything.
func example(t testing.TB) []sources.Event {
	t.Helper()
	claim, err := sources.Trim(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "default", UID: "u2",
		Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}})
	if err != nil {
		t.Fatal(err)
	}
	pod, err := sources.Trim(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", UID: "u1", ResourceVersion: "7"}})
	if err != nil {
		t.Fatal(err)
	}
	name := types.NamespacedName{Namespace: "default", Name: "a"}
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	return []sources.Event{
		{Time: at(0), Fact: &sources.SchedulerStarted{Release: "v1.37", ReleaseInferred: true, Gates: map[string]bool{"B": true, "A": false},
			PodInitialBackoff: time.Second, PodMaxBackoff: 0, PodMaxInUnschedulablePods: -1}},
		{Time: at(1), Fact: &sources.Mark{Text: "Übung ␛[31m"}},
		{Time: at(2), Fact: &sources.ObjectChange{Verb: sources.Added, Object: claim}},
		{Time: at(3), Fact: &sources.ObjectChange{Verb: sources.Deleted, Object: pod}},
		{Time: at(4), Fact: &sources.Move{Pod: name, To: sources.TierUnschedulable, Event: "ScheduleAttemptFailure", Plugins: []string{"A", "B"},
			Message: "0/3 nodes <are> available", Node: "n"}},
		{Time: at(5), Fact: &sources.Move{Pod: name, To: sources.TierGated, Event: "X", Restated: true, GatingPlugin: "SchedulingGates"}},
		{Time: at(6), Fact: &sources.Counts{Active: 1, Gated: 2}},
		{Time: at(7), Fact: &sources.FailedAttempt{Pod: name, UID: "u1", Message: "0/3 nodes <are> available"}},
		{Time: at(8), Fact: &sources.StatusPatched{Pod: name, UID: "u1", Sent: at(7)}},
		{Time: at(8), Fact: &sources.Requested{}},
		{Time: at(9), Fact: &sources.StatusPatched{Pod: name}},
		{Time: at(9), Fact: &sources.StatusPatched{Pod: name, Clears: true}},
		{Time: at(9), Fact: &sources.Refused{Pod: name, UID: "u1", Sent: at(8)}},
		{Time: at(9), Fact: &sources.Refused{Pod: name, Binding: true, Node: "n"}},
		{Time: at(9), Fact: &sources.FailedAttempt{Pod: name, Message: "no", Received: at(10)}},
		{Time: at(9), Fact: &sources.Logged{Verbosity: 3}},
		{Time: at(9), Fact: &sources.FailedAttempt{Pod: name, Message: "no", Log: true, Began: at(8), Plugins: []string{"A"}, To: sources.TierBackoff}},
		{Time: at(9), Fact: &sources.FailedAttempt{Pod: name, Message: "no", Log: true, Error: true}},
		{Time: at(9), Fact: &sources.Bound{Pod: name, UID: "u1", Node: "n", Began: at(8)}},
		{Time: at(9), Fact: &sources.Dumped{Pod: name, UID: "u1", In: sources.TierBackoff}},
		{Time: at(9), Fact: &sources.Discarded{Pod: name}},
		{Time: at(9), Fact: &sources.Logged{Verbosity: -1}},
		{Time: at(9), Fact: &sources.Tried{Pod: name, UID: "u1", Attempts: 3, First: at(1), Failed: at(8), Message: "no", Recorded: sources.NewRecorded("7", 3)}},
		{Time: at(9), Fact: &sources.ObjectChange{Verb: sources.Deleted, Object: pod, Delivered: at(10)}},
		{Time: at(9), Fact: &sources.ObjectChange{Verb: sources.Updated, Object: pod, Sent: at(8)}},
		{Time: at(9), Fact: &sources.SchedulerRunning{Release: "v1.37.1", From: sources.ReleaseImage}},
		{Time: at(9), Fact: &sources.Silent{Since: at(5), Profile: "p"}},
		{Time: at(9), Fact: &sources.Attached{Began: at(1), Nodes: true}},
		{Time: at(9), Fact: &sources.WatchGap{Resource: sources.PodsWatch, Gap: sources.Gap{Since: at(9)}}},
		{Time: at(9), Fact: &sources.WatchGap{Gap: sources.Gap{Since: at(1), Until: at(9)}}},
		{Time: at(9), Fact: &sources.Clocks{Ahead: -1500 * time.Millisecond}},
	}
}

func TestRoundTrip(t *testing.T) {
	want := example(t)
	data := write(t, want)
	part, err := read(data)
	if err != nil || len(part.Notices) != 0 {
		t.Fatal(err, part.Notices)
	}
	same(t, part.Events, want)
	if again := write(t, part.Events); !bytes.Equal(again, data) {
		t.Errorf("not the same bytes:\n%s\n%s", data, again)
	}
	if bytes.Contains(data, []byte("annotations")) || !bytes.Contains(data, []byte(`"notes":{"pv.kubernetes.io/bind-completed":"yes"}`)) {
		t.Errorf("%s", data)
	}
	if !part.First.Equal(start) || !part.Last.Equal(start.Add(9*time.Second)) {
		t.Errorf("covers %v to %v", part.First, part.Last)
	}
}

type fatal interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// same compares events; quantities are compared as they are written, because they cache it.
func same(t fatal, got, want []sources.Event) {
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		g, isObject := got[i].Fact.(*sources.ObjectChange)
		w, _ := want[i].Fact.(*sources.ObjectChange)
		if !isObject || w == nil {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("event %d:\n%+v\n%+v", i, got[i].Fact, want[i].Fact)
			}
			continue
		}
		a, errA := json.Marshal(g.Object)
		b, errB := json.Marshal(w.Object)
		if errA != nil || errB != nil || !bytes.Equal(a, b) || g.Verb != w.Verb || !got[i].Time.Equal(want[i].Time) ||
			reflect.TypeOf(g.Object) != reflect.TypeOf(w.Object) {
			t.Fatalf("event %d:\n%s\n%s", i, a, b)
		}
	}
}

// TestRoundTripProperty writes and reads events of any kind.
func TestRoundTripProperty(t *testing.T) {
	name := rapid.StringMatching(`[a-z]([a-z0-9-]{0,10}[a-z0-9])?`)
	text := rapid.Map(rapid.String(), func(s string) string { return string(sources.Sanitize(s)) })
	tier := rapid.SampledFrom([]sources.Tier{sources.TierActive, sources.TierBackoff, sources.TierUnschedulable, sources.TierGated,
		sources.TierInFlight, sources.TierScheduled, sources.TierDeleted})
	limit := rapid.Map(rapid.Int64Range(-1, int64(time.Hour)), func(n int64) time.Duration { return time.Duration(n) })
	object := rapid.Custom(func(t *rapid.T) runtime.Object {
		meta := metav1.ObjectMeta{Name: name.Draw(t, "name"), Namespace: name.Draw(t, "namespace"), UID: types.UID(name.Draw(t, "uid")),
			Labels: rapid.MapOfN(text, text, 0, 3).Draw(t, "labels")}
		if len(meta.Labels) == 0 {
			meta.Labels = nil
		}
		if rapid.Bool().Draw(t, "terminating") {
			meta.DeletionTimestamp = &metav1.Time{Time: start.Truncate(time.Second)}
		}
		list := corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(rapid.Int64Range(0, 1e9).Draw(t, "cpu"), resource.DecimalSI)}
		var obj runtime.Object
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			obj = &corev1.Node{ObjectMeta: meta, Status: corev1.NodeStatus{Allocatable: list}}
		case 1:
			obj = &storagev1.StorageClass{ObjectMeta: meta, Provisioner: text.Draw(t, "provisioner")}
		default:
			obj = &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: name.Draw(t, "node"),
				Containers: []corev1.Container{{Name: text.Draw(t, "container"), Resources: corev1.ResourceRequirements{Requests: list}}}},
				Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "PodScheduled", Message: text.Draw(t, "message")}}}}
		}
		out, err := sources.Trim(obj)
		if err != nil {
			t.Fatal(err)
		}
		return out
	})
	fact := rapid.Custom(func(t *rapid.T) sources.Fact {
		switch rapid.IntRange(0, 6).Draw(t, "fact") {
		case 0:
			gates := rapid.MapOfN(text, rapid.Bool(), 0, 3).Draw(t, "gates")
			if len(gates) == 0 {
				gates = nil
			}
			return &sources.SchedulerStarted{Release: sources.SafeText(text.Draw(t, "release")), ReleaseInferred: rapid.Bool().Draw(t, "inferred"),
				Gates: gates, PodInitialBackoff: limit.Draw(t, "initial"), PodMaxBackoff: limit.Draw(t, "max"), PodMaxInUnschedulablePods: limit.Draw(t, "in")}
		case 1:
			return &sources.ObjectChange{Verb: rapid.SampledFrom([]sources.Verb{sources.Added, sources.Updated, sources.Deleted}).Draw(t, "verb"),
				Object: object.Draw(t, "object")}
		case 2:
			plugins := rapid.SliceOfN(text, 0, 3).Draw(t, "plugins")
			slices.Sort(plugins)
			if len(plugins) == 0 {
				plugins = nil
			}
			return &sources.Move{Pod: types.NamespacedName{Namespace: name.Draw(t, "namespace"), Name: name.Draw(t, "name")}, To: tier.Draw(t, "to"),
				Event: text.Draw(t, "event"), Restated: rapid.Bool().Draw(t, "restated"), Plugins: plugins, GatingPlugin: text.Draw(t, "gating"),
				Message: sources.SafeText(text.Draw(t, "message")), Node: text.Draw(t, "node")}
		case 3:
			n := rapid.IntRange(0, 1<<40)
			return &sources.Counts{Active: n.Draw(t, "a"), Backoff: n.Draw(t, "b"), Unschedulable: n.Draw(t, "u"), Gated: n.Draw(t, "g")}
		case 4:
			return &sources.FailedAttempt{Pod: types.NamespacedName{Namespace: name.Draw(t, "namespace"), Name: name.Draw(t, "name")},
				UID: types.UID(text.Draw(t, "uid")), Message: sources.SafeText(text.Draw(t, "message")),
				Recorded: sources.NewRecorded(strconv.FormatUint(rapid.Uint64().Draw(t, "version"), 10), rapid.IntRange(0, 9).Draw(t, "count"))}
		case 5:
			f := &sources.StatusPatched{Pod: types.NamespacedName{Namespace: name.Draw(t, "namespace"), Name: name.Draw(t, "name")},
				UID: types.UID(text.Draw(t, "uid"))}
			if rapid.Bool().Draw(t, "sent") {
				f.Sent = start.Add(limit.Draw(t, "before"))
			}
			return f
		}
		return &sources.Mark{Text: sources.SafeText(text.Draw(t, "text"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		var want []sources.Event
		at := start
		for _, f := range rapid.SliceOfN(fact, 0, 20).Draw(t, "facts") {
			at = at.Add(time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "later")))
			want = append(want, sources.Event{Time: at, Fact: f})
		}
		part, err := read(write(t, want))
		if err != nil || len(part.Notices) != 0 {
			t.Fatal(err, part.Notices)
		}
		same(t, part.Events, want)
	})
}

// TestCutOffAnywhere cuts a trace at every byte.
func TestCutOffAnywhere(t *testing.T) {
	want := example(t)
	data := write(t, want)
	first := bytes.IndexByte(data, '\n')
	for i := 1; i <= len(data); i++ {
		part, err := read(data[:i])
		if i < first {
			if err == nil || !strings.HasPrefix(err.Error(), "f:1: ") {
				t.Fatalf("cut at %d, in the header: %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", i, err)
		}
		n := bytes.Count(data[:i], []byte("\n")) - 1
		if i < len(data) && data[i] == '\n' {
			n++ // the line is whole but for its end
		}
		if i == first {
			n = 0
		}
		same(t, part.Events, want[:n])
		if cut := data[i-1] != '\n' && (i == len(data) || data[i] != '\n'); cut != (len(part.Notices) == 1) {
			t.Fatalf("cut at %d: %q", i, part.Notices)
		}
	}
}

func TestAppended(t *testing.T) {
	want := example(t)
	part, err := read(append(write(t, want[:3]), write(t, want[3:])...))
	if err != nil || len(part.Notices) != 0 {
		t.Fatal(err, part.Notices)
	}
	same(t, part.Events, want)
}

func TestUnknownIsLeftOut(t *testing.T) {
	part, err := read([]byte(`{"schedq":"trace","version":1,"by":"schedq 9"}
{"time":"2026-11-21T10:00:00Z","weather":{"rain":true}}
{"time":"2026-11-21T10:00:00Z"}
{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"limbo"}}
{"time":"2026-11-21T10:00:00Z","verb":"renamed","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}
{"time":"2026-11-21T10:00:00Z","verb":"added","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}}

{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active","mood":"good"},"extra":1}
{"time":"2026-11-21T10:00:00Z","failed":{"pod":"default/a","times":2,"sent":"2026-11-21T10:00:00Z"}}
{"time":"2026-11-21T10:00:00Z","patched":{"pod":"default/a","message":"x"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(part.Events) != 3 || len(part.Notices) != 1 || !strings.HasPrefix(part.Notices[0], "f: 10 parts of this trace are unknown") {
		t.Errorf("%d events, %q", len(part.Events), part.Notices)
	}
}

func TestErrors(t *testing.T) {
	header := `{"schedq":"trace","version":1}` + "\n"
	at := `{"time":"2026-11-21T10:00:00Z",`
	for _, c := range []struct{ name, in, want string }{
		{"newer version", `{"schedq":"trace","version":2}`, "f:1: the trace has version 2, and this schedq reads version 1: use a newer schedq"},
		{"no version", `{"schedq":"trace"}`, "f:1: the trace has version 0"},
		{"something else", `{"schedq":"\u001bx","version":1}`, `f:1: this is not a trace but "␛x"`},
		{"appended newer version", header + `{"schedq":"trace","version":3}` + "\n", "f:2: the trace has version 3"},
		{"no header", at + `"mark":{"text":"x"}}`, `f:1: the first line of a trace is {"schedq":"trace","version":1}, and this is not`},
		{"escape codes in a name", header + at + `"move":{"pod":"default/\u001b[31m","to":"active"}}` + "\n", `f:2: "␛[31m" is not a Kubernetes object name`},
		{"and in an object's", header + at + `"verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"\u202e"}}}` + "\n", `f:2: in a Pod, "<U+202E>" is not`},
		{"no time", header + `{"mark":{"text":"x"}}` + "\n", "f:2: the record has no valid time: there is none"},
		{"bad time", header + `{"time":"soon","mark":{"text":"x"}}` + "\n", "f:2: the record has no valid time"},
		{"ancient", header + `{"time":"0000-01-01T00:00:00+23:00","mark":{"text":"x"}}` + "\n", "f:2: a time is out of range"},
		{"wrong type", header + at + `"mark":7}` + "\n", "f:2: the record cannot be decoded"},
		{"a failed attempt of no pod", header + at + `"failed":{"uid":"u"}}` + "\n", `f:2: "" is not a pod's namespace/name`},
		{"and of one with a bad name", header + at + `"failed":{"pod":"default/\u001b[31m"}}` + "\n", `f:2: "␛[31m" is not a Kubernetes object name`},
		{"a patch of no pod", header + at + `"patched":{"pod":"a"}}` + "\n", `f:2: "a" is not a pod's namespace/name`},
		{"sent at no time", header + at + `"patched":{"pod":"default/a","sent":"soon"}}` + "\n", "f:2: the record cannot be decoded"},
		{"sent in another age", header + at + `"patched":{"pod":"default/a","sent":"3026-11-21T10:00:00Z"}}` + "\n", "f:2: a time is out of range"},
		{"negative count", header + at + `"counts":{"active":-1}}` + "\n", "f:2: a count is negative"},
		{"clocks a year apart", header + at + `"clocks":{"ahead":"9000h"}}` + "\n", `f:2: invalid clock offset "9000h": it is a Go duration of at most 24h0m0s`},
		{"clocks without an offset", header + at + `"clocks":{}}` + "\n", `f:2: invalid clock offset "": it is a Go duration of at most 24h0m0s`},
		{"bad duration", header + at + `"scheduler":{"podMaxBackoff":"-1s"}}` + "\n", `f:2: "-1s" is not a duration`},
		{"not JSON", header + "hello\n" + header, "f:2: the line is not a JSON object"},
		{"binary", header + "\x00\n", "f:2: the line is binary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := read([]byte(c.in), true); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestPacked(t *testing.T) {
	dir, want := t.TempDir(), example(t)
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"} {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewPacked(f, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range want {
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() < 100 {
			t.Errorf("%s: nothing is in the file after Flush: %v", name, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(want[0]); err == nil {
			t.Error("a closed trace was written to")
		}
		r, err := lines.Open(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		part, err := Read(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		same(t, part.Events, want)
	}
}

// TestWriteTrims writes an object straight from a cluster.
func TestWriteTrims(t *testing.T) {
	data := write(t, []sources.Event{{Time: start, Fact: &sources.ObjectChange{Verb: sources.Added, Object: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"a": "hunter2"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Env: []corev1.EnvVar{{Value: "hunter2"}}}}}}}}})
	if bytes.Contains(data, []byte("hunter2")) {
		t.Errorf("%s", data)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add(string(write(f, example(f))))
	f.Add(`{"schedq":"trace","version":1}` + "\n" + `{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		part, err := read([]byte(in))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f") || len(err.Error()) > 1500 {
				t.Fatalf("%q", err)
			}
			return
		}
		again, err := read(write(t, part.Events))
		if err != nil {
			t.Fatal(err)
		}
		same(t, again.Events, part.Events)
	})
}
