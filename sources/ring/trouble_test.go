package ring_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk/disktest"
	"github.com/schedq/schedq/sources/ring"
)

// TestFaults: after any failed disk operation, once or lasting, recording continues once the disk works, and reports what
// changed meanwhile.
func TestFaults(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7 // odd, for both kinds of faults
	}
	for n := 1; ; n += step {
		folder, w := t.TempDir(), newWorld()
		faults := &disktest.Faults{Fails: []syscall.Errno{syscall.ENOSPC, syscall.EIO}[n%2]}
		w.put("before", nil)
		out := begin(t, faults.Context(t.Context()), folder, ring.Bound{Age: 16 * time.Minute}, w)
		first := faults.Count()
		faults.Fail(n, n/2%2 == 0)
		for i := range 16 {
			w.now = w.now.Add(10 * time.Second)
			out.Write(w.now, []sources.Event{w.put(fmt.Sprint("pod-", i%10), nil), w.mark()})
			if i == 12 {
				faults.Fail(0, false)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatalf("operation %d: %v", n, err)
		}
		got := read(t, folder, ring.ReadOptions{})
		if !maps.Equal(got.pods, w.there()) || got.marks[len(got.marks)-1] != 16 {
			t.Fatalf("operation %d: marks %v, pods %v", n, got.marks, got.pods)
		}
		if faults.Count() < first+n {
			return
		}
	}
}

// TestFullDisk: while the disk is full, there is a notice, and the oldest segments are dropped. When there is space again,
// recording continues, and a notice reports the gap.
func TestFullDisk(t *testing.T) {
	folder, w := t.TempDir(), newWorld()
	faults := &disktest.Faults{Fails: syscall.ENOSPC}
	w.put("before", nil)
	out := begin(t, faults.Context(t.Context()), folder, ring.Bound{Age: 16 * time.Minute}, w)
	step := func() {
		w.now = w.now.Add(5 * time.Second)
		out.Write(w.now, []sources.Event{w.put("pod", nil), w.mark()})
	}
	for range 60 {
		step()
	}
	before, _ := size(t, folder)
	faults.Fail(1, true)
	step()
	want := "Nothing has been recorded since 12:05:05: " + folder + " can't be written: no space left on device. schedq retries every 2s."
	if got := out.Notices(); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	faults.Fail(0, false)
	step()
	if got := out.Notices(); len(got) > 0 {
		t.Errorf("with space again, the notices are %q", got)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if after, _ := size(t, folder); after > before+1 {
		t.Errorf("%d segments, before %d", after, before)
	}
	got := read(t, folder, ring.ReadOptions{})
	want = folder + ": nothing was recorded once, from 2026-11-21 12:05:00 to 2026-11-21 12:05:10: changes in that time are shown at its end"
	if len(got.notices) != 1 || got.notices[0] != want {
		t.Errorf("%q, want %q", got.notices, want)
	}
	if !maps.Equal(got.pods, w.there()) {
		t.Errorf("pods %v, want %v", got.pods, w.there())
	}
}

// TestCreateErrors: a folder that can't be used is an error of one sentence.
func TestCreateErrors(t *testing.T) {
	folder := t.TempDir()
	out, err := ring.Create(t.Context(), folder, ring.Bound{Age: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Create(t.Context(), folder, ring.Bound{Age: time.Hour}); err == nil ||
		err.Error() != "another schedq records into "+folder+": name another folder, or end that one first" {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err = ring.Create(t.Context(), folder, ring.Bound{Age: time.Hour}); err != nil {
		t.Fatal("after the first has ended:", err)
	}
	out.Close()
	plain := filepath.Join(folder, "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Create(t.Context(), plain, ring.Bound{Age: time.Hour}); err == nil || !strings.Contains(err.Error(), plain+" can't be made: ") {
		t.Error(err)
	}
	for n := 1; n < 4; n++ {
		faults := &disktest.Faults{From: n, Lasting: true, Fails: syscall.EROFS}
		if _, err := ring.Create(faults.Context(t.Context()), folder, ring.Bound{Age: time.Hour}); err == nil ||
			!strings.HasSuffix(err.Error(), "read-only file system") || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	}
	if _, err := ring.Open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no ring in ") {
		t.Error(err)
	}
}

// TestClockSetBack: events recorded by a clock that was ahead come before those after it was set back, with a notice. None
// is lost.
func TestClockSetBack(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		folder, w := t.TempDir(), newWorld()
		bound := ring.Bound{Age: 24 * time.Hour}
		out := begin(t, t.Context(), folder, bound, w)
		add := func(n int) {
			for range n {
				w.now = w.now.Add(time.Minute)
				out.Write(w.now, []sources.Event{w.put("pod", nil), w.mark()})
			}
		}
		add(60)
		w.now = noon.Add(20 * time.Minute)
		if restarted {
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			out = begin(t, t.Context(), folder, bound, w)
		}
		add(30)
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		got := read(t, folder, ring.ReadOptions{})
		if len(got.marks) != 90 || !maps.Equal(got.pods, w.there()) {
			t.Errorf("restarted %v: %d marks, pods %v, want %v", restarted, len(got.marks), got.pods, w.there())
		}
		for i, m := range got.marks {
			if m != i+1 {
				t.Errorf("restarted %v: the %dth mark is %d", restarted, i, m)
			}
		}
		if len(got.notices) != 1 || !strings.Contains(got.notices[0], "the clock was set back: events recorded until 2026-11-21 13:00:00 are shown at 2026-11-21 12:2") {
			t.Errorf("restarted %v: %q", restarted, got.notices)
		}
		if last := got.events[len(got.events)-1].Time; !last.Equal(noon.Add(50 * time.Minute)) {
			t.Errorf("restarted %v: the last event is at %v", restarted, last)
		}
	}
}

// TestParseBound: a bound is a duration, a size, or both.
func TestParseBound(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  ring.Bound
		err   string
	}{
		{[]string{"24h"}, ring.Bound{Age: 24 * time.Hour}, ""},
		{[]string{"2GiB"}, ring.Bound{Bytes: 2 << 30}, ""},
		{[]string{"2Gi", "90m"}, ring.Bound{Bytes: 2 << 30, Age: 90 * time.Minute}, ""},
		{[]string{"100MB"}, ring.Bound{Bytes: 100_000_000}, ""},
		{nil, ring.Bound{}, "set a length or a size of the ring: 24h, 2GiB"},
		{[]string{"1h", "2h"}, ring.Bound{}, "2h is a second duration: use at most one duration and one size"},
		{[]string{"1Gi", "2Gi"}, ring.Bound{}, "2Gi is a second size: use at most one size and one duration"},
		{[]string{"1s"}, ring.Bound{}, "1s is not a valid ring length: use 1m to 87600h"},
		{[]string{"-1h"}, ring.Bound{}, "-1h is not a valid ring length: use 1m to 87600h"},
		{[]string{"1MiB"}, ring.Bound{}, "1MiB is too small for a ring: use 4MiB or more"},
		{[]string{"much"}, ring.Bound{}, "much is neither a duration nor a size: 24h, 2GiB"},
		{[]string{"1d"}, ring.Bound{}, "1d is neither a duration nor a size: 24h, 2GiB"},
	} {
		got, err := ring.ParseBound(c.texts...)
		if got != c.want || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%q: %v, %v; want %v, %s", c.texts, got, err, c.want, c.err)
		}
	}
}

