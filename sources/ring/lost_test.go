package ring_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

// segmentsOf returns the paths of a ring's segments, the oldest first. There must be at least n.
func segmentsOf(t *testing.T, folder string, n int) []string {
	paths, err := filepath.Glob(filepath.Join(folder, "ring-*"))
	if err != nil || len(paths) < n {
		t.Fatal(paths, err)
	}
	slices.Sort(paths)
	return paths
}

// renumbered returns path with another number.
func renumbered(path, number string) string {
	return filepath.Join(filepath.Dir(path), "ring-"+number+filepath.Base(path)[len("ring-0000000001"):])
}

// TestMissingSegments: notices name missing and misnamed segments, and the others are played. A strict reader fails.
func TestMissingSegments(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, all []string) error
		want   string
		lost   int  // limits the number of lost marks
		gap    bool // the recording has one
	}{
		"one is missing": {func(_ *testing.T, all []string) error { return os.Remove(all[3]) }, "segment 4 is missing", 70, true},
		"three are missing": {func(_ *testing.T, all []string) error {
			return errors.Join(os.Remove(all[2]), os.Remove(all[3]), os.Remove(all[4]))
		}, "segments 3 to 5 are missing", 210, true},
		"the first is the last": {func(_ *testing.T, all []string) error { return os.Rename(all[0], renumbered(all[0], "0000000500")) }, "does not belong there", 70, false},
		"many are empty": {func(_ *testing.T, all []string) error {
			for n := range 1000 {
				if err := os.WriteFile(filepath.Join(filepath.Dir(all[0]), fmt.Sprintf("ring-%010d-20261121T110000.000Z.jsonl.zst", 1000+2*n)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}, "(as of 999 more)", 0, false},
		"one has a number that is too large": {func(_ *testing.T, all []string) error {
			return os.Rename(all[1], renumbered(all[1], "9999999999"))
		}, "does not belong there", 70, true},
		"a copy of an old one is the newest": {func(t *testing.T, all []string) error {
			data, err := os.ReadFile(all[1])
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(filepath.Dir(all[0]), "ring-0000000500-20261121T150000.000Z.jsonl.zst"), data, 0o600)
		}, "does not belong there", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder, w := t.TempDir(), newWorld()
			out := begin(t, t.Context(), folder, ring.Bound{Age: 30 * time.Minute}, w)
			for range 10 * 60 {
				w.now = w.now.Add(time.Second)
				out.Write(w.now, []sources.Event{w.put(fmt.Sprint("pod-", w.now.Unix()%10), nil), w.mark()})
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			whole := read(t, folder, ring.ReadOptions{Strict: true})
			if len(whole.notices) > 0 {
				t.Fatal(whole.notices)
			}
			if err := c.damage(t, segmentsOf(t, folder, 5)); err != nil {
				t.Fatal(err)
			}
			got := read(t, folder, ring.ReadOptions{})
			if !slices.ContainsFunc(got.notices, func(n string) bool { return strings.Contains(n, c.want) }) {
				t.Errorf("the notices are %q, want %q", got.notices, c.want)
			}
			if len(got.notices) > 3 {
				t.Errorf("there are %d notices", len(got.notices))
			}
			if missing := len(whole.marks) - len(got.marks); missing > c.lost {
				t.Errorf("%d marks are missing, want at most %d", missing, c.lost)
			}
			gap := slices.ContainsFunc(got.notices, func(n string) bool { return strings.Contains(n, "nothing was recorded") })
			if gap != c.gap {
				t.Errorf("a gap: %v, want %v; %q", gap, c.gap, got.notices)
			}
			if _, err := tryRead(t, folder, ring.ReadOptions{Strict: true}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a strict reader returns %v", err)
			}
			// A new recorder continues after all of them.
			out = begin(t, t.Context(), folder, ring.Bound{Age: 30 * time.Minute}, w)
			w.run(out, 5*time.Second, w.mark())
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			if got := read(t, folder, ring.ReadOptions{}); !slices.Contains(got.marks, w.marks) {
				t.Errorf("later events are missing: %v", got.notices)
			}
		})
	}
}

// TestRemovedFolder: if its folder is removed, a recorder ends with an error. If only its segment is removed, it begins another.
func TestRemovedFolder(t *testing.T) {
	folder, w := filepath.Join(t.TempDir(), "ring"), newWorld()
	out := begin(t, t.Context(), folder, ring.Bound{Age: 30 * time.Minute}, w)
	w.run(out, time.Minute)
	for _, path := range segmentsOf(t, folder, 1) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	w.run(out, 10*time.Second)
	w.run(out, time.Second, w.mark())
	if err := out.Lost(); err != nil || len(out.Notices()) > 0 {
		t.Fatal(err, out.Notices())
	}
	if got := read(t, folder, ring.ReadOptions{}); !slices.Contains(got.marks, w.marks) {
		t.Errorf("the marks are %v", got.marks)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	w.run(out, 5*time.Second)
	for _, err := range []error{out.Lost(), out.Close()} {
		if err == nil || !strings.Contains(err.Error(), folder+" is gone") {
			t.Errorf("the error is %v", err)
		}
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder exists again")
	}
	// Removed shortly before the end.
	out = begin(t, t.Context(), folder, ring.Bound{Age: 30 * time.Minute}, newWorld())
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err == nil {
		t.Error("no error")
	}
}
