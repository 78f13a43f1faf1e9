package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

const scheduler = "kube-scheduler/v1.37.1 (linux/amd64) kubernetes/abc/scheduler"

// by is the requests as lines, made by a client of that name.
func by(agent string, reqs ...req) string {
	var b strings.Builder
	for _, r := range reqs {
		b.WriteString(strings.Replace(r.line(), `"objectRef"`, fmt.Sprintf(`"userAgent":%q,"objectRef"`, agent), 1))
	}
	return b.String()
}

// failed is a FailedScheduling Event as kube-scheduler writes it.
const failed = `{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"a.18ea0a2c321af28f","namespace":"default"},` +
	`"eventTime":"2026-11-21T10:00:01.002003Z","reportingController":"default-scheduler","action":"Scheduling","reason":"FailedScheduling",` +
	`"regarding":{"kind":"Pod","namespace":"default","name":"a","uid":"a"},"note":"0/1 nodes are available","type":"Warning"}`

// series is failed, once it has been seen again.
var series = strings.Replace(failed, `"reporting`, `"series":{"count":2,"lastObservedTime":"2026-11-21T10:00:03.004005Z"},"reporting`, 1)

func failedScheduling(at float64, verb, response string) req {
	return req{at: at, verb: verb, resource: "events.k8s.io/events", ns: "default", name: "a.18ea0a2c321af28f", response: response}
}

// status is a patch of a pod's status.
func status(at float64, name string, rv int, more ...string) req {
	return req{at: at, verb: "patch", resource: "pods", sub: "status", ns: "default", name: name, response: pod(name, rv, more...)}
}

