package e2e

import (
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var out = flag.String("out", "", "output `directory` of TestRecord, for audit.log.gz and sched.log.gz")

// TestRecord runs a workload without schedq, and writes the files that make verify reads: the audit log
// and the scheduler's log.
func TestRecord(t *testing.T) {
	if *out == "" {
		t.Skip("set -out DIRECTORY to make a recording")
	}
	c := trial{release: *release}.record(t)
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	pack(t, c.AuditLog(), filepath.Join(*out, "audit.log.gz"))
	pack(t, c.SchedulerLog(), filepath.Join(*out, "sched.log.gz"))
}

// pack compresses a file.
func pack(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(file)
	_, err = io.Copy(w, in)
	if err := errors.Join(err, w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
}
