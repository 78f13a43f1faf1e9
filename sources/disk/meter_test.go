package disk_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedq/schedq/sources/disk"
)

// TestMeasured: what was looked into alone and closed counts for nothing, what grows not beyond the size that it had,
// and the share never goes back.
func TestMeasured(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var shares []float64
	ctx := disk.Measured(t.Context(), func(share float64) { shares = append(shares, share) })
	open := func(path string) disk.File {
		f, err := disk.Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	read := func(f disk.File, n int) {
		if _, err := io.ReadFull(f, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	a, b := write("a", 100), write("b", 300)
	looked := open(a)
	read(looked, 10)
	looked.Close()
	looked.Close()
	one, other := open(a), open(b)
	open(write("empty", 0)).Close()
	read(one, 100)
	if err := os.WriteFile(b, make([]byte, 1000), 0o600); err != nil { // it grows
		t.Fatal(err)
	}
	read(other, 200)
	read(other, 800)
	one.Close()
	other.Close()
	want := []float64{0.1, 0.25, 0.75, 1}
	if len(shares) != len(want) {
		t.Fatalf("%v, want %v", shares, want)
	}
	for i := range want {
		if shares[i] != want[i] {
			t.Errorf("%v, want %v", shares, want)
		}
	}
	f := open(a)
	go f.Close() // as who waits for a reader does
	f.Close()
	if f, err := disk.Open(t.Context(), a); err != nil {
		t.Fatal(err)
	} else if read(f, 1); len(shares) != len(want) {
		t.Error("progress of an unmeasured file was reported")
	}
}
