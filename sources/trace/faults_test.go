package trace_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/disk/disktest"
	"github.com/schedq/schedq/sources/trace"
)

// TestEveryFaultOfARecording: whichever disk operation fails, the file contains the events that are reported as written,
// and plays. The error is one sentence about the file.
func TestEveryFaultOfARecording(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		for _, lasting := range []bool{false, true} {
			operations := 1
			for n := 0; n <= operations; n++ {
				path := filepath.Join(t.TempDir(), name)
				faults := &disktest.Faults{From: n, Lasting: lasting, Fails: syscall.ENOSPC}
				begun, written, err := record3(faults, t, path)
				if n == 0 {
					operations = faults.Count()
				}
				if err != nil && (!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s, operation %d: no sentence about the file: %v", name, n, err)
				}
				if err == nil && written != 3 {
					t.Errorf("%s, operation %d: %d of 3 were written, and no error", name, n, written)
				}
				if !begun {
					continue
				}
				if marks, _ := readMarks(t, path); err == nil && marks != 3 || marks > 3 {
					t.Errorf("%s, operation %d: %d marks are in the file, %v", name, n, marks, err)
				}
			}
		}
	}
}

// record3 records three marks.
func record3(faults *disktest.Faults, t *testing.T, path string) (begun bool, written int, err error) {
	r, err := trace.Record(faults.Context(t.Context()), &endless{}, path, 0, disk.Options{})
	if err != nil {
		return false, 0, err
	}
	for range 3 {
		r.Take()
	}
	err = r.Close()
	return true, r.Written(), err
}
