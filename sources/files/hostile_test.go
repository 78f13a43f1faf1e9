package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLinks: a link in an archive leads nowhere, whatever it is called and wherever it points.
func TestLinks(t *testing.T) {
	links := []*tar.Header{
		{Name: "audit.log", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.log", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"},
		{Name: "again.log", Typeflag: tar.TypeLink, Linkname: names()[0]},
		{Name: "pipe", Typeflag: tar.TypeFifo}, {Name: "disk", Typeflag: tar.TypeBlock},
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{"audit.log": auditLog, "link.log": "audit.log", "out.log": "/etc/passwd"} {
		h := &zip.FileHeader{Name: name}
		if name != "audit.log" {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		path string
		want int
	}{
		"tar": {tarred(t, true, links...), 3}, // with a log of another program's
		"zip": {in(t, "z", b.String())[0], 1},
	} {
		found, err := places(t.Context(), []string{c.path}, Options{}, recordings())
		if err != nil || len(found) != c.want {
			t.Errorf("%s: %d recordings, want %d, %v", kind, len(found), c.want, err)
		}
		for _, p := range found {
			if strings.Contains(filepath.Base(p.path), "link") || strings.Contains(p.path, "hard") || strings.Contains(p.path, "again") {
				t.Errorf("%s: %s is read", kind, p.path)
			}
		}
	}
	var none bytes.Buffer
	out := tar.NewWriter(&none)
	for _, h := range links {
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	_ = out.Close()
	if _, err := Open(t.Context(), in(t, "links.tar", none.String()), Options{}); err == nil || !strings.HasSuffix(err.Error(), "links.tar contains no file") {
		t.Error(err)
	}
}

// TestUnpacked: an archive that unpacks to more than the limit is refused, also if the sum of its sizes overflows.
func TestUnpacked(t *testing.T) {
	const most = 100 << 10
	large := strings.Repeat("x", most)
	var packedTar, zipped, lying bytes.Buffer
	w := tar.NewWriter(&packedTar)
	_ = w.WriteHeader(&tar.Header{Name: "a", Size: int64(len(large)), Mode: 0o600})
	_, _ = w.Write([]byte(large))
	_ = w.Close()
	z := zip.NewWriter(&zipped)
	for _, name := range []string{"a", "b"} {
		f, _ := z.Create(name)
		_, _ = f.Write([]byte(large[:most/2+1]))
	}
	_ = z.Close()
	l := zip.NewWriter(&lying)
	for _, size := range []uint64{10, 1<<64 - 5} { // their sum is 5
		f, err := l.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(size), UncompressedSize64: size, CompressedSize64: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte("xx"))
	}
	_ = l.Close()
	for name, c := range map[string]struct{ content, want string }{
		"tar":          {packedTar.String(), "unpacks to more than 100Ki: unpack the files to read"},
		"tar.gz":       {packed(t, packedTar.String()), "unpacks to more than 100Ki: unpack the files to read"},
		"zip":          {zipped.String(), "unpacks to more than 100Ki: unpack the files to read"},
		"zip, so much": {lying.String(), "unpacks to more than 100Ki: unpack the files to read"},
	} {
		s := search{ctx: t.Context(), root: in(t, "a", c.content)[0], sought: recordings(), most: most}
		err := s.tar
		if strings.HasPrefix(name, "zip") {
			err = s.zip
		}
		if got := err(); got == nil || !strings.HasSuffix(got.Error(), c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// podsFrom is an audit log in which a pod comes every second.
func podsFrom(name string, revision, count int) string {
	var b strings.Builder
	line, _, _ := strings.Cut(auditLog, "\n")
	for i := range count {
		at := time.Date(2026, 11, 21, 10, 0, 1+i, 0, time.UTC).Format("2006-01-02T15:04:05")
		b.WriteString(strings.NewReplacer("web-1", fmt.Sprintf("%s-%d", name, i), "u1", fmt.Sprintf("%s-%d", name, i), `"10"`, fmt.Sprintf(`"%d"`, revision+2*i), "2026-11-21T10:00:01", at).Replace(line) + "\n")
	}
	return b.String()
}

// TestTwoClusters: the audit logs of two clusters are refused, both named, whether they are kept or not.
func TestTwoClusters(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want string
	}{
		"one cluster":     {podsFrom("web", 1000, 300), podsFrom("job", 1001, 300), ""},
		"of the same age": {podsFrom("web", 1000, 300), podsFrom("job", 1000, 300), "at revision 1004 the former has the pod default/web-2 and the latter default/job-2"},
		"of another age":  {podsFrom("web", 1000, 300), podsFrom("job", 1_000_001, 300), "comes to revision 1000117 before 2026-11-21 10:03 UTC"},
		"too few pods":    {podsFrom("web", 1000, 2), podsFrom("job", 1000, 2), ""},
	} {
		for _, from := range []int64{keep, 1} {
			dir := filepath.Dir(in(t, "a.log", c.a, "b.log", c.b)[0])
			_, err := opened([]string{dir}, from)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s, long from %d: %v", name, from, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a.log and ") || !strings.Contains(err.Error(), "b.log are of two clusters")):
				t.Errorf("%s, long from %d: %v", name, from, err)
			}
		}
	}
}

// TestCutLines: a line that a cloud cut, as CloudWatch does at 256 KiB or 1 MiB, is skipped with a notice.
func TestCutLines(t *testing.T) {
	lines := strings.SplitAfter(podsFrom("web", 1000, 3), "\n")
	cut := strings.Replace(lines[1], `"containers"`, `"x":"`+strings.Repeat("y", 1<<20)+`","containers"`, 1)[:1<<20]
	event := func(message string) string {
		m, _ := json.Marshal(message)
		return fmt.Sprintf(`{"timestamp":1763719201372,"message":%s}`, m)
	}
	for name, text := range map[string]string{
		"CloudWatch": `{"events":[` + event(lines[0]) + "," + event(cut) + "," + event(lines[2]) + `]}`,
		"S3":         "2026-11-21T10:00:01.000Z " + lines[0] + "2026-11-21T10:00:01.000Z " + cut + "\n2026-11-21T10:00:01.000Z " + lines[2],
		"plain":      lines[0] + cut + "\n" + lines[2],
	} {
		for _, from := range []int64{keep, 1} {
			rec, err := opened(in(t, "f", text), from)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := strings.Join(rec.Notices, "\n"); !strings.HasSuffix(got, "f: line 2 can't be read: the line is not a JSON object") {
				t.Errorf("%s: notices %q", name, got)
			}
			if got := allOf(t, rec); !strings.Contains(got, "web-0") || strings.Contains(got, "web-1") || !strings.Contains(got, "web-2") {
				t.Errorf("%s: events\n%s", name, got)
			}
		}
	}
}
