package disk_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/disk/disktest"
)

// before and after are a file's content: the old and the new one.
var (
	before = []byte("what was there\n")
	after  = bytes.Repeat([]byte("what is new\n"), 20_000)
)

// inPieces writes data as recordings are written: piece by piece.
func inPieces(w io.Writer, data []byte) error {
	for piece := range slices.Chunk(data, 64<<10) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// writers are all that write a file.
var writers = map[string]func(ctx context.Context, path string) error{
	"new": func(ctx context.Context, path string) error {
		return disk.Write(ctx, path, disk.Options{}, func(w io.Writer) error { return inPieces(w, after) })
	},
	"replaced": func(ctx context.Context, path string) error {
		return disk.WriteBytes(ctx, path, disk.Options{Replace: true, Mode: 0o644}, after)
	},
	"kept": func(ctx context.Context, path string) error {
		return disk.Keep(ctx, path, after)
	},
	"growing": func(ctx context.Context, path string) error {
		return grow(ctx, path, disk.Options{}, disk.Create)
	},
	"growing over another": func(ctx context.Context, path string) error {
		return grow(ctx, path, disk.Options{Replace: true}, disk.Create)
	},
}

// create is disk.Create, or what it does where a file that is open keeps its name.
type create func(context.Context, string, disk.Options, func(io.Writer) error) (*disk.Growing, error)

// grow writes a file as it comes.
func grow(ctx context.Context, path string, opts disk.Options, create create) error {
	g, err := create(ctx, path, opts, func(w io.Writer) error {
		_, err := w.Write(after[:100])
		return err
	})
	if err != nil {
		return err
	}
	err = inPieces(g, after[100:])
	if closing := g.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err) // as the recorder puts it
	}
	return nil
}

// TestEveryOperationFails: whichever operation fails, once or from then on, a file is as it was or whole, nothing
// is left beside it, and either all went well or the error is one sentence about the file.
func TestEveryOperationFails(t *testing.T) {
	for name, write := range writers {
		for _, lacks := range []string{"nothing", "links", "names for files without one"} {
			for _, lasting := range []bool{false, true} {
				for _, fails := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EINTR, 0} {
					operations := 1
					for n := 0; n <= operations; n++ {
						faults := &disktest.Faults{From: n, Lasting: lasting, Fails: fails, NoLinks: lacks == "links", NoNames: lacks == "names for files without one"}
						what := fmt.Sprintf("%s, operation %d, lasting %v, the file system lacks %s: %v", name, n, lasting, lacks, fails)
						failsAt(t, what, name, write, faults)
						if n == 0 {
							operations = faults.Count() // as many as there are when none fails
						}
					}
				}
			}
		}
	}
}

// TestEveryOperationFailsInPlace: a file that is begun in its place is as it was, begun or whole, or beside it is what was
// there before, and the error says so.
func TestEveryOperationFailsInPlace(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		operations := 1
		for n := 0; n <= operations; n++ {
			faults := &disktest.Faults{From: n, Lasting: lasting, Fails: syscall.EIO}
			folder := t.TempDir()
			path := filepath.Join(folder, "a.jsonl")
			write(t, path, string(before))
			err := grow(faults.Context(t.Context()), path, disk.Options{Replace: true}, disk.GrowInPlace)
			if n == 0 {
				operations = faults.Count()
			}
			kept := 0
			for _, name := range names(t, folder) {
				got, reading := os.ReadFile(filepath.Join(folder, name))
				switch {
				case reading != nil:
					t.Error(reading)
				case bytes.Equal(got, before) && (name == "a.jsonl" || err != nil && strings.Contains(err.Error(), name)):
					kept++
				case name == "a.jsonl" && len(got) >= 100 && bytes.HasPrefix(after, got):
					kept++ // as far as it came
				case faults.KeptFromRemoving():
				default:
					t.Errorf("operation %d, lasting %v: %v, and %s has %d bytes", n, lasting, err, name, len(got))
				}
			}
			if kept == 0 || err == nil && n > 0 && kept != 1 {
				t.Errorf("operation %d, lasting %v: %v, and neither the old nor the new is there", n, lasting, err)
			}
		}
	}
}

func failsAt(t *testing.T, what, name string, write func(context.Context, string) error, faults *disktest.Faults) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "a.jsonl")
	old := name != "new" && name != "growing"
	if old {
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := write(faults.Context(t.Context()), path)
	got, reading := os.ReadFile(path)
	there := reading == nil
	switch {
	case err == nil && !bytes.Equal(got, after):
		t.Errorf("%s: success was reported, and the file has %d bytes", what, len(got))
	case err != nil && (!strings.Contains(err.Error(), "a.jsonl") && !strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "\n")):
		t.Errorf("%s: no sentence about the file: %v", what, err)
	case old && !there:
		t.Errorf("%s: the old file is gone", what)
	case strings.HasPrefix(name, "growing") && there && bytes.HasPrefix(after, got) && len(got) >= 100: // what has come is kept
	case there && !bytes.Equal(got, after) && !(old && bytes.Equal(got, before)) && !(len(got) == 0 && faults.KeptFromRemoving()):
		t.Errorf("%s: %v, and the file has %d bytes, neither the old nor the new ones", what, err, len(got))
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "a.jsonl" && !faults.KeptFromRemoving() {
			t.Errorf("%s: %s is left", what, e.Name())
		}
	}
}

// TestNamedWhenTheDiskHasIt: a file gets its name when all of it is synced, and then its folder is.
func TestNamedWhenTheDiskHasIt(t *testing.T) {
	for name, write := range writers {
		faults := &disktest.Faults{}
		if err := write(faults.Context(t.Context()), filepath.Join(t.TempDir(), "a.jsonl")); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, op := range faults.Done() {
			switch {
			case op == "sync":
				order = append(order, op)
			case (op == "link" || op == "rename") && order[len(order)-1] != "named": // first a name of its own
				order = append(order, "named")
			}
		}
		want := "[sync named sync]"
		if strings.HasPrefix(name, "growing") {
			want = "[sync named sync sync]" // and all of it at the end
		}
		if fmt.Sprint(order) != want {
			t.Errorf("%s: %v, want %s", name, order, want)
		}
	}
}

// TestReadingFails: whichever operation fails, what is read is all of it or an error about the file.
func TestReadingFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, after, 0o600); err != nil {
		t.Fatal(err)
	}
	operations := 1
	for n := 0; n <= operations; n++ {
		faults := &disktest.Faults{From: n, Fails: syscall.EIO}
		data, err := disk.Read(faults.Context(t.Context()), path, 1<<20)
		switch {
		case err == nil && !bytes.Equal(data, after):
			t.Errorf("operation %d: %d bytes were read", n, len(data))
		case err != nil && !(strings.Contains(err.Error(), path+":") && strings.Contains(err.Error(), "input/output error")):
			t.Errorf("operation %d: %v", n, err)
		}
		if n == 0 {
			operations = faults.Count()
		}
	}
}
