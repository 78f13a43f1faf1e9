package ring_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

// begin starts a ring of a cluster, and attaches to it.
func begin(t testing.TB, ctx context.Context, folder string, bound ring.Bound, w *world) *ring.Writer {
	t.Helper()
	out, err := ring.Create(ctx, folder, bound)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(w.now, w.attach())
	return out
}

func size(t testing.TB, folder string) (files int, bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != "lock" {
			files, bytes = files+1, bytes+info.Size()
		}
	}
	return files, bytes
}

// TestAge: a ring of ten minutes keeps about ten minutes of an hour, as a complete recording.
func TestAge(t *testing.T) {
	folder, w := filepath.Join(t.TempDir(), "ring"), newWorld()
	w.put("first", nil)
	out := begin(t, t.Context(), folder, ring.Bound{Age: 10 * time.Minute}, w)
	for range 3600 {
		w.now = w.now.Add(time.Second)
		out.Write(w.now, []sources.Event{w.put(fmt.Sprint("pod-", w.now.Unix()%100), nil), w.mark()})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	got := read(t, folder, ring.ReadOptions{})
	if n := len(got.marks); n < 600 || n > 640 || got.marks[0] != 3600-n+1 || got.marks[n-1] != 3600 {
		t.Errorf("%d marks, %d to %d", n, got.marks[0], got.marks[n-1])
	}
	if !maps.Equal(got.pods, w.there()) || len(got.pods) != 101 {
		t.Errorf("%d pods, want %d", len(got.pods), len(w.pods))
	}
	if len(got.notices) > 0 {
		t.Error(got.notices)
	}
	attached := slices.IndexFunc(got.events, func(ev sources.Event) bool { _, ok := ev.Fact.(*sources.Attached); return ok })
	if a := got.events[attached].Fact.(*sources.Attached); attached != 101 || !a.Began.Equal(noon.Add(-time.Hour)) || !a.Nodes {
		t.Errorf("attached is event %d: %v", attached, a)
	}
}

// TestSize: a ring never exceeds its bound, and uses most of it.
func TestSize(t *testing.T) {
	const bound = 96 << 10
	moves := 20_000
	if testing.Short() {
		moves = 10_000
	}
	folder, w := t.TempDir(), newWorld()
	out := begin(t, t.Context(), folder, ring.Bound{Bytes: bound}, w)
	most := int64(0)
	var events []sources.Event
	for i := range moves {
		w.now = w.now.Add(100 * time.Millisecond)
		events = append(events, w.put(fmt.Sprint("pod-", i*7919%50), nil), w.mark())
		if i%10 == 9 {
			out.Write(w.now, events)
			events = nil
			_, n := size(t, folder)
			most = max(most, n)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if most > bound || most < bound*9/10 {
		t.Errorf("at most %d bytes, of %d", most, bound)
	}
	got := read(t, folder, ring.ReadOptions{})
	if last := got.marks[len(got.marks)-1]; last != moves || len(got.marks) != last-got.marks[0]+1 || got.marks[0] == 1 {
		t.Errorf("%d marks, %d to %d", len(got.marks), got.marks[0], last)
	}
}

// TestFromTo: a part of a ring begins with the objects at that time, and does not depend on where segments begin.
func TestFromTo(t *testing.T) {
	w := newWorld()
	folders := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var outs []*ring.Writer
	for i, folder := range folders {
		outs = append(outs, begin(t, t.Context(), folder, ring.Bound{Age: []time.Duration{time.Hour, 10 * time.Hour, 1000 * time.Hour}[i]}, w))
	}
	add := func(events ...sources.Event) {
		for _, out := range outs {
			out.Write(w.now, events)
		}
	}
	var atHalf map[string]string
	for i := range 3000 {
		w.now = w.now.Add(time.Second)
		name := fmt.Sprint("pod-", i*31%40)
		switch {
		case w.pods[name] == nil:
			add(w.put(name, nil))
			if i%2 == 0 {
				add(w.event(&sources.FailedAttempt{Pod: podNamed(name), UID: w.pods[name].UID, Message: "0/1 nodes are available"}))
			}
		case i%3 == 0:
			add(w.remove(name))
		case i%3 == 1:
			add(w.put(name, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-a" }))
		}
		add(w.mark())
		if i == 1500 {
			atHalf = w.there()
		}
	}
	from, to := noon.Add(1501*time.Second), noon.Add(2001*time.Second)
	var want string
	for i, folder := range folders {
		got := read(t, folder, ring.ReadOptions{From: from, To: to})
		if n := len(got.marks); n != 501 || got.marks[0] != 1501 || got.marks[n-1] != 2001 {
			t.Errorf("%d marks: %v", n, got.marks)
		}
		attached := slices.IndexFunc(got.events, func(ev sources.Event) bool { _, ok := ev.Fact.(*sources.Attached); return ok })
		pods, tried := 0, 0
		for _, ev := range got.events[:attached] {
			switch f := ev.Fact.(type) {
			case *sources.ObjectChange:
				if pod := f.Object.(*corev1.Pod); f.Verb == sources.Added {
					pods++
					if atHalf[pod.Name] != string(pod.UID)+" "+pod.ResourceVersion && pod.Name != "pod-20" {
						t.Errorf("%s is %s, want %s", pod.Name, pod.ResourceVersion, atHalf[pod.Name])
					}
				}
			case *sources.Tried:
				tried++
			}
			if !ev.Time.Equal(from) {
				t.Fatalf("%v of %v", ev.Fact, ev.Time)
			}
		}
		if tried == 0 || tried >= pods {
			t.Errorf("%d of %d pods were tried before", tried, pods)
		}
		text := fmt.Sprint(len(got.events), pods, tried, got.pods)
		if want == "" {
			want = text
		}
		if text != want {
			t.Errorf("ring %d: %s\nring 0: %s", i, text, want)
		}
		if err := outs[i].Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestKeyframeAhead: events with a time before the keyframe that is being written come after it. A recording that begins
// there has them at its beginning.
func TestKeyframeAhead(t *testing.T) {
	folder, w := t.TempDir(), newWorld()
	out := begin(t, t.Context(), folder, ring.Bound{Age: time.Minute}, w)
	for i := range 60 {
		w.now = w.now.Add(3 * time.Second)
		event := w.put(fmt.Sprint("pod-", i/2), nil)
		if i%2 == 1 {
			event = w.remove(fmt.Sprint("pod-", i/2))
		}
		out.Write(w.now.Add(4*time.Second), []sources.Event{event})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder, ring.ReadOptions{}); len(got.pods) > 0 {
		t.Errorf("pods at the end: %v", got.pods)
	}
}

// TestKilled: after random events and kills of the recorder, with files cut off at any byte, flushed events are read once and
// in order, and changes while nothing was recorded are read at the next keyframe.
func TestKilled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		folder, w := t.TempDir(), newWorld()
		bound := ring.Bound{Age: time.Duration(rapid.IntRange(1, 100).Draw(rt, "minutes")) * time.Minute}
		out := begin(t, t.Context(), folder, bound, w)
		dropped := map[int]bool{} // marks that a kill may have taken
		flushed := w.marks
		var events []sources.Event
		write := w.now // the next event may be earlier
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.now = w.now.Add(time.Duration(rapid.OneOf(rapid.IntRange(1, 500), rapid.IntRange(1, 100_000)).Draw(rt, "ms")) * time.Millisecond)
			name := fmt.Sprint("pod-", rapid.IntRange(0, 5).Draw(rt, "pod"))
			switch rapid.SampledFrom([]string{"put", "put", "bind", "remove", "mark", "flush", "kill", "tear"}).Draw(rt, "step") {
			case "put":
				events = append(events, w.put(name, nil), w.mark())
			case "bind":
				events = append(events, w.put(name, func(pod *corev1.Pod) { pod.Spec.NodeName = "n" }))
			case "remove":
				if w.pods[name] != nil {
					events = append(events, w.remove(name), w.mark())
				}
			case "mark":
				late := w.mark()
				late.Time = late.Time.Add(-time.Duration(rapid.IntRange(0, 1000).Draw(rt, "late")) * time.Millisecond)
				events = append(events, late)
			case "flush":
				write = later(write, w.now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(rt, "after"))*time.Millisecond))
				out.Write(write, events)
				flushed, events = w.marks, nil
			case "kill", "tear":
				next := copyFolder(t, folder)
				for m := flushed + 1; m <= w.marks; m++ {
					dropped[m] = true
				}
				if rapid.Bool().Draw(rt, "torn") {
					for _, m := range tear(rt, t, next) {
						dropped[m] = true
					}
				}
				if err := out.Close(); err != nil {
					rt.Fatal(err)
				}
				folder = next
				w.put(name, nil) // not recorded
				w.now = w.now.Add(time.Minute)
				write = w.now
				out = begin(t, t.Context(), folder, bound, w)
				flushed, events = w.marks, nil
			}
		}
		out.Write(later(write, w.now), events)
		if rapid.Bool().Draw(rt, "closed") {
			if err := out.Close(); err != nil {
				rt.Fatal(err)
			}
		} else {
			defer out.Close()
		}
		got := read(t, folder, ring.ReadOptions{})
		if !maps.Equal(got.pods, w.there()) {
			rt.Fatalf("pods %v, want %v", got.pods, w.there())
		}
		from := noon.Add(time.Duration(rapid.IntRange(0, int(w.now.Sub(noon))).Draw(rt, "from")))
		if cut := read(t, folder, ring.ReadOptions{From: from}); !maps.Equal(cut.pods, w.there()) {
			rt.Fatalf("from %v pods %v, want %v", from, cut.pods, w.there())
		}
		slices.Sort(got.marks) // some are late
		for i, m := range got.marks {
			if i == 0 {
				continue
			}
			for lost := got.marks[i-1] + 1; lost < m; lost++ {
				if !dropped[lost] {
					rt.Fatalf("mark %d is lost of %v", lost, got.marks)
				}
			}
			if got.marks[i-1] == m {
				rt.Fatalf("mark %d is read twice", m)
			}
		}
		if n := len(got.marks); w.marks > 0 && !dropped[w.marks] && (n == 0 || got.marks[n-1] != w.marks) {
			rt.Fatalf("the last mark is %d, and it is not in %v", w.marks, got.marks)
		}
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// tear cuts the last segment off at a random byte, and returns the lost marks.
func tear(rt *rapid.T, t testing.TB, folder string) (lost []int) {
	before, err := tryRead(t, folder, ring.ReadOptions{})
	if err != nil {
		rt.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "ring-*"))
	last := files[len(files)-1]
	info, err := os.Stat(last)
	if err != nil {
		rt.Fatal(err)
	}
	if err := os.Truncate(last, int64(rapid.IntRange(0, int(info.Size())).Draw(rt, "size"))); err != nil {
		rt.Fatal(err)
	}
	after, err := tryRead(t, folder, ring.ReadOptions{})
	if err != nil && !strings.Contains(err.Error(), "contains no complete segment yet") {
		rt.Fatal(err)
	}
	if after == nil {
		return before.marks
	}
	if len(after.notices) > len(before.notices) {
		rt.Fatalf("a notice about a cut-off segment: %q", after.notices)
	}
	return slices.DeleteFunc(before.marks, func(m int) bool { return slices.Contains(after.marks, m) })
}
