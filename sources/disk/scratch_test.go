package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/disk/disktest"
)

// TestScratch: a file for what is not to stay is written and read anywhere, is nobody else's, and is gone once it is closed.
func TestScratch(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "played")
	f, err := disk.Scratch(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("later"), 7); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := f.ReadAt(got, 7); err != nil || string(got) != "later" {
		t.Errorf("it has %q, %v", got, err)
	}
	if info, err := f.Stat(); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may open it: %v, %v", info.Mode(), err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestScratchFails: whatever fails, there is a sentence and no file, unless it is that it can't be removed.
func TestScratchFails(t *testing.T) {
	for nth := 0; ; nth++ {
		folder := filepath.Join(t.TempDir(), "played")
		var faults disktest.Faults
		faults.Fail(nth, false)
		f, err := disk.Scratch(faults.Context(t.Context()), folder)
		if err == nil {
			f.Close()
			if faults.Count() <= nth {
				return
			}
			continue // what failed does no harm
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 && !faults.KeptFromRemoving() {
			t.Errorf("%v, and %v is left", err, left)
		}
	}
}
