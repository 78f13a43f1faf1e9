package hostile

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// header is the first line of a trace.
const header = `{"schedq":"trace","version":1}` + "\n"

// noon is the start of the recordings.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// line returns a line of a trace, at that many seconds after noon.
func line(second int, fact string) string {
	return fmt.Sprintf(`{"time":%q,%s}`+"\n", noon.Add(time.Duration(second)*time.Second).Format(time.RFC3339Nano), fact)
}

// pod returns the fact that a pod was added. more are members of its spec, each followed by a
// comma.
func pod(name, more string) string {
	return fmt.Sprintf(`"verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":"u-%s"},`+
		`"spec":{%s"schedulerName":"default-scheduler","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}}`, name, name, more)
}

// podRequesting returns the fact that a pod with that request was added. quantity is JSON.
func podRequesting(name, resource, quantity string) string {
	return strings.Replace(pod(name, ""), `{"cpu":"1"}`, fmt.Sprintf(`{%q:%s}`, resource, quantity), 1)
}

// smallNode is the fact that a node was added on which p1 does not fit.
const smallNode = `"verb":"added","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},` +
	`"status":{"allocatable":{"cpu":"500m","memory":"1Gi","pods":"10"},"capacity":{"cpu":"500m","memory":"1Gi","pods":"10"}}}`

// trace returns a trace of these facts, one per second.
func trace(facts ...string) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	for i, fact := range facts {
		b.WriteString(line(i, fact))
	}
	return b.Bytes()
}

// recordingFiles returns the files for TestRecordings.
func recordingFiles() []file {
	var all []file
	all = append(all, numbers()...)
	all = append(all, nesting()...)
	all = append(all, times()...)
	all = append(all, damaged()...)
	all = append(all, texts()...)
	all = append(all, bombs()...)
	all = append(all, manifests()...)
	return all
}

// numbers returns files with numbers that are short but expensive, or at the limits of integers.
func numbers() []file {
	var all []file
	for _, q := range []string{
		"1e99999999", "1e-99999999", "1e2147483647", "1e2147483648", "1e3000000000", "1e4294967297", "1e-2147483649", "1e9223372036854775808",
		"1E2147483648", "1e+2147483648", "+1e2147483648", "0.1e2147483648", "1e18446744073709551617", "1e999999999999999999999999",
		"1e0000000000002147483648", "NaN", "Inf", "-1", "9223372036854775808", "0x10", "1_000",
		strings.Repeat("9", 1_000_000), "0." + strings.Repeat("0", 1_000_000) + "1", "1" + strings.Repeat("0", 100_000) + "Ei",
	} {
		short := q[:min(len(q), 24)]
		all = append(all,
			file{name: "cpu of " + short, content: trace(smallNode, podRequesting("p1", "cpu", fmt.Sprintf("%q", q)))},
			file{name: "memory of " + short, content: trace(smallNode, podRequesting("p1", "memory", fmt.Sprintf("%q", q)))})
		if len(q) < 100 {
			escaped := `"` + strings.NewReplacer("e", `\u0065`, "E", `\u0045`, "1", `\u0031`).Replace(q) + `"`
			all = append(all,
				file{name: "escaped cpu of " + short, content: trace(smallNode, podRequesting("p1", "cpu", escaped))},
				file{name: "cpu without quotes of " + short, content: trace(smallNode, podRequesting("p1", "cpu", q))},
				file{name: "a node's pods of " + short, content: trace(strings.ReplaceAll(smallNode, `"pods":"10"`, fmt.Sprintf(`"pods":%q`, q)), pod("p1", ""))},
				file{name: "a log's cpu of " + short, content: auditLine("create", strings.TrimSuffix(strings.TrimPrefix(podRequesting("p1", "cpu", fmt.Sprintf("%q", q)), `"verb":"added","object":`), ""))},
				file{name: "a manifest's cpu of " + short, content: manifest("    resources: {requests: {cpu: " + fmt.Sprintf("%q", q) + "}}")},
				file{name: "a manifest's plain cpu of " + short, content: manifest("    resources: {requests: {cpu: " + q + "}}")})
		}
	}
	for _, n := range []string{"-2147483648", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "1e400", "-1e400", "0.5"} {
		all = append(all,
			file{name: "priority " + n, content: trace(smallNode, pod("p1", `"priority":`+n+`,`))},
			file{name: "grace period " + n, content: trace(smallNode, pod("p1", `"terminationGracePeriodSeconds":`+n+`,`))},
			file{name: "toleration seconds " + n, content: trace(smallNode, pod("p1", `"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":`+n+`}],`))},
			file{name: "attempts " + n, content: trace(smallNode, pod("p1", ""), `"tried":{"pod":"default/p1","attempts":`+n+`}`)},
			file{name: "counts " + n, content: trace(smallNode, `"counts":{"active":`+n+`,"backoff":`+n+`,"unschedulable":`+n+`,"gated":`+n+`}`)},
			file{name: "version " + n, content: []byte(`{"schedq":"trace","version":` + n + "}\n")})
	}
	for _, d := range []string{"0s", "1ns", "-1s", "292y", "2562047h47m16.854775807s", "9999999h", "1e9s", ""} {
		all = append(all, file{name: "backoff of " + d,
			content: trace(smallNode, fmt.Sprintf(`"scheduler":{"release":"v1.37.1","podInitialBackoff":%q,"podMaxBackoff":%q,"podMaxInUnschedulablePods":%q}`, d, d, d), pod("p1", ""))})
	}
	return all
}

