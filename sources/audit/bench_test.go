//go:build unix

package audit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/lines"
)

// BenchmarkRead reads each recording's audit log on one core, and as "mix" what production has of one. MB/s are of its text; cpu-MB/s are by
// the processor's time, for a machine that does other things, too.
func BenchmarkRead(b *testing.B) {
	logs, _ := filepath.Glob(filepath.Join(os.Getenv("SCHEDQ_RECORDINGS"), "*", "audit.log.gz"))
	if os.Getenv("SCHEDQ_RECORDINGS") == "" || len(logs) == 0 {
		b.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	for _, name := range logs {
		b.Run(filepath.Base(filepath.Dir(name)), func(b *testing.B) { readAlone(b, textOf(b, name)) })
	}
	b.Run("mix", func(b *testing.B) {
		readAlone(b, mixed(textOf(b, filepath.Join(os.Getenv("SCHEDQ_RECORDINGS"), "field", "audit.log.gz"))))
	})
}

// readAlone measures reading a log.
func readAlone(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	began := processorTime(b)
	for b.Loop() {
		r, err := lines.New(b.Context(), "audit.log", time.Time{}, io.NopCloser(bytes.NewReader(text)))
		if err != nil {
			b.Fatal(err)
		}
		if err := NewLog(time.Time{}, nil).read(r, func() {}, func(item) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(text))*float64(b.N)/(processorTime(b)-began).Seconds()/1e6, "cpu-MB/s")
}

// processorTime is what the process has used up to now.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// textOf returns the text of a log.
func textOf(b *testing.B, name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// besides are requests that most of an audit log is about: leases, reads, endpoints, Events, reviews. Each is what it is asked with, a
// verb, a user, a client, an objectRef and objects.
var besides = []struct{ level, uri, verb, user, agent, about, objects string }{
	{"Metadata", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/ip-10-2-%d-17.eu-central-1.compute.internal?timeout=10s", "update", byNode, kubelet,
		`{"resource":"leases","namespace":"kube-node-lease","name":"ip-10-2-%d-17.eu-central-1.compute.internal","uid":"6cdb2b4d-59a7-4b0e-b7f0-3f4f32f1a0b2","apiGroup":"coordination.k8s.io","apiVersion":"v1","resourceVersion":"812763%d"}`, ""},
	{"Metadata", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager?timeout=5s&n=%d", "get", byManager, manager + "/leader-election",
		`{"resource":"leases","namespace":"kube-system","name":"kube-controller-manager","apiGroup":"coordination.k8s.io","apiVersion":"v1"}`, ""},
	{"Metadata", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/ip-10-2-%d-17.eu-central-1.compute.internal?timeout=10s", "update", byNode, kubelet,
		`{"resource":"leases","namespace":"kube-node-lease","name":"ip-10-2-%d-17.eu-central-1.compute.internal","uid":"6cdb2b4d-59a7-4b0e-b7f0-3f4f32f1a0b2","apiGroup":"coordination.k8s.io","apiVersion":"v1","resourceVersion":"812763%d"}`, ""},
	{"Request", "/api/v1/nodes/ip-10-2-%d-17.eu-central-1.compute.internal?resourceVersion=0&timeout=10s", "get", byNode, kubelet,
		`{"resource":"nodes","name":"ip-10-2-%d-17.eu-central-1.compute.internal","apiVersion":"v1"}`, ""},
	{"Request", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-%d", "update", `"system:serviceaccount:kube-system:endpointslice-controller","uid":"0a0b","groups":["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"]`, manager + "/system:serviceaccount:kube-system:endpointslice-controller",
		`{"resource":"endpointslices","namespace":"shop","name":"web-%d","uid":"b5e9f1de-9f10-4f0c-a1f0-7b2c10f7e2aa","apiGroup":"discovery.k8s.io","apiVersion":"v1","resourceVersion":"81276%d"}`,
		`"requestObject":{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{"name":"web-x","namespace":"shop","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4","endpoints":[` +
			strings.Repeat(`{"addresses":["10.2.4.17"],"conditions":{"ready":true,"serving":true,"terminating":false},"targetRef":{"kind":"Pod","namespace":"shop","name":"web-5d","uid":"8f3c"},"nodeName":"ip-10-2-4-17"},`, 9) +
			`{"addresses":["10.2.4.18"]}],"ports":[{"name":"http","protocol":"TCP","port":8080}]},`},
	{"Metadata", "/api/v1/namespaces/shop/configmaps?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dsettings-%d&timeoutSeconds=571&watch=true", "watch", byNode, kubelet,
		`{"resource":"configmaps","namespace":"shop","name":"settings-%d","apiVersion":"v1"}`, ""},
	{"RequestResponse", "/apis/authentication.k8s.io/v1/tokenreviews?n=%d", "create", `"system:serviceaccount:monitoring:prometheus","uid":"77","groups":["system:serviceaccounts","system:authenticated"]`, "kube-rbac-proxy/v0.0.0 (linux/amd64) kubernetes/$Format",
		`{"resource":"tokenreviews","apiGroup":"authentication.k8s.io","apiVersion":"v1"}`,
		`"requestObject":{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":"x"}},"responseObject":{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"status":{"authenticated":true,"user":{"username":"system:serviceaccount:monitoring:prometheus","uid":"77"}}},`},
	{"Metadata", "/api/v1/namespaces/shop/events/web-%d", "create", byNode, kubelet,
		`{"resource":"events","namespace":"shop","name":"web-%d.18ea07a3807eec80","apiVersion":"v1"}`, ""},
	{"Request", "/api/v1/pods?allowWatchBookmarks=true&fieldSelector=spec.nodeName%3Dip-10-2-%d-17&resourceVersion=8127631&timeout=7m31s&timeoutSeconds=451&watch=true", "watch", byNode, kubelet,
		`{"resource":"pods","apiVersion":"v1"}`, ""},
}

const (
	byNode    = `"system:node:ip-10-2-4-17.eu-central-1.compute.internal","groups":["system:nodes","system:authenticated"],"extra":{"accessKeyId":["ASIAEXAMPLEEXAMPLE"],"arn":["arn:aws:sts::123456789012:assumed-role/node/i-0f3c6c1f7a2b4e5d6"]}`
	kubelet   = "kubelet/v1.37.1 (linux/amd64) kubernetes/5af3c2d"
	byManager = `"system:kube-controller-manager","groups":["system:authenticated"]`
	manager   = "kube-controller-manager/v1.37.1 (linux/amd64) kubernetes/5af3c2d"
)

// mixed returns a log in which, as in production, three of four lines matter to no scheduler: each line of text, and before it three besides.
func mixed(text []byte) []byte {
	var out bytes.Buffer
	n := 0
	for line := range bytes.Lines(text) {
		_, stamp, _ := bytes.Cut(line, []byte(`"stageTimestamp":"`))
		stamp, _, _ = bytes.Cut(stamp, []byte(`"`))
		for range 3 {
			about := besides[n%len(besides)]
			n++
			numbered := func(s string) string { return strings.ReplaceAll(s, "%d", fmt.Sprint(n%250)) }
			fmt.Fprintf(&out, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"%s","auditID":"67983921-ef5b-4de8-b1ab-%012x","stage":"ResponseComplete","requestURI":"%s","verb":"%s","user":{"username":%s},"sourceIPs":["10.2.4.17"],"userAgent":"%s","objectRef":%s,"responseStatus":{"metadata":{},"code":200},%s"requestReceivedTimestamp":"%s","stageTimestamp":"%[9]s","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"system:of-whom\" of ClusterRole \"system:of-whom\" to Group \"system:nodes\""}}`+"\n",
				about.level, n, numbered(about.uri), about.verb, about.user, about.agent, numbered(about.about), about.objects, stamp)
		}
		out.Write(line)
	}
	return out.Bytes()
}
