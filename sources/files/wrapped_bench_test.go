package files_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// BenchmarkWrapped reads logs as they were written and as each wrapper has them, in turn: of-plain is which share of the plain
// one's speed is left, of the same lines. Half of it is the goal. The logs are those of random-1 in SCHEDQ_RECORDINGS, or what
// they could be of an embedded recording.
func BenchmarkWrapped(b *testing.B) {
	audit, klog := logsToRead(b)
	bare := func(logged) string { return "" }
	for name, wrap := range wrappers {
		b.Run("scheduler/"+name, func(b *testing.B) { againstPlain(b, prefixed(klog, bare), wrap("kube-scheduler", klog)) })
		if !strings.HasPrefix(name, "journald") {
			b.Run("audit/"+name, func(b *testing.B) { againstPlain(b, prefixed(audit, bare), wrap("kube-apiserver-audit", audit)) })
		}
	}
	b.Run("scheduler/klog's JSON format", func(b *testing.B) { againstPlain(b, prefixed(klog, bare), klogJSON(klog)) })
	b.Run("scheduler/Cloud Logging", func(b *testing.B) { againstPlain(b, prefixed(klog, bare), cloudKlog(klog)) })
	b.Run("audit/Cloud Logging", func(b *testing.B) { againstPlain(b, prefixed(audit, bare), cloudAudit(b, audit)) })
}

// againstPlain measures reading one text against the other.
func againstPlain(b *testing.B, plain, wrapped string) {
	took := func(text string) time.Duration {
		began := time.Now()
		if _, err := files.Read(b.Context(), "log", []byte(text)); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var inPlain, inWrapped time.Duration
	for b.Loop() {
		inPlain += took(plain)
		inWrapped += took(wrapped)
	}
	b.ReportMetric(float64(inPlain)/float64(inWrapped), "of-plain")
	b.ReportMetric(float64(len(plain))*float64(b.N)/inPlain.Seconds()/1e6, "plain-MB/s")
	b.ReportMetric(0, "ns/op")
}

var (
	stampOf = regexp.MustCompile(`"stageTimestamp":"([^"]+)"`)
	klogAt  = regexp.MustCompile(`^[IWE](\d{4} \d\d:\d\d:\d\d\.\d{6}) .*\] "`)
)

// logsToRead returns the lines of an audit log that have an object, and those of a scheduler's log.
func logsToRead(b *testing.B) (audit, klog []logged) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		rec, err := embedded.Open(b.Context(), embedded.All()[0].Name)
		if err != nil {
			b.Fatal(err)
		}
		return auditOf(rec), klogOf(rec)
	}
	for line := range strings.Lines(unzipped(b, filepath.Join(root, "random-1", "audit.log.gz"))) {
		m := stampOf.FindStringSubmatch(line)
		if m == nil || !strings.Contains(line, `"responseObject":{"kind":"`) {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, m[1])
		if err != nil {
			b.Fatal(err)
		}
		audit = append(audit, logged{at, strings.TrimSuffix(line, "\n")})
	}
	year := audit[0].at.Format("2006")
	for line := range strings.Lines(unzipped(b, filepath.Join(root, "random-1", "sched.log.gz"))) {
		m := klogAt.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, err := time.Parse("2006 0102 15:04:05.000000", year+" "+m[1])
		if err != nil {
			b.Fatal(err)
		}
		klog = append(klog, logged{at, strings.TrimSuffix(line, "\n")})
	}
	return audit, klog
}

func unzipped(b *testing.B, path string) string {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(z)
	if err = cmp.Or(err, z.Close()); err != nil {
		b.Fatal(err)
	}
	return text.String()
}
