package files

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
)

// open reads one file.
func open(t testing.TB, content string, strict bool) (*sources.Recording, error) {
	t.Helper()
	path := in(t, "f", content)
	rec, err := Open(context.Background(), path, Options{Strict: strict})
	dir := filepath.Dir(path[0]) + "/"
	if err != nil {
		return nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), dir, ""))
	}
	for i, n := range rec.Notices {
		rec.Notices[i] = strings.ReplaceAll(n, dir, "")
	}
	return rec, nil
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// created is an audit log's line: a pod comes.
func created(name string, second int) string {
	line, _, _ := strings.Cut(auditLog, "\n")
	return strings.NewReplacer("web-1", name, "u1", "uid-"+name, `"10"`, fmt.Sprintf(`"%d"`, 10+second),
		"10:00:01", fmt.Sprintf("10:00:%02d", second)).Replace(line) + "\n"
}

// tried is a scheduler's line: an attempt of a pod.
func tried(name string, second int) string {
	return fmt.Sprintf("I1121 10:00:%02d.003000       1 schedule_one.go:158] \"Attempting to schedule pod\" pod=\"default/%s\"\n", second, name)
}

func marked(text string, second int) string {
	return fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ","mark":{"text":"%s"}}`+"\n", second, text)
}

func counted(active, second int) string {
	return fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ","active":%d,"backoff":0,"unschedulable":0,"gated":0}`+"\n", second, active)
}