// nesting returns files that are deeply nested, wide or long.
func nesting() []file {
	deep := func(open string, n int) string { return strings.Repeat(open, n) }
	var all []file
	for _, n := range []int{1_000, 10_001, 1_000_000, 9_000_000} {
		all = append(all,
			file{name: fmt.Sprintf("%d brackets", n), content: []byte(deep("[", n)), want: "refused"},
			file{name: fmt.Sprintf("%d brackets in a trace", n), content: []byte(header + `{"time":"2026-11-21T12:00:00Z","verb":` + deep("[", n) + "\n" + line(1, pod("p1", "")))},
			file{name: fmt.Sprintf("%d objects in an unknown member", n), content: []byte(header + line(0, `"unknown":`+deep(`{"a":`, n/5)+"1"+deep("}", n/5)+","+pod("p1", "")))},
			file{name: fmt.Sprintf("%d brackets in a scenario", n), content: manifest("    resources: " + deep("[", n))})
	}
	wide := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	labels := make([]string, 200_000)
	for i := range labels {
		labels[i] = fmt.Sprintf(`"l%d":"v"`, i)
	}
	return append(all,
		file{name: "200,000 labels", content: trace(smallNode, strings.Replace(pod("p1", ""), `"namespace":`, `"labels":{`+strings.Join(labels, ",")+`},"namespace":`, 1))},
		file{name: "5,000 tolerations", content: trace(smallNode, pod("p1", `"tolerations":[`+wide(5_000, `{"key":"a","operator":"Exists"}`)+`],`))},
		file{name: "a line of 17 MiB", content: []byte(header + line(0, `"mark":{"text":"`+strings.Repeat("a", 17<<20)+`"}`))},
		file{name: "a line of 10 MB of backslashes", content: []byte(header + line(0, `"mark":{"text":"`+strings.Repeat(`\\`, 5_000_000)+`"}`))},
	)
}

// times returns files with times that are invalid, out of range or far apart.
func times() []file {
	var all []file
	for _, at := range []string{
		"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2262-04-11T23:47:16Z", "2262-04-12T00:00:00Z",
		"2311-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:00:00+23:59",
		"2026-11-21T10:00:00.1234567891234Z", "yesterday", "", "1700000000",
	} {
		own := func(fact string) string { return fmt.Sprintf(`{"time":%q,%s}`+"\n", at, fact) }
		all = append(all,
			file{name: "at " + at, content: []byte(header + own(pod("p1", "")))},
			file{name: "noon, then " + at, content: []byte(header + line(0, smallNode) + line(1, pod("p1", "")) + own(`"mark":{"text":"then"}`))},
			file{name: "at " + at + ", then noon", content: []byte(header + own(smallNode) + line(1, pod("p1", "")) + line(2, `"mark":{"text":"then"}`))},
			file{name: "created at " + at, content: trace(smallNode, strings.Replace(pod("p1", ""), `"namespace":`, fmt.Sprintf(`"creationTimestamp":%q,"namespace":`, at), 1))},
			file{name: "deleted at " + at, content: trace(smallNode, strings.Replace(pod("p1", ""), `"namespace":`, fmt.Sprintf(`"deletionTimestamp":%q,"namespace":`, at), 1))},
			file{name: "a log's pod deleted at " + at, content: append(auditLine("create", podJSON("p0")),
				auditLine("create", strings.Replace(podJSON("p1"), `"namespace":`, fmt.Sprintf(`"deletionTimestamp":%q,"namespace":`, at), 1))...)})
	}
	return all
}

// podJSON returns a pod as JSON.
func podJSON(name string) string {
	return strings.TrimPrefix(pod(name, ""), `"verb":"added","object":`)
}

// auditLine returns a line of kube-apiserver's audit log about one object.
func auditLine(verb, object string) []byte {
	return fmt.Appendf(nil, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"a-1","stage":"ResponseComplete",`+
		`"requestURI":"/api/v1/namespaces/default/pods","verb":%q,"user":{"username":"admin"},"objectRef":{"resource":"pods","namespace":"default","name":"p1","apiVersion":"v1"},`+
		`"responseStatus":{"code":201},"responseObject":%s,"requestReceivedTimestamp":"2026-11-21T12:00:00.000000Z","stageTimestamp":"2026-11-21T12:00:00.100000Z"}`+"\n", verb, object)
}
