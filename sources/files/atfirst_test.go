package files

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

// manyPods are the creations of n pods, one a second, of some 4 KB each.
func manyPods(from, n int) string {
	var text strings.Builder
	filler := strings.Repeat("x", 4000)
	for i := from; i < from+n; i++ {
		at := time.Date(2026, 11, 21, 10, 0, 2, 0, time.UTC).Add(time.Duration(i) * time.Second).Format("2006-01-02T15:04:05.000000Z")
		fmt.Fprintf(&text, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/pods?%s","verb":"create","objectRef":{"resource":"pods","namespace":"default","apiVersion":"v1"},"responseStatus":{"code":201},"responseObject":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p-%d","namespace":"default","uid":"p%d","resourceVersion":"%d"},"spec":{"containers":[{"name":"c"}]}},"requestReceivedTimestamp":%q,"stageTimestamp":%q}`+"\n",
			filler, i, i, 100+i, at, at)
	}
	return text.String()
}

// openedAtFirst opens long files, and also returns the recording that was shown before they were read, at most one.
func openedAtFirst(t *testing.T, paths []string, strict bool) (begun, rec *sources.Recording, err error) {
	t.Helper()
	opts := Options{LongFrom: 1, Strict: strict, Summary: allSummary}
	opts.AtFirst = func(r *sources.Recording) {
		if begun != nil || len(r.Events) == 0 {
			t.Errorf("%v is shown with %d events, after %v", r, len(r.Events), begun)
		}
		begun = r
	}
	rec, err = Open(t.Context(), paths, opts)
	return begun, rec, err
}

// count returns the number of events of a recording.
func count(t *testing.T, rec *sources.Recording) int {
	t.Helper()
	n := 0
	for _, err := range rec.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// longRing is a ring of n events.
func longRing(t *testing.T, n int) string {
	t.Helper()
	folder, at := t.TempDir(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	out, err := ring.Create(t.Context(), folder, ring.Bound{Age: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(at, []sources.Event{{Time: at, Fact: &sources.Attached{Nodes: true}}})
	for range n {
		at = at.Add(time.Second)
		out.Write(at, []sources.Event{{Time: at, Fact: &sources.Mark{Text: "x"}}})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestAtFirst: a long recording is shown when its beginning is read, and it is known then that it goes on. It can be played to its end
// from then on. Of several logs of which one goes on where another ends, the first is read first.
func TestAtFirst(t *testing.T) {
	const pods = 3000 // about 1,000 are the beginning
	var marks strings.Builder
	marks.WriteString(`{"schedq":"trace","version":1}` + "\n")
	for i := range 2 * atFirstEvents {
		fmt.Fprintf(&marks, `{"time":%q,"mark":{"text":"x"}}`+"\n", time.Unix(1763719201, 0).Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339Nano))
	}
	all := startLog() + auditLog + manyPods(0, pods)
	for name, paths := range map[string][]string{
		"an audit log": in(t, "audit.log", all),
		"a packed one": in(t, "audit.log.gz", packed(t, all)),
		"rotated ones": in(t, "b.log", manyPods(2000, 1000), "a.log", startLog()+auditLog+manyPods(0, 2000)),
		"a trace":      in(t, "run.trace", marks.String()),
		"a ring":       {longRing(t, 2*atFirstEvents)},
	} {
		begun, rec, err := openedAtFirst(t, paths, false)
		if err != nil || begun == nil {
			t.Errorf("%s: %v, %v", name, begun, err)
			continue
		}
		first, _ := times(t, rec)
		whole, part := rec.End.Sub(first), begun.End.Sub(first)
		if !begun.Unread || rec.Unread || part < whole/10 || part > whole*6/10 {
			t.Errorf("%s: unread %v and then %v, up to %s of %s", name, begun.Unread, rec.Unread, part, whole)
		}
		if got, want := count(t, begun), count(t, rec); got != want || want < pods || len(rec.Events) != want {
			t.Errorf("%s: the first recording has %d events, the complete one %d, %d of them in its summary", name, got, want, len(rec.Events))
		}
	}
}

// times are of the first event and of the last one.
func times(t *testing.T, rec *sources.Recording) (first, last time.Time) {
	t.Helper()
	for ev, err := range rec.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if last = ev.Time; first.IsZero() {
			first = last
		}
	}
	return first, last
}

// TestAtFirstDamaged: damage at the beginning is found before anything is shown, and later damage is reported as usual.
func TestAtFirstDamaged(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		shown bool
		want  string
	}{
		"at the beginning": {auditLog + "what is this\n" + manyPods(0, 2000), false, "audit.log:3"},
		"after it":         {auditLog + manyPods(0, 2000) + "what is this\n", true, "audit.log:2003"},
	} {
		begun, rec, err := openedAtFirst(t, in(t, "audit.log", test.text), true)
		if (begun != nil) != test.shown || rec != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v, %v", name, begun, rec, err)
		}
	}
}
