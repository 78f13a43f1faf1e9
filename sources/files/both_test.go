package files_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// bothOf returns an audit log's and a scheduler's lines of a part of an embedded recording.
func bothOf(t *testing.T) (audit, klog []logged) {
	t.Helper()
	rec, err := embedded.Open(t.Context(), embedded.All()[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	klog = klogOf(rec)
	until := klog[min(len(klog), 400)-1].at
	return writtenBy(until, auditOf(rec)), writtenBy(until, klog)
}

// mixed returns lines in the order of time.
func mixed(a, b []logged) []logged {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b logged) int { return a.at.Compare(b.at) })
	return all
}

// TestBoth: an audit log's lines and a scheduler's in one file are read as both: in the order of time, one after the other, and in
// what wraps them.
func TestBoth(t *testing.T) {
	audit, klog := bothOf(t)
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bare := func(logged) string { return "" }
	want := traceOf(t, write("audit.log", prefixed(audit, bare)), write("sched.log", prefixed(klog, bare)))
	byTime := mixed(audit, klog)
	cases := map[string]string{
		"by time":                         prefixed(byTime, bare),
		"the audit log first":             prefixed(audit, bare) + prefixed(klog, bare),
		"the scheduler's log first":       prefixed(klog, bare) + prefixed(audit, bare),
		"two wrappers, one after another": wrappers["CloudWatch, get-log-events"]("x", audit) + wrappers["Azure Monitor, storage"]("x", klog),
	}
	for name, wrap := range wrappers {
		cases["by time, "+name] = wrap("x", byTime)
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			if got := traceOf(t, write("both.log", content)); !bytes.Equal(got, want) {
				t.Errorf("another trace, of %d bytes, want %d", len(got), len(want))
			}
		})
	}
	t.Run("standard input", func(t *testing.T) {
		file, err := files.Open(t.Context(), []string{write("both.log", cases["by time"])}, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := files.Open(t.Context(), []string{"-"}, files.Options{Stdin: strings.NewReader(cases["by time"])})
		if err != nil || len(rec.Events) != len(file.Events) || len(rec.Formats) != 2 {
			t.Errorf("%d events of %v, want %d: %v", len(rec.Events), rec.Formats, len(file.Events), err)
		}
	})
}

// TestBothInPart: unreadable lines of the other kind are reported, and the rest is read.
func TestBothInPart(t *testing.T) {
	audit, klog := bothOf(t)
	bare := func(logged) string { return "" }
	events, moves := prefixed(audit, bare), prefixed(klog, bare)
	const other = "I1121 10:00:02.000000       1 kubelet.go:1] \"Starting kubelet\"\n\tand more\n"
	for name, c := range map[string]struct {
		content, want string
		formats       int
	}{
		"another program's lines in an audit log":     {events + other, "kube-scheduler's lines in", 1},
		"an audit log in another program's":           {other + events, "", 1},
		"a torn event in a scheduler's log":           {moves + events[:200] + "\n", "the audit events in", 1},
		"a torn event, and a whole one":               {moves + events[:200] + "\n" + events, "can't be read", 2},
		"prefixed lines, and then a cloud's document": {wrappers["CloudWatch, export to S3"]("x", audit) + wrappers["CloudWatch, get-log-events"]("x", klog), "", 2},
		"a cloud's document, and then prefixed lines": {wrappers["CloudWatch, get-log-events"]("x", audit) + wrappers["CloudWatch, export to S3"]("x", klog), "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			rec, err := files.Open(t.Context(), []string{path}, files.Options{Now: time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			notices := strings.Join(rec.Notices, "\n")
			if !strings.Contains(notices, c.want) || len(rec.Formats) != c.formats || len(rec.Events) < 20 {
				t.Errorf("%d events of %v, notices\n%s", len(rec.Events), rec.Formats, notices)
			}
		})
	}
}
