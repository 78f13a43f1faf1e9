package audit

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/lines"
)

func read(t testing.TB, text string, strict ...bool) (*Log, error) {
	t.Helper()
	r, err := lines.New(context.Background(), "audit.log", time.Time{}, io.NopCloser(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if len(strict) > 0 {
		r.Strict()
	}
	return keep(r)
}

// keep reads a log and keeps its events.
func keep(r *lines.Reader) (*Log, error) {
	l := NewLog(time.Time{}, func(context.Context) (*lines.Reader, func(), error) { return r, func() {}, nil })
	if err := l.Keep(context.Background()); err != nil {
		return nil, err
	}
	return l, nil
}

// order returns the events of kept logs.
func order(logs ...*Log) []sources.Event {
	events, _ := orderSeeded(earlier.Seed{}, logs...)
	return events
}

// orderSeeded is order with a seed.
func orderSeeded(seed earlier.Seed, logs ...*Log) (events []sources.Event, fit earlier.Fit) {
	l, err := Survey(context.Background(), logs, len(seed.Objects) > 0, 1<<30, nil)
	if err != nil {
		panic(err)
	}
	fit = l.Begin(seed)
	for ev, err := range l.Events(context.Background()) {
		if err != nil {
			panic(err)
		}
		events = append(events, ev)
	}
	return events, fit
}

// req is one line. at is the second, and the thousandth, of its answer.
type req struct {
	at                                float64
	verb, resource, sub, name, ns     string
	code                              int
	uri, stage, level, body, response string
}

func (r req) line() string {
	or := func(s, d string) string {
		if s == "" {
			return d
		}
		return s
	}
	group, resource, ok := strings.Cut(r.resource, "/")
	if !ok {
		group, resource = "", r.resource
	}
	if r.code == 0 {
		r.code = 200
	}
	at := time.Date(2026, 11, 21, 10, 0, 0, int(r.at*1000)*1e6, time.UTC).Format("2006-01-02T15:04:05.000000Z")
	s := fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":%q,"auditID":"x","stage":%q,"requestURI":%q,"verb":%q,`+
		`"user":{"username":"u"},"objectRef":{"resource":%q,"namespace":%q,"name":%q,"apiGroup":%q,"apiVersion":"v1","subresource":%q},`+
		`"responseStatus":{"metadata":{},"code":%d},`, or(r.level, "RequestResponse"), or(r.stage, "ResponseComplete"), or(r.uri, "/api/v1/x"),
		r.verb, resource, r.ns, r.name, group, r.sub, r.code)
	if r.sub == "binding" {
		s = strings.Replace(s, `"apiVersion":"v1","subresource"`, fmt.Sprintf(`"uid":%q,"apiVersion":"v1","subresource"`, r.name), 1)
	}
	if r.body != "" {
		s += `"requestObject":` + r.body + `,`
	}
	if r.response != "" {
		s += `"responseObject":` + r.response + `,`
	}
	return s + fmt.Sprintf(`"requestReceivedTimestamp":%q,"stageTimestamp":%q,"annotations":{"a":"b"}}`, at, at) + "\n"
}

// pod is a pod's JSON: its name is also its uid, unless the name has a "/" between the two.
func pod(name string, rv int, more ...string) string {
	name, uid, ok := strings.Cut(name, "/")
	if !ok {
		uid = name
	}
	meta, spec := "", ""
	for _, m := range more {
		if strings.HasPrefix(m, `"nodeName"`) {
			spec += "," + m
		} else {
			meta += "," + m
		}
	}
	version := ""
	if rv > 0 {
		version = fmt.Sprintf(`,"resourceVersion":"%d"`, rv)
	}
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":%q%s%s,"managedFields":[{"a":"}"}]},`+
		`"spec":{"containers":[{"name":"c"}]%s},"status":{"phase":"Pending"}}`, name, uid, version, meta, spec)
}

const (
	terminated  = `"deletionTimestamp":"2026-11-21T10:00:30Z","deletionGracePeriodSeconds":30`
	killed      = `"deletionTimestamp":"2026-11-21T10:00:00Z","deletionGracePeriodSeconds":0`
	onNode      = `"nodeName":"node-a"`
	finalizer   = `"finalizers":["example.com/wait"]`
	success     = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
	deletedNode = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"node-a","kind":"nodes","uid":"n1"}}`
)

func node(rv int, more string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-a","uid":"n1","resourceVersion":"%d"},"spec":{%s}}`, rv, more)
}