// facts reads a log and prints its facts except objects, one per line.
func facts(t testing.TB, text string) string {
	t.Helper()
	log, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	events := order(log)
	if !slices.IsSortedFunc(events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) }) {
		t.Error("not in the order of time")
	}
	var b strings.Builder
	for _, e := range events {
		at := e.Time.Format("05.000000")
		switch f := e.Fact.(type) {
		case *sources.SchedulerStarted:
			fmt.Fprintf(&b, "%s start\n", at)
			if f.Release != "v1.37.1" || f.Gates != nil || f.PodInitialBackoff >= 0 || f.PodMaxBackoff >= 0 || f.PodMaxInUnschedulablePods >= 0 {
				t.Errorf("the log does not contain that: %+v", f)
			}
		case *sources.Silent:
			if f.Since.IsZero() {
				fmt.Fprintf(&b, "%s heard\n", at)
			} else {
				fmt.Fprintf(&b, "%s silent since %s\n", at, f.Since.Format("05.000000"))
			}
		case *sources.FailedAttempt:
			fmt.Fprintf(&b, "%s failed %s (%s): %s\n", at, f.Pod, f.UID, f.Message)
		case *sources.StatusPatched:
			what := "patched"
			if f.Clears {
				what = "cleared"
			}
			fmt.Fprintf(&b, "%s %s %s (%s) sent %s\n", at, what, f.Pod, f.UID, f.Sent.Format("05.000000"))
		case *sources.WatchGap:
			fmt.Fprintf(&b, "%s %s are not heard from %s\n", at, f.Resource, f.Since.Format("05.000000"))
		case *sources.Refused:
			fmt.Fprintf(&b, "%s refused %s (%s) sent %s, binding %v", at, f.Pod, f.UID, f.Sent.Format("05.000000"), f.Binding)
			if f.Node != "" {
				fmt.Fprintf(&b, " %s", f.Node)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestRecorded: an Event of events.k8s.io contains the version of the pod and the number of the attempt. Events of core/v1
// are from another recorder, which omits others.
func TestRecorded(t *testing.T) {
	at7 := func(event string) string {
		return strings.Replace(event, `"uid":"a"}`, `"uid":"a","resourceVersion":"7"}`, 1)
	}
	core := strings.NewReplacer("regarding", "involvedObject", `"note"`, `"message"`)
	for _, c := range []struct {
		name, verb, response string
		want                 sources.Recorded
	}{
		{"the first", "create", at7(failed), sources.Recorded{Version: "7", Count: 1}},
		{"the second", "patch", at7(series), sources.Recorded{Version: "7", Count: 2}},
		{"the end of a series", "patch", at7(strings.Replace(series, `"count":2`, `"count":31`, 1)), sources.Recorded{Version: "7", Count: 31}},
		{"no version", "create", failed, sources.Recorded{}},
		{"an invalid version", "create", strings.Replace(at7(failed), `"7"`, `"seven"`, 1), sources.Recorded{}},
		{"an invalid count", "patch", at7(strings.Replace(series, `"count":2`, `"count":-2`, 1)), sources.Recorded{}},
		{"core/v1", "create", core.Replace(at7(failed)), sources.Recorded{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := map[string]float64{"create": 1.009, "patch": 3.009}[c.verb]
			log, err := read(t, by(scheduler, failedScheduling(at, c.verb, c.response)))
			if err != nil {
				t.Fatal(err)
			}
			events := order(log)
			if len(events) != 2 {
				t.Fatalf("%d events, want the release and the failure", len(events))
			}
			if got := events[slices.IndexFunc(events, func(e sources.Event) bool { _, ok := e.Fact.(*sources.FailedAttempt); return ok })].Fact.(*sources.FailedAttempt).Recorded; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFailedAttempts(t *testing.T) {
	with := func(old, now string) string {
		if !strings.Contains(failed, old) {
			t.Fatalf("there is no %s", old)
		}
		return strings.Replace(failed, old, now, 1)
	}
	core := strings.NewReplacer("events.k8s.io/v1", "v1", "regarding", "involvedObject", `"note"`, `"message"`, "reportingController", "reportingComponent")
	const once, again = "01.002003 failed default/a (a): 0/1 nodes are available\n", "03.004005 failed default/a (a): 0/1 nodes are available\n"
	for _, c := range []struct{ name, log, want string }{
		{"created", by(scheduler, failedScheduling(1.009, "create", failed)), once},
		{"and seen again", by(scheduler, failedScheduling(1.009, "create", failed), failedScheduling(3.009, "patch", series)), once + again},
		{"and written once more when the series ends", by(scheduler, failedScheduling(1.009, "create", failed),
			failedScheduling(3.009, "patch", series), failedScheduling(59, "patch", series)), once + again},
		{"two pods at once", by(scheduler, failedScheduling(1.009, "create", failed), failedScheduling(1.009, "create", with(`"name":"a","uid":"a"`, `"name":"b","uid":"b"`))),
			once + strings.NewReplacer("default/a (a)", "default/b (b)").Replace(once)},
		{"first seen as a series", by(scheduler, failedScheduling(3.009, "patch", series)), again},
		{"a series that begins is not one seen again", by(scheduler, failedScheduling(1.009, "create", series)), once},
		{"a series from before", by(scheduler, failedScheduling(1.5, "patch", strings.Replace(series, "10:00:03.004005", "09:00:00.000000", 1))), once},
		{"written later than others", by(scheduler, failedScheduling(3.009, "patch", series), failedScheduling(4, "create", failed)), once + again},
		{"core/v1", by(scheduler, req{at: 1.009, verb: "create", resource: "events", ns: "default", response: core.Replace(failed)}), once},
		{"core/v1 again", by(scheduler, req{at: 3.009, verb: "patch", resource: "events", ns: "default", response: core.Replace(series)}), again},
		{"no time of the attempt", by(scheduler, failedScheduling(1, "create", with(`"2026-11-21T10:00:01.002003Z"`, "null"))), ""},
		{"another reason", by(scheduler, failedScheduling(1, "create", with(`"reason":"FailedScheduling"`, `"reason":"Scheduled"`))), ""},
		{"another reason with that text", by(scheduler, failedScheduling(1, "create", with(`"reason":"FailedScheduling"`, `"reason":"Preempted","a":"FailedScheduling"`))), ""},
		{"another component", by("kubelet/v1.37.1 (linux/amd64) kubernetes/abc", failedScheduling(1, "create", failed)), ""},
		{"a similar name", by("kube-scheduler-simulator/v1", failedScheduling(1, "create", failed)), ""},
		{"a binary with its version in its name", by("kube-scheduler-v1.37.1/v1.37.1", failedScheduling(1, "create", failed)), "01.002003 failed default/a (a): 0/1 nodes are available\n"},
		{"no user agent", failedScheduling(1, "create", failed).line(), ""},
		{"read, not written", by(scheduler, failedScheduling(1, "get", failed)), ""},
		{"refused", by(scheduler, failedScheduling(1, "create", `{"kind":"Status","reason":"Forbidden","message":"FailedScheduling"}`)), ""},
		{"not answered yet", by(scheduler, req{at: 1, verb: "create", resource: "events.k8s.io/events", stage: "ResponseStarted", response: failed}), ""},
		{"without the object", by(scheduler, failedScheduling(1, "create", "")), ""},
		{"of a node", by(scheduler, failedScheduling(1, "create", with(`"kind":"Pod"`, `"kind":"Node"`))), ""},
		{"an invalid time", by(scheduler, failedScheduling(1, "create", with("2026-11-21T10:00:01.002003Z", "yesterday"))), ""},
		{"a time out of range", by(scheduler, failedScheduling(1, "create", with("2026-11", "3026-11"))), ""},
		{"a huge name", by(scheduler, failedScheduling(1, "create", with(`"name":"a","uid"`, `"name":"`+strings.Repeat("a", 10_000)+`","uid"`))), ""},
		{"a namespace of escape codes", by(scheduler, failedScheduling(1, "create", with(`"namespace":"default","name":"a","uid"`, `"namespace":"\u001b[2J","name":"a","uid"`))), ""},
		{"no name", by(scheduler, failedScheduling(1, "create", with(`"name":"a","uid"`, `"uid"`))), ""},
		{"escape codes in the note", by(scheduler, failedScheduling(1, "create", with("0/1 nodes", `\u001b[2J`))), strings.Replace(once, "0/1 nodes", "␛[2J", 1)},
		{"and in the UID", by(scheduler, failedScheduling(1, "create", with(`"uid":"a"`, `"uid":"\u0007"`))), strings.Replace(once, "(a)", "(␇)", 1)},
		{"a wrong type", by(scheduler, failedScheduling(1, "create", with(`"note":"0/1 nodes are available"`, `"note":7`))), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestLongNote: a note is cut to what is shown.
func TestLongNote(t *testing.T) {
	got := facts(t, by(scheduler, failedScheduling(1, "create", strings.Replace(failed, "0/1 nodes", strings.Repeat("long ", 10_000), 1))))
	if len(got) > sources.MaxText+100 || !strings.HasSuffix(got, "…\n") {
		t.Errorf("%d bytes: %.80s", len(got), got)
	}
}

// reads returns the start of a watch that sends the existing objects first, or another read request.
func reads(at float64, verb, resource string) req {
	r := req{at: at, verb: verb, resource: resource, level: "Metadata"}
	if verb == "watch" {
		r.stage, r.uri = "ResponseStarted", "/api/v1/"+resource+"?allowWatchBookmarks=true&sendInitialEvents=true&watch=true"
	}
	return r
}

// starting is a scheduler's watches of these kinds, a tenth of a second apart.
func starting(at float64, resources ...string) string {
	text := ""
	for i, r := range resources {
		text += by(scheduler, reads(at+float64(i)/10, "watch", r))
	}
	return text
}

func TestStarts(t *testing.T) {
	five := []string{"pods", "nodes", "services", "storage.k8s.io/csinodes", "apps/replicasets"}
	each := func(change func(*req)) string {
		text := ""
		for _, r := range five {
			q := reads(1, "watch", r)
			change(&q)
			text += by(scheduler, q)
		}
		return text
	}
	lease := func(at float64, verb string, code int) string {
		return by(scheduler, req{at: at, verb: verb, resource: "coordination.k8s.io/leases", ns: "kube-system", name: "kube-scheduler", level: "Metadata", code: code})
	}
	one := starting(1, "pods", "nodes", "services", "replicationcontrollers")
	for _, c := range []struct{ name, log, want string }{
		{"five kinds", starting(1, five...), "01.400000 start\n"},
		{"ten are one start", starting(1, append(five, "namespaces", "persistentvolumes", "persistentvolumeclaims", "apps/statefulsets", "replicationcontrollers")...),
			"01.900000 start\n"},
		{"four", one, ""},
		{"one kind that is read again and again", starting(1, "pods", "pods", "pods", "pods", "pods", "pods"), ""},
		{"the fifth within ten seconds", one + starting(10.9, "namespaces"), "10.900000 start\n"},
		{"and after them", one + starting(11, "namespaces"), ""},
		{"one kind long before", starting(1, "pods") + starting(15, five...), "15.400000 start\n"},
		{"twice", starting(1, five...) + starting(20, "pods") + starting(40, five...), "01.400000 start\n40.400000 start\n"},
		{"in another order", starting(40, five...) + starting(1, five...), "01.400000 start\n40.400000 start\n"},
		{"lists, of older clients", each(func(r *req) { r.verb, r.stage, r.uri = "list", "", "/api/v1/x?limit=500" }), "01.000000 start\n"},
		{"lists not answered", each(func(r *req) { r.verb, r.uri = "list", "" }), ""},
		{"watches that go on", each(func(r *req) { r.uri = "/api/v1/x?resourceVersion=7&watch=true" }), ""},
		{"watches that end", each(func(r *req) { r.stage = "ResponseComplete" }), ""},
		{"watches of one namespace", each(func(r *req) { r.ns = "kube-system" }), ""},
		{"kinds that schedulers do not read", starting(1, "configmaps", "secrets", "endpoints", "leases", "events"), ""},
		{"another component", strings.ReplaceAll(starting(1, five...), scheduler, "kube-controller-manager/v1.37.1"), ""},
		{"works once it holds the lease", starting(1, five...) + lease(1.5, "get", 404) + lease(1.6, "create", 201) + lease(3.6, "update", 200), "01.600000 start\n"},
		{"waited for the lease", starting(1, five...) + lease(2, "get", 200) + lease(4, "update", 409) + lease(17, "update", 200), "17.000000 start\n"},
		{"and each time", starting(1, five...) + lease(1.6, "create", 201) + starting(20, five...) + lease(35, "update", 200), "01.600000 start\n35.000000 start\n"},
		{"a lease alone", lease(1, "create", 201), ""},
		{"a lease held before", lease(0.5, "update", 200) + starting(1, five...), "01.400000 start\n"},
		{"another's lease", starting(1, five...) + strings.ReplaceAll(lease(1.6, "create", 201), scheduler, "kube-controller-manager/v1.37.1"), "01.400000 start\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestLease: an expired lease shows that there is no leader, while the log has lines.
func TestLease(t *testing.T) {
	lines := func(agent string, every float64, from, to float64) (text string) {
		for at := from; at < to; at += every {
			text += by(agent, req{at: at, verb: "update", resource: "coordination.k8s.io/leases", ns: "kube-system", name: "one", level: "Metadata", code: 200})
		}
		return text
	}
	others := lines("kube-controller-manager/v1.37.1", 5, 0, 50)
	for _, c := range []struct{ name, log, want string }{
		{"renewed throughout", others + lines(scheduler, 2, 0, 50), ""},
		{"no scheduler at all", others, ""},
		{"renewed in time", others + lines(scheduler, 15, 0, 50), ""},
		{"not for a while", others + lines(scheduler, 2, 0, 11) + lines(scheduler, 2, 30, 50), "12.000000 silent since 10.000000\n30.000000 heard\n"},
		{"no more", others + lines(scheduler, 2, 0, 11), "12.000000 silent since 10.000000\n"},
		{"the log has a hole", lines("kube-controller-manager/v1.37.1", 5, 0, 12) + lines(scheduler, 2, 0, 11) + lines(scheduler, 2, 45, 50), ""},
		{"another's", others + lines(scheduler, 2, 0, 50) + lines("kube-controller-manager/v1.37.1", 2, 0, 11), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestStatusPatched(t *testing.T) {
	created := req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()
	received := func(text, stamp string) string {
		_, after, _ := strings.Cut(text, `"requestReceivedTimestamp":"`)
		old, _, _ := strings.Cut(after, `"`)
		return strings.Replace(text, `"requestReceivedTimestamp":"`+old, `"requestReceivedTimestamp":"`+stamp, 1)
	}
	const want = "02.000000 patched default/a (a) sent 01.990000\n"
	patched := func(rv int, more ...string) string {
		return received(by(scheduler, status(2, "a", rv, more...)), "2026-11-21T10:00:01.990000Z")
	}
	refused := status(2, "a", 11)
	refused.code = 409
	for _, c := range []struct{ name, log, want string }{
		{"a change", created + patched(11), want},
		{"no change", created + patched(10), want},
		{"unknown send time", created + received(patched(11), ""), strings.Replace(want, "01.99", "00.00", 1)},
		{"a pod on a node", created + patched(11, onNode), ""},
		{"another component", created + strings.ReplaceAll(patched(11), scheduler, "kubelet/v1.37.1"), ""},
		{"not of the status", created + by(scheduler, req{at: 2, verb: "patch", resource: "pods", ns: "default", name: "a", response: pod("a", 11)}), ""},
		{"answered after the pod's deletion", created + req{at: 1.5, verb: "delete", resource: "pods", ns: "default", name: "a", response: pod("a", 12, killed)}.line() + patched(11), want},
		{"refused", created + by(scheduler, refused), "02.000000 refused default/a () sent 02.000000, binding false\n"},
		{"a node nominated for a binding", created + asking(patched(11), `{"status":{"nominatedNodeName":"n-1"}}`), ""},
		{"a node nominated by preemption", created + asking(patched(11), `{"status":{"nominatedNodeName":"n-1","conditions":[]}}`), want},
		{"a nomination taken back", created + asking(patched(11), `{"status":{"nominatedNodeName":null}}`), strings.Replace(want, "patched", "cleared", 1)},
		{"a nomination taken back with a condition", created + asking(patched(11), `{"status":{"nominatedNodeName":null,"conditions":[]}}`), want},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestSentBinding: the change of a binding, and no other, has the time at which the API server received the request.
func TestSentBinding(t *testing.T) {
	created := req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()
	binding := req{at: 2, verb: "create", resource: "pods", sub: "binding", ns: "default", name: "a", code: 201, body: `{"target":{"name":"node-a"}}`, response: success}
	for _, c := range []struct {
		name, log string
		want      []string
	}{
		{"a binding of the scheduler's", created + by(scheduler, binding), []string{"00.000000", "02.000000"}},
		{"another's", created + binding.line(), []string{"00.000000", "00.000000"}},
		{"a status of the scheduler's", created + by(scheduler, status(2, "a", 11)), []string{"00.000000", "00.000000"}},
	} {
		log, err := read(t, c.log)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var sent []string
		for _, ev := range order(log) {
			if f, is := ev.Fact.(*sources.ObjectChange); is {
				sent = append(sent, f.Sent.Format("05.000000"))
			}
		}
		if !slices.Equal(sent, c.want) {
			t.Errorf("%s: sent at %v, want %v", c.name, sent, c.want)
		}
	}
}

// TestRefused: requests that the API server refused because the pod was deleted. A patch has only the name, which is that of
// the last deleted pod.
func TestRefused(t *testing.T) {
	lives := func(at float64, uid string) string {
		there := strings.Replace(pod("a", int(at*10)), `"uid":"a"`, `"uid":"`+uid+`"`, 1)
		deleted := strings.Replace(pod("a", int(at*10)+1, killed), `"uid":"a"`, `"uid":"`+uid+`"`, 1)
		return req{at: at, verb: "create", resource: "pods", ns: "default", code: 201, response: there}.line() +
			req{at: at + 0.5, verb: "delete", resource: "pods", ns: "default", name: "a", response: deleted}.line()
	}
	patch := func(at float64, code int) req {
		return req{at: at, verb: "patch", resource: "pods", sub: "status", ns: "default", name: "a", code: code, response: `{"kind":"Status","apiVersion":"v1"}`}
	}
	binding := req{at: 3, verb: "create", resource: "pods", sub: "binding", ns: "default", name: "a", code: 404, response: `{"kind":"Status","apiVersion":"v1"}`}
	for _, c := range []struct{ name, log, want string }{
		{"a patch", lives(1, "u1") + by(scheduler, patch(2, 404)), "02.000000 refused default/a (u1) sent 02.000000, binding false\n"},
		{"of the last of that name", lives(1, "u1") + lives(2, "u2") + by(scheduler, patch(3, 404)), "03.000000 refused default/a (u2) sent 03.000000, binding false\n"},
		{"a binding, which says of which pod", lives(1, "a") + by(scheduler, binding), "03.000000 refused default/a (a) sent 03.000000, binding true\n"},
		{"a binding, and to which node", lives(1, "a") + asking(by(scheduler, binding), `{"kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Node","name":"n1"}}`),
			"03.000000 refused default/a (a) sent 03.000000, binding true n1\n"},
		{"a binding to what is no node's name", lives(1, "a") + asking(by(scheduler, binding), `{"target":{"name":"../n1"}}`), "03.000000 refused default/a (a) sent 03.000000, binding true\n"},
		{"by a server that is busy", lives(1, "u1") + by(scheduler, patch(2, 429)), ""},
		{"by a server that fails", lives(1, "u1") + by(scheduler, patch(2, 500)), ""},
		{"of another component", lives(1, "u1") + by("kubelet/v1.37.1", patch(2, 404)), ""},
		{"of a nomination", lives(1, "u1") + asking(by(scheduler, patch(2, 404)), `{"status":{"nominatedNodeName":null}}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestHeldUp: if Events are late as the log ends, attempts without an Event may have been made.
func TestHeldUp(t *testing.T) {
	written := func(at float64) string { return by(scheduler, failedScheduling(at, "create", failed)) } // an attempt's of 1.002
	ends := func(at float64) string {
		return req{at: at, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("b", 10)}.line()
	}
	const fails, gap = "01.002003 failed default/a (a): 0/1 nodes are available\n", "01.002003 events are not heard from 01.002003\n"
	for _, c := range []struct{ name, log, want string }{
		{"in time", written(1.1) + ends(1.2), fails},
		{"late, as the log ends", written(3) + ends(3.2), fails + gap},
		{"late, long before the log ends", written(3) + ends(5), fails},
		{"late, and another in time", written(3) + by(scheduler, failedScheduling(3.1, "patch", series)) + ends(3.2),
			fails + "03.004005 failed default/a (a): 0/1 nodes are available\n"},
		{"written again", written(1.1) + by(scheduler, failedScheduling(3.1, "patch", failed)) + ends(3.2), fails},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// asking adds the body of the request to an entry of the log.
func asking(entry, body string) string {
	return strings.Replace(entry, `"responseObject":`, `"requestObject":`+body+`,"responseObject":`, 1)
}

// TestFactsAmongChanges: attempts are in their place among the changes.
func TestFactsAmongChanges(t *testing.T) {
	log, err := read(t, req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()+
		by(scheduler, status(1.008, "a", 11), failedScheduling(1.012, "create", failed)))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, e := range order(log) {
		got += fmt.Sprintf("%s %T\n", e.Time.Format("05.000000"), e.Fact)
	}
	if want := "01.000000 *sources.ObjectChange\n01.002003 *sources.FailedAttempt\n01.008000 *sources.SchedulerRunning\n01.008000 *sources.Requested\n01.008000 *sources.ObjectChange\n01.008000 *sources.StatusPatched\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestRunningRelease: the release is that of the active scheduler, and changes with an upgrade. Schedulers that wait for the
// lease, or without a version, do not count.
func TestRunningRelease(t *testing.T) {
	const old, standby, unnamed = "kube-scheduler/v1.31.4 (linux/amd64) kubernetes/a1b2c3d/scheduler", "kube-scheduler/v1.32.0", "kube-scheduler/v0.0.0-master"
	lease := req{at: 4, verb: "update", resource: "leases", ns: "kube-system", name: "kube-scheduler", code: 200, response: `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`}
	log, err := read(t, req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()+
		by(unnamed, status(1.5, "a", 11))+by(old, status(2, "a", 12))+by(old, status(3, "a", 13))+by(standby, lease)+by(scheduler, status(5, "a", 14)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range order(log) {
		if h, ok := e.Fact.(*sources.SchedulerRunning); ok {
			got = append(got, fmt.Sprintf("%s %s", e.Time.Format("05"), h.Release))
		}
	}
	if want := []string{"02 v1.31.4", "05 v1.37.1"}; !slices.Equal(got, want) {
		t.Errorf("releases %q, want %q", got, want)
	}
}

// TestUpgradeOfSchedulers: a start has the release of the scheduler that reads and holds the lease. A scheduler that waits for
// the lease has not started.
func TestUpgradeOfSchedulers(t *testing.T) {
	const next = "kube-scheduler/v1.38.0 (linux/amd64) kubernetes/abc"
	five := []string{"pods", "nodes", "services", "storage.k8s.io/csinodes", "apps/replicasets"}
	lease := func(at float64, agent string) string {
		return by(agent, req{at: at, verb: "update", resource: "coordination.k8s.io/leases", ns: "kube-system", name: "kube-scheduler", level: "Metadata", code: 200})
	}
	standby := strings.ReplaceAll(starting(10, five...), scheduler, next)
	for _, c := range []struct{ name, log, want string }{
		{"one leads", starting(1, five...) + lease(2, scheduler), "02 v1.37.1"},
		{"another waits", starting(1, five...) + lease(2, scheduler) + standby + lease(12, scheduler), "02 v1.37.1"},
		{"without a lease", starting(1, five...), "01 v1.37.1"},
		{"one that polls its caches every 100 ms", strings.ReplaceAll(starting(1.55, five...), scheduler, "kube-scheduler/v1.35.0"), "02 v1.35.0"},
		{"and leads", starting(1, five...) + lease(2, scheduler) + standby + lease(12, scheduler) + lease(30, next), "02 v1.37.1, 30 v1.38.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := described(t, c.log, func(e sources.Event) string {
				if s, ok := e.Fact.(*sources.SchedulerStarted); ok {
					return fmt.Sprintf("%s %s", e.Time.Format("05"), s.Release)
				}
				return ""
			})
			if got != c.want {
				t.Errorf("started %s, want %s", got, c.want)
			}
		})
	}
}

// described reads a log and joins the descriptions of its events, except empty ones.
func described(t *testing.T, text string, describe func(sources.Event) string) string {
	t.Helper()
	log, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range order(log) {
		if s := describe(e); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, ", ")
}

// TestRollingUpgrade: while the old release leads, the new one reads, fails to get the lease, and authenticates readers of its
// metrics. That is neither a start nor an upgrade. Without leases in the log, only the work shows who leads.
func TestRollingUpgrade(t *testing.T) {
	const next = "kube-scheduler/v1.38.0 (linux/amd64) kubernetes/abc/scheduler"
	five := []string{"pods", "nodes", "services", "storage.k8s.io/csinodes", "apps/replicasets"}
	lease := func(at float64, agent string, code int) string {
		return by(agent, req{at: at, verb: "update", resource: "coordination.k8s.io/leases", ns: "kube-system", name: "kube-scheduler", level: "Metadata", code: code})
	}
	waits := func(at float64) string {
		return lease(at, next, 409) + by(next, req{at: at + 0.1, verb: "create", resource: "authentication.k8s.io/tokenreviews", level: "Metadata", code: 201})
	}
	rejects := func(at float64, agent string) string { return by(agent, status(at, "a", int(10*at))) }
	comes := req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()
	standby := strings.ReplaceAll(starting(10, five...), scheduler, next)
	leads := func(at float64) string { return lease(at, scheduler, 200) }
	late := strings.ReplaceAll(rejects(22, scheduler), `"requestReceivedTimestamp":"2026-11-21T10:00:22`, `"requestReceivedTimestamp":"2026-11-21T10:00:19`)
	for _, c := range []struct{ name, log, want string }{
		{"the old leads", comes + leads(2) + rejects(3, scheduler) + standby + waits(11) + leads(12) + rejects(13, scheduler) + waits(14) + rejects(15, scheduler) + leads(16), "03 heard v1.37.1"},
		{"then the new", comes + leads(2) + rejects(3, scheduler) + standby + waits(11) + leads(12) + rejects(13, scheduler) + waits(14) + lease(20, next, 200) + rejects(21, next) + rejects(22, next),
			"03 heard v1.37.1, 20 started v1.38.0, 21 heard v1.38.0"},
		{"the old is answered late", comes + rejects(3, scheduler) + rejects(21, next) + late + rejects(23, next), "03 heard v1.37.1, 21 heard v1.38.0"},
		{"and back", comes + rejects(3, scheduler) + rejects(21, next) + rejects(22, scheduler), "03 heard v1.37.1, 21 heard v1.38.0, 22 heard v1.37.1"},
		{"no leases recorded", comes + rejects(3, scheduler) + standby + rejects(13, scheduler) + rejects(15, scheduler), "03 heard v1.37.1"},
		{"no leases, then an upgrade", comes + rejects(3, scheduler) + standby + rejects(13, scheduler) + rejects(21, next) + rejects(22, next), "03 heard v1.37.1, 21 heard v1.38.0"},
		{"one that works at once", comes + rejects(3, scheduler) + standby + rejects(13, next), "03 heard v1.37.1, 10 started v1.38.0, 13 heard v1.38.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := described(t, c.log, func(e sources.Event) string {
				switch f := e.Fact.(type) {
				case *sources.SchedulerStarted:
					return fmt.Sprintf("%s started %s", e.Time.Format("05"), f.Release)
				case *sources.SchedulerRunning:
					return fmt.Sprintf("%s heard %s", e.Time.Format("05"), f.Release)
				}
				return ""
			})
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestSecondScheduler: the starts, release and requests of a second kube-scheduler binary with another user are ignored. If it
// is the only one, it is the scheduler.
func TestSecondScheduler(t *testing.T) {
	five := []string{"pods", "nodes", "services", "storage.k8s.io/csinodes", "apps/replicasets"}
	byUser := func(user, log string) string {
		return strings.ReplaceAll(log, `"userAgent":`, `"user":{"username":"`+user+`"},"userAgent":`)
	}
	const second = "kube-scheduler/v1.30.0 (linux/amd64) kubernetes/abc/scheduler"
	work := req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()
	own := byUser("system:kube-scheduler", by(scheduler, status(2, "a", 11)))
	other := byUser("system:serviceaccount:kube-system:my-scheduler", strings.ReplaceAll(starting(3, five...), scheduler, second)+by(second, status(5, "a", 12)))
	for _, c := range []struct{ name, log, want string }{
		{"beside", work + own + other, "02 heard v1.37.1, 02 requested"},
		{"alone", work + other, "03 requested, 03 started v1.30.0, 05 heard v1.30.0, 05 requested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, err := read(t, c.log)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range order(log) {
				switch f := e.Fact.(type) {
				case *sources.SchedulerStarted:
					got = append(got, fmt.Sprintf("%s started %s", e.Time.Format("05"), f.Release))
				case *sources.SchedulerRunning:
					got = append(got, fmt.Sprintf("%s heard %s", e.Time.Format("05"), f.Release))
				case *sources.Requested:
					got = append(got, e.Time.Format("05")+" requested")
				}
			}
			if got := strings.Join(slices.Compact(got), ", "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestClockSetBack: a notice reports that the times of a log go back, and events are in their order with increasing times.
func TestClockSetBack(t *testing.T) {
	create := func(at float64, name string, revision int) string {
		return req{at: at, verb: "create", resource: "pods", ns: "default", code: 201, response: pod(name, revision)}.line()
	}
	log, err := read(t, create(600, "a", 10)+create(601, "b", 11)+create(2, "c", 12)+create(3, "d", 13))
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Notices) != 1 || !strings.Contains(log.Notices[0], ": its times go back from 2026-11-21 10:10:01 UTC to 2026-11-21 10:00:02 UTC: a clock was set") {
		t.Errorf("the notices are %q", log.Notices)
	}
	events := order(log)
	if !slices.IsSortedFunc(events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) }) || len(events) != 4 {
		t.Errorf("%d events, not in the order of time", len(events))
	}
	if log, err := read(t, create(600, "a", 10)+create(545, "b", 11)+create(610, "c", 12)); err != nil || len(log.Notices) != 0 {
		t.Errorf("%v: after an answer that took 55 s the notices are %q", err, log.Notices)
	}
}

// TestRequested: requests of the client that the scheduling loop waits for are read once. Events and leases have clients of
// their own.
func TestRequested(t *testing.T) {
	const elects = "kube-scheduler/v1.37.1 (linux/amd64) kubernetes/abc/leader-election"
	lease := req{at: 3, verb: "update", resource: "leases", ns: "kube-system", name: "kube-scheduler", code: 200}
	for _, c := range []struct {
		name, log string
		want      int
	}{
		{"a patch", by(scheduler, status(2, "a", 11)), 1},
		{"a patch that was refused", by(scheduler, req{at: 2, verb: "patch", resource: "pods", sub: "status", ns: "default", name: "a", code: 404}), 1},
		{"a binding", by(scheduler, req{at: 2, verb: "create", resource: "pods", sub: "binding", ns: "default", name: "a", code: 201, response: `{"kind":"Status","apiVersion":"v1"}`}), 1},
		{"an eviction", by(scheduler, req{at: 2, verb: "delete", resource: "pods", ns: "default", name: "a", response: pod("a", 12)}), 1},
		{"a watch begins, and ends", by(scheduler, reads(2, "watch", "pods")) + by(scheduler, req{at: 2, verb: "watch", resource: "pods"}), 1},
		{"an Event", by(scheduler, failedScheduling(2, "create", failed)), 0},
		{"a lease", by(elects, lease), 0},
		{"another component", by("kubelet/v1.37.1 (linux/amd64) kubernetes/a1b2c3d", status(2, "a", 11)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, err := read(t, req{at: 1, verb: "create", resource: "pods", ns: "default", code: 201, response: pod("a", 10)}.line()+c.log)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, ev := range order(log) {
				if _, ok := ev.Fact.(*sources.Requested); ok {
					got++
				}
			}
			if got != c.want {
				t.Errorf("%d requests, want %d", got, c.want)
			}
		})
	}
}