// recorded is a line of kube-scheduler-simulator's recorder: a pod that comes.
func recorded(name string, second int) string {
	return fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ","event":"Add","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"default","uid":%q,"creationTimestamp":"2026-11-21T10:00:%02dZ"}}}`+"\n",
		second, name, "uid-"+name, second)
}

const traceHeader = `{"schedq":"trace","version":1}` + "\n"

// TestDamage lists kinds of damage: what can be read is read, and the rest is reported.
func TestDamage(t *testing.T) {
	a, b, c := created("a", 1), created("b", 2), created("c", 3)
	la, lb, lc := tried("a", 1), tried("b", 2), tried("c", 3)
	bare := func(line string) string { return strings.TrimSuffix(line, "\n") }
	odd := strings.Replace(created("odd", 2), `"namespace":"default","uid"`, `"namespace":"default","deletionTimestamp":"2311-01-01T00:00:00Z","deletionGracePeriodSeconds":9000000000,"uid"`, 1)
	long := strings.Replace(created("long", 2), `"env":[`, `"env":[`+strings.Repeat(`{"name":"A"},`, 10), 1)
	long = strings.Replace(long, `{"name":"c",`, strings.Repeat(`{"name":"c"},`, 4097)+`{"name":"c",`, 1)
	for _, test := range []struct {
		name, content string
		events        int // of a strict reading too, if that is no error
		notice        string
		strict        string
	}{
		{"audit: torn, and one glued to it", a + b[:300] + c, 2, "f: line 2 can be read only in part: the line is not a JSON object", "f:2: the line is not a JSON object"},
		{"audit: torn early, and one glued to it", a + b[:90] + c, 2, "f: line 2 can be read only in part: the line is not a JSON object", "f:2: the line is not a JSON object"},
		{"audit: torn, and a line's end", a + b[:300] + "\n" + c, 2, "f: line 2 can't be read: the line is not a JSON object", "f:2: the line is not a JSON object"},
		{"audit: two glued", a + bare(b) + c, 3, "", "f:2: something follows the JSON object"},
		{"audit: of no matter, and one glued to it", a + bare(strings.Replace(b, `"create"`, `"get"`, 1)) + c, 2, "", "f:2: something follows the JSON object"},
		{"audit: of no matter and torn, and one glued to it", a + strings.Replace(b, `"create"`, `"get"`, 1)[:300] + c, 2, "f: line 2 can be read only in part", "f:2: the line is not a JSON object"},
		{"audit: of no matter and torn", a + strings.Replace(b, `"create"`, `"get"`, 1)[:300] + "\n" + c, 2, "f: line 2 can't be read", "f:2: the line is not a JSON object"},
		{"audit: garbage behind", a + bare(b) + " GARBAGE\n" + c, 3, "f: line 2 can be read only in part: something follows the JSON object", "f:2: something follows the JSON object"},
		{"audit: something else", a + "{\"a\":1}\n" + c, 2, "f: line 2 can't be read: the line is not an event of an audit log", "f:2: the line is not an event of an audit log"},
		{"audit: NULs within", a + b[:200] + "\x00\x00\x00" + b[203:] + c, 2, "f: line 2 can't be read: the line is not a JSON object", "f:2: the line is binary, not text"},
		{"audit: NULs before a line", a + strings.Repeat("\x00", 5000) + b + c, 3, "f: 5000 NUL bytes are left out, the first in line 2", "f:2: the line is binary, not text"},
		{"audit: NULs behind a torn line", a + b[:200] + strings.Repeat("\x00", 2<<20) + c, 2, "f: 2097152 NUL bytes are left out, the first in line 2", "f:2: the line is binary, not text"},
		{"audit: NULs at the beginning", strings.Repeat("\x00", 2<<20) + a + b, 2, "f: 2097152 NUL bytes are left out, the first in line 1", "f:1: the line is binary, not text"},
		{"audit: NULs at the end", a + b + strings.Repeat("\x00", 600), 2, "f: 600 NUL bytes are left out, the first in line 3", "f:3: the line is binary, not text"},
		{"audit: Latin-1", a + strings.Replace(b, "hunter2", "hunt\xe4r", 1), 2, "f: line 2 holds bytes that are no UTF-8, which show as \uFFFD", "f:2: the line is binary, not text"},
		{"audit: a byte order mark", "\xef\xbb\xbf" + a + "\xef\xbb\xbf" + b, 2, "", ""},
		{"audit: begins within a line", a[200:] + b + c, 2, "f: line 1 can't be read", "f:1: the line is not a JSON object"},
		{"audit: blank lines before", "\n\n \n" + a + b, 2, "", ""},
		{"audit: a line over the bound", a + strings.Replace(b, "hunter2", strings.Repeat("x", 17<<20), 1) + c, 2, "f: line 2 can't be read: the line is longer than 16 MiB", "f:2: the line is longer than 16 MiB"},
		{"audit: a deletion in 2311", a + odd + c, 2, "f: a change of an object is left out, in line 2, of Pod default/odd: ", "f:2: "},
		{"audit: a long list", a + long + c, 2, "f: a change of an object is left out, in line 2, of Pod default/long: ", "f:2: "},
		{"trace: torn, and one glued to it", traceHeader + marked("a", 1) + marked("b", 2)[:40] + marked("c", 3), 2, "f: line 3 can be read only in part", "f:3: the line is not a JSON object"},
		{"trace: two glued", traceHeader + bare(marked("a", 1)) + marked("b", 2), 2, "", "f:2: something follows the JSON object"},
		{"trace: garbage behind", traceHeader + bare(marked("a", 1)) + " GARBAGE\n", 1, "f: line 2 can be read only in part: something follows the JSON object", "f:2: something follows the JSON object"},
		{"trace: a seam within a line", traceHeader + marked("a", 1) + marked("b", 2)[:40] + traceHeader + marked("c", 3), 2, "f: line 3 can be read only in part", "f:3: the line is not a JSON object"},
		{"trace: a seam within the header", traceHeader[:20] + traceHeader + marked("c", 3), 1, "f: line 1 can be read only in part", "f:1: the line is not a JSON object"},
		{"trace: no header", marked("a", 1)[20:] + marked("b", 2) + marked("c", 3), 2, "f: this trace has no header: its beginning is lost", "f:1: the first line of a trace is"},
		{"trace: a later version appended", traceHeader + marked("a", 1) + `{"schedq":"trace","version":2}` + "\n" + marked("b", 2) + traceHeader + marked("c", 3), 2,
			"f: 2 lines can't be read, the first is line 3: the trace has version 2", "f:3: the trace has version 2"},
		{"trace: a byte order mark", "\xef\xbb\xbf" + traceHeader + marked("a", 1), 1, "", ""},
		{"schedlog: torn, and one glued to it", la + lb[:80] + lc, 2 + 1, "f: line 2 can be read only in part: another line is glued to it", "f:2: "},
		{"schedlog: torn within a name", la + lb[:len(lb)-3] + lc, 2 + 1, "f: line 2 can be read only in part: another line is glued to it", "f:2: another line is glued to it"},
		{"schedlog: torn within the header", la + lb[:15] + lc, 2 + 1, "f: line 2 can be read only in part: another line is glued to it", "f:2: another line is glued to it"},
		{"schedlog: two glued", la + bare(lb) + lc, 3 + 1, "f: line 2 can be read only in part: another line is glued to it", "f:2: another line is glued to it"},
		{"schedlog: torn", la + lb[:len(lb)-3] + "\n" + lc, 2 + 1, "f: line 2 can't be read: it lacks values that kube-scheduler writes in such a line", "f:2: it lacks"},
		{"schedlog: a NUL at the beginning", "\x00" + la + lb, 2 + 1, "f: a NUL byte is left out, in line 1", "f:1: the line is binary, not text"},
		{"schedlog: a NUL within", la + lb[:len(lb)-3] + "\x00" + lb[len(lb)-3:] + lc, 2 + 1, "f: a NUL byte is left out, in line 2", "f:2: the line is binary, not text"},
		{"schedlog: Latin-1", la + strings.Replace(lb, "pod=", "x=\"\xe4\" pod=", 1), 2 + 1, "f: line 2 holds bytes that are no UTF-8", "f:2: the line is binary, not text"},
		{"schedlog: begins within a line", la[30:] + lb + lc, 2 + 1, "f: line 1 is skipped: it does not begin with klog's header", ""},
		{"schedlog: a line in a text", la + "E1121 10:00:02.000000       1 schedule_one.go:1100] \"Error scheduling pod; retrying\" err=<\n\tx " + bare(lb) + "\n\ty\n > pod=\"default/a\"\n" + lc, 2 + 1, "", ""},
		{"schedlog: torn in a text", la + "E1121 10:00:02.000000       1 schedule_one.go:1100] \"Error scheduling pod; retrying\" err=<\n\tx " + lb + lc, 3 + 1, "f: line 3 can be read only in part", "f:3: another line is glued to it"},
		{"metrics: torn, and one glued to it", counted(1, 1) + counted(2, 2)[:30] + counted(3, 3), 2, "f: line 2 can be read only in part", "f:2: this line does not hold"},
		{"metrics: two glued", counted(1, 1) + bare(counted(2, 2)) + counted(3, 3), 3, "", "f:2: this line does not hold"},
		{"metrics: begins within a line", counted(1, 1)[30:] + counted(2, 2), 1, "f: line 1 can't be read", "f:1: this line"},
		{"marks: torn, and one glued to it", driverLog + driverLog[:25] + driverLog, 3, "f: line 2 can be read only in part: another line is glued to it", "f:2: another line is glued to it"},
		{"marks: begins within a line", driverLog[5:] + driverLog, 1, "f: line 1 is skipped: it does not begin with a time", ""},
		{"gzip: garbage behind", packed(t, a+b) + strings.Repeat("x", 23), 2, "f: what follows the gzip data, after line 2, is something else, and is left out", "f: what follows the gzip data"},
		{"gzip: damaged", packed(t, a+b)[:len(packed(t, a+b))-8] + "12345678", 2, "f: the gzip data is damaged after line 2", "f: the gzip data is damaged"},
		{"zstd: garbage behind", zipped(t, a+b) + strings.Repeat("x", 23), 2, "f: what follows the zstd data, after line 2, is something else, and is left out", "f: what follows the zstd data"},
		{"zstd: cut off in its second frame", zipped(t, a+b) + zipped(t, c)[:40], 2, "f: the zstd data is cut off after line 2", "f: the zstd data is cut off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec, err := open(t, test.content, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(rec.Events) != test.events {
				t.Errorf("%d events, want %d:\n%s", len(rec.Events), test.events, show(rec.Events))
			}
			rec.Notices = slices.DeleteFunc(rec.Notices, func(n string) bool { return strings.Contains(n, "its times have no year") })
			if got := strings.Join(rec.Notices, "\n"); !strings.Contains(got, test.notice) || test.strict == "" && test.notice == "" && got != "" {
				t.Errorf("notices\n%s\nwant\n%s", got, test.notice)
			}
			_, err = open(t, test.content, true)
			if said := fmt.Sprint(err); test.strict == "" && err != nil || !strings.HasPrefix(said, test.strict) {
				t.Errorf("strictly: %v\nwant %s", err, test.strict)
			}
		})
	}
}

// TestNothingCanBeRead: a recording without anything in it is an error, unless nothing was to be in it.
func TestNothingCanBeRead(t *testing.T) {
	a := created("a", 1)
	for _, c := range []struct{ name, content, want string }{
		{"a line cut off", a[:300], "f:1: the line is cut off, and nothing is before it"},
		{"a torn line", a[:300] + "\n", "f:1: the line is not a JSON object"},
		{"an object", strings.ReplaceAll(a, `"name":"a","namespace"`, `"name":"A","namespace"`), `f:1: in a Pod, "A" is not a Kubernetes object name`},
		{"NULs", strings.Repeat("\x00", 1<<20), "f:1: the line is binary, not text"},
		{"zstd within its first block", zipped(t, strings.Repeat(a, 50))[:100], "f: the zstd data is cut off in its first block, before any text: unexpected EOF"},
		{"a torn header", traceHeader[:20] + "\n", "f:1: the trace's header is not whole"},
		{"a trace of another version", `{"schedq":"trace","version":2}` + "\n" + marked("a", 1), "f:1: the trace has version 2"},
		{"counts", counted(-1, 1), "f:1: a count is negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := open(t, c.content, false); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestForgedEvents: the content of objects in a torn line is never read as events.
func TestForgedEvents(t *testing.T) {
	forged := strings.TrimSuffix(created("forged", 2), "\n")
	custom := func(verb string) string {
		return strings.NewReplacer(`"resource":"pods"`, `"resource":"widgets"`, `"create"`, `"`+verb+`"`, `"spec":{`, `"spec":{"x":`+forged+`,`).Replace(created("w", 2))
	}
	for name, line := range map[string]string{"whole": custom("create"), "read": custom("get"), "torn": custom("create")[:len(custom("create"))-200] + "\n",
		"begins later": custom("create")[100:], "glued": custom("create")[:len(custom("create"))-200] + created("c", 3)} {
		rec, err := open(t, created("a", 1)+line+created("b", 4), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range rec.Events {
			if text := show([]sources.Event{e}); bytes.Contains([]byte(fmt.Sprintf("%+v", e.Fact)), []byte("forged")) {
				t.Errorf("%s: %s", name, text)
			}
		}
		if want := 2 + strings.Count(name, "glued"); len(rec.Events) != want {
			t.Errorf("%s: %d events, want %d", name, len(rec.Events), want)
		}
	}
}

// TestLeftOutDeletion: a pod that can't be taken as it was at last is gone all the same.
func TestLeftOutDeletion(t *testing.T) {
	gone := strings.NewReplacer(`"create"`, `"delete"`, `"namespace":"default","uid"`, `"namespace":"default","deletionTimestamp":"2311-01-01T00:00:00Z","uid"`).Replace(created("a", 2))
	rec, err := open(t, created("a", 1)+gone, false)
	if err != nil || show(rec.Events) != "01.004 added\n02.004 deleted\n" {
		t.Errorf("%v %s", err, show(rec.Events))
	}
	record := func(verb string, second int, more string) string {
		return fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ","verb":"%s","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"u"%s}}}`+"\n", second, verb, more)
	}
	odd := `,"deletionTimestamp":"2311-01-01T00:00:00Z"`
	rec, err = open(t, traceHeader+record("added", 1, "")+record("updated", 2, odd)+record("deleted", 3, odd), false)
	if err != nil || show(rec.Events) != "01.000 added\n03.000 deleted\n" || len(rec.Notices) != 1 ||
		!strings.HasPrefix(rec.Notices[0], "f: a change of an object is left out, in line 3, of Pod default/a: ") {
		t.Errorf("%v %s %q", err, show(rec.Events), rec.Notices)
	}
}