// show prints changes one a line.
func show(events []sources.Event) string {
	var b strings.Builder
	for _, e := range events {
		c, is := e.Fact.(*sources.ObjectChange)
		if !is {
			fmt.Fprintf(&b, "%s attached\n", e.Time.Format("05.000"))
			continue
		}
		m := c.Object.(metav1.Object)
		fmt.Fprintf(&b, "%s %s %s %s", e.Time.Format("05.000"), c.Verb, c.Object.GetObjectKind().GroupVersionKind().Kind, m.GetName())
		if uid := string(m.GetUID()); uid != m.GetName() {
			fmt.Fprintf(&b, " (%s)", uid)
		}
		if p, ok := c.Object.(*corev1.Pod); ok && p.Spec.NodeName != "" {
			fmt.Fprintf(&b, " on %s", p.Spec.NodeName)
		}
		if m.GetDeletionTimestamp() != nil {
			b.WriteString(" terminating")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestOrder(t *testing.T) {
	create := func(at float64, name string, rv int) req {
		return req{at: at, verb: "create", resource: "pods", ns: "default", code: 201, response: pod(name, rv)}
	}
	status := func(at float64, name string, rv int, more ...string) req {
		return req{at: at, verb: "patch", resource: "pods", sub: "status", ns: "default", name: name, response: pod(name, rv, more...)}
	}
	bind := func(at float64, name string) req {
		return req{at: at, verb: "create", resource: "pods", sub: "binding", ns: "default", name: name, code: 201,
			body: `{"kind":"Binding","metadata":{"name":"` + name + `"},"target":{"kind":"Node","name":"node-a"}}`, response: success}
	}
	remove := func(at float64, name string, rv int, more ...string) req {
		return req{at: at, verb: "delete", resource: "pods", ns: "default", name: name, response: pod(name, rv, more...)}
	}
	for _, c := range []struct {
		name string
		log  []req
		want string
	}{
		{"a pod's life", []req{
			create(1, "a", 10), status(2, "a", 11), bind(3, "a"), status(4, "a", 13, onNode),
			remove(5, "a", 14, onNode, terminated), remove(6, "a", 15, onNode, killed)}, `
01.000 added Pod a
02.000 updated Pod a
03.000 updated Pod a on node-a
04.000 updated Pod a on node-a
05.000 updated Pod a on node-a terminating
06.000 deleted Pod a on node-a terminating
`},
		{"revisions tell the order, and the earliest later answer the time", []req{
			create(3, "a", 10), create(2, "b", 11), create(4, "c", 9), create(5, "d", 12)}, `
02.000 added Pod c
02.000 added Pod a
02.000 added Pod b
05.000 added Pod d
`},
		{"a binding answered after the kubelet's first word", []req{
			create(1, "a", 10), bind(3, "a"), status(2, "a", 12, onNode), create(4, "b", 13)}, `
01.000 added Pod a
02.000 updated Pod a on node-a
02.000 updated Pod a on node-a
04.000 added Pod b
`},
		{"an unassigned pod goes at once, and a second delete is nothing", []req{
			create(1, "a", 10), remove(2, "a", 11, killed), remove(3, "a", 0, killed)}, `
01.000 added Pod a
02.000 deleted Pod a terminating
`},
		{"finalizers", []req{
			create(1, "a", 10), remove(2, "a", 11, killed, finalizer),
			{at: 5, verb: "patch", resource: "pods", ns: "default", name: "a", response: pod("a", 11, killed)}, create(4, "b", 12)}, `
01.000 added Pod a
02.000 updated Pod a terminating
04.000 added Pod b
05.000 deleted Pod a terminating
`},
		{"a patch that changes nothing", []req{create(1, "a", 10), status(2, "a", 10), create(3, "b", 11)}, `
01.000 added Pod a
03.000 added Pod b
`},
		{"first seen later", []req{status(2, "a", 10, onNode)}, `
02.000 added Pod a on node-a
02.000 attached
`},
		{"a name used again", []req{create(1, "a/u1", 10), create(3, "a/u2", 12), remove(4, "a/u2", 13, killed)}, `
01.000 added Pod a (u1)
03.000 deleted Pod a (u1)
03.000 added Pod a (u2)
04.000 deleted Pod a (u2) terminating
`},
		{"a node", []req{
			{at: 1, verb: "create", resource: "nodes", code: 201, response: node(10, "")},
			{at: 3, verb: "patch", resource: "nodes", name: "node-a", response: node(11, `"unschedulable":true`)},
			{at: 2.5, verb: "delete", resource: "nodes", name: "node-a", response: deletedNode},
			{at: 4, verb: "delete", resource: "nodes", name: "node-a", response: deletedNode}}, `
01.000 added Node node-a (n1)
03.000 updated Node node-a (n1)
03.000 deleted Node node-a (n1)
`},
		{"an eviction", []req{
			create(1, "a", 10), create(1, "b", 11), bind(2, "a"),
			{at: 3, verb: "create", resource: "pods", sub: "eviction", ns: "default", name: "a", code: 201, response: success},
			{at: 3, verb: "create", resource: "pods", sub: "eviction", ns: "default", name: "b", code: 201, response: success}}, `
01.000 added Pod a
01.000 added Pod b
02.000 updated Pod a on node-a
03.000 updated Pod a on node-a terminating
03.000 deleted Pod b
`},
		{"deletecollection", []req{
			create(1, "a", 10), create(1, "b", 11), bind(2, "a"),
			{at: 3, verb: "deletecollection", resource: "pods", ns: "default", response: `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[` +
				pod("a", 10) + `,` + pod("b", 11) + `]}`}}, `
01.000 added Pod a
01.000 added Pod b
02.000 updated Pod a on node-a
03.000 updated Pod a on node-a terminating
03.000 deleted Pod b
`},
		{"a client that asks for metadata only", []req{
			create(1, "a", 10),
			{at: 2, verb: "patch", resource: "pods", ns: "default", name: "a", response: strings.NewReplacer(`"Pod"`, `"PartialObjectMetadata"`,
				`"v1"`, `"meta.k8s.io/v1"`).Replace(pod("a", 11, terminated))},
			{at: 3, verb: "delete", resource: "pods", ns: "default", name: "a", response: strings.ReplaceAll(pod("a", 12), `"Pod"`, `"PartialObjectMetadata"`)}}, `
01.000 added Pod a
02.000 updated Pod a terminating
03.000 deleted Pod a terminating
`},
		{"what is no change", []req{
			create(1, "a", 10),
			{at: 2, verb: "create", resource: "pods", code: 409, response: pod("x", 11)},
			{at: 2, verb: "get", resource: "pods", response: pod("x", 11)},
			{at: 2, verb: "create", resource: "pods", stage: "RequestReceived", response: pod("x", 11)},
			{at: 2, verb: "create", resource: "pods", level: "Metadata"},
			{at: 2, verb: "create", resource: "secrets", response: `{"kind":"Secret"}`},
			{at: 2, verb: "create", resource: "events.k8s.io/events", response: `{"kind":"Event"}`},
			{at: 2, verb: "create", resource: "pods", uri: "/api/v1/pods?dryRun=All", response: pod("x", 11)},
			{at: 2, verb: "delete", resource: "pods", name: "a", ns: "default", body: `{"dryRun":["All"]}`, response: pod("a", 10, killed)},
			{at: 2, verb: "update", resource: "apps/replicasets", sub: "scale", response: `{"kind":"Scale","metadata":{"name":"x"}}`},
			{at: 2, verb: "create", resource: "pods", sub: "exec", code: 101},
			{at: 2, verb: "create", resource: "resource.k8s.io/resourceclaims", response: `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1alpha3","metadata":{"name":"x"}}`},
		}, `
01.000 added Pod a
`},
		{"a change that another request, which changed nothing, shows before its own answer; lines are not in the order of answers", []req{
			create(1, "a", 10), status(3, "a", 12), status(2.5, "a", 12)}, `
01.000 added Pod a
02.500 updated Pod a
`},
		{"a taint of devices, of each version", []req{
			{at: 1, verb: "create", resource: "resource.k8s.io/devicetaintrules", response: `{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1alpha3","metadata":{"name":"old","uid":"o","resourceVersion":"5"}}`},
			{at: 2, verb: "create", resource: "resource.k8s.io/devicetaintrules", response: `{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1","metadata":{"name":"new","uid":"n","resourceVersion":"6"}}`}}, `
01.000 added DeviceTaintRule old (o)
02.000 added DeviceTaintRule new (n)
`},
		{"a namespace lingers", []req{
			{at: 1, verb: "create", resource: "namespaces", response: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","uid":"n","resourceVersion":"5"}}`},
			{at: 2, verb: "delete", resource: "namespaces", name: "n", response: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","uid":"n","resourceVersion":"6","deletionTimestamp":"2026-11-21T10:00:00Z"},"spec":{"finalizers":["kubernetes"]}}`},
			{at: 3, verb: "update", resource: "namespaces", sub: "finalize", name: "n", response: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","uid":"n","resourceVersion":"6","deletionTimestamp":"2026-11-21T10:00:00Z"},"spec":{}}`}}, `
01.000 added Namespace n
02.000 updated Namespace n terminating
03.000 deleted Namespace n terminating
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			for _, r := range c.log {
				text += r.line()
			}
			log, err := read(t, text)
			if err != nil {
				t.Fatal(err)
			}
			if got := "\n" + show(order(log)); got != c.want {
				t.Errorf("got%s\nwant%s", got, c.want)
			}
			if len(log.Notices) != 0 {
				t.Errorf("%q", log.Notices)
			}
		})
	}
}

// TestRotated reads a log in two pieces, in the wrong order.
func TestRotated(t *testing.T) {
	a := req{at: 1, verb: "create", resource: "pods", response: pod("a", 10)}.line()
	b := req{at: 2, verb: "patch", resource: "pods", sub: "status", response: pod("a", 11)}.line()
	first, err := read(t, a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := read(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(order(second, first)); got != "01.000 added Pod a\n02.000 updated Pod a\n" {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	good := req{at: 1, verb: "create", resource: "pods", response: pod("a", 10)}.line()
	for _, c := range []struct{ name, log, want string }{
		{"escape codes in a name", good + req{at: 1, verb: "create", resource: "pods", response: pod("a\x1b[31mb", 10)}.line(),
			`audit.log:2: `},
		{"quoted escape codes in a name", req{verb: "create", resource: "pods", response: strings.ReplaceAll(pod("NAME", 10), "NAME", `\u001b]0;`)}.line(),
			`audit.log:1: in a Pod, "␛]0;" is not a Kubernetes object name`},
		{"a binding to nowhere", req{verb: "create", resource: "pods", sub: "binding", name: "a", ns: "b", body: `{}`, response: success}.line(),
			"audit.log:1: in the binding of a pod, an object's name is empty"},
		{"not JSON", good + "{\"kind\n" + good, "audit.log:2: the line is not a JSON object"},
		{"half an object", good + strings.Replace(good, `"metadata":{"name"`, `"metadata":{{"name"`, 1), "audit.log:2: "},
		{"no time", strings.ReplaceAll(good, "2026-11-21T10:00:01", "yesterday"), "audit.log:1: the stageTimestamp is not a time: \"yesterday.000000Z\""},
		{"a revision from afar", strings.Replace(good, `"resourceVersion":"10"`, `"resourceVersion":"1e9"`, 1), "audit.log:1: the resourceVersion of Pod a is not a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, c.log, true)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestCutOff(t *testing.T) {
	a := req{at: 1, verb: "create", resource: "pods", response: pod("a", 10)}.line()
	b := req{at: 2, verb: "create", resource: "pods", response: pod("b", 11)}.line()
	for i := len(a) + 1; i < len(b); i++ {
		log, err := read(t, (a + b)[:i])
		if err != nil {
			t.Fatalf("at %d: %v", i, err)
		}
		if len(log.Notices) != 1 || log.Notices[0] != "audit.log: line 2 is cut off; the recording ends at 2026-11-21 10:00:01.000 UTC" {
			t.Fatalf("at %d: %q", i, log.Notices)
		}
	}
	// Without its line end, the last line is whole all the same.
	log, err := read(t, strings.TrimSuffix(a+b, "\n"))
	if err != nil || len(log.Notices) != 0 || len(order(log)) != 2 {
		t.Errorf("%v %+v", err, log)
	}
}

func TestNoResponses(t *testing.T) {
	log, err := read(t, req{verb: "create", resource: "pods", level: "Metadata"}.line())
	if err != nil || len(log.Notices) != 1 || !strings.Contains(log.Notices[0], "RequestResponse") {
		t.Errorf("%v %q", err, log.Notices)
	}
}

func TestSniff(t *testing.T) {
	at, ok := Sniff([]byte(req{at: 7, verb: "get", resource: "pods"}.line()))
	if !ok || at.Second() != 7 {
		t.Errorf("%v %v", at, ok)
	}
	for _, other := range []string{"", "{}", "audit.k8s.io/v1", `{"schedq":"trace"}`} {
		if _, ok := Sniff([]byte(other)); ok {
			t.Errorf("%q was taken for an audit log", other)
		}
	}
}

// TestGoneUnnamed: the last state of a deleted pod is invalid, without a name. The request has the name.
func TestGoneUnnamed(t *testing.T) {
	for _, verb := range []string{"delete", "update"} {
		l, err := read(t, req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()+
			req{at: 2, verb: verb, resource: "pods", ns: "default", name: "a", response: strings.Replace(pod("a", 11, killed), `"name":"a"`, `"name":"a b"`, 1)}.line())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := show(order(l)), "01.000 added Pod a\n02.000 deleted Pod a\n"; got != want {
			t.Errorf("after %s:\n%swant\n%s", verb, got, want)
		}
	}
}