// FuzzRead: a ring with arbitrary segments is read without a panic, or with an error of one sentence.
func FuzzRead(f *testing.F) {
	folder, w := f.TempDir(), newWorld()
	out := begin(f, f.Context(), folder, ring.Bound{Age: 16 * time.Minute}, w)
	for i := range 20 {
		w.now = w.now.Add(10 * time.Second)
		out.Write(w.now, []sources.Event{w.put(fmt.Sprint("pod-", i%3), nil), w.mark()})
	}
	if err := out.Close(); err != nil {
		f.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "ring-*"))
	for _, name := range files[:2] {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, data[:len(data)/2], uint8(0))
		f.Add([]byte(`{"schedq":"trace","version":1}`+"\n"+`{"time":"2026-11-21T12:00:00Z","attached":{}}`+"\n"), data, uint8(3))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, how uint8) {
		folder := t.TempDir()
		began := []string{"", "-began"}[how&1]
		second := []string{"20261121T130000.000Z", "20261121T110000.000Z"}[how>>1&1]
		for name, data := range map[string][]byte{"ring-0000000001-20261121T120000.000Z.jsonl.zst": a, "ring-0000000002-" + second + began + ".jsonl.zst": b} {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := ring.Open(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		first, last, err := r.Span(t.Context())
		if err == nil && (first.IsZero() || last.Before(first)) {
			t.Fatalf("from %v to %v", first, last)
		}
		for _, from := range []time.Time{{}, first, last} {
			for _, err := range r.Events(t.Context(), ring.ReadOptions{From: from}) {
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Fatal(err)
				}
			}
		}
	})
}
