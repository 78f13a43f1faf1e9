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

var out = flag.String("out", "", "the folder that TestRecord makes, with audit.log.gz and sched.log.gz")

// TestRecord plays a workload to a scheduler, with nobody attached, and leaves what make verify reads: the audit log
// and the scheduler's own.
func TestRecord(t *testing.T) {
	if *out == "" {
		t.Skip("-out FOLDER makes a recording")
	}
	c := trial{release: *release}.record(t)
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	pack(t, c.AuditLog(), filepath.Join(*out, "audit.log.gz"))
	pack(t, c.SchedulerLog(), filepath.Join(*out, "sched.log.gz"))
}

// pack compresses a file into another one.
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
