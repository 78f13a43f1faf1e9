package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// export is what a folder or an archive may hold beside recordings: in it are two.
var export = map[string]string{
	"audit_logs/kube-apiserver/node-audit.log":   auditLog,
	"pods/kube-scheduler/logs/current.log":       schedLog,
	"pods/kubelet/logs/current.log":              "I1121 10:00:02.000000       1 kubelet.go:1] \"Starting kubelet\"\n",
	"version.txt":                                "v1.37.1\n",
	"cluster-scoped-resources/core/nodes/a.yaml": "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
	"empty.log": "",
	"README.md": "# What is in here\n\n```\n" + auditLog + "```\n",
}

func names() []string {
	var all []string
	for name := range export {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func folder(t *testing.T) string {
	dir := t.TempDir()
	for name, content := range export {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink("version.txt", filepath.Join(dir, "link.log")) // not everywhere
	return dir
}

func tarred(t testing.TB, compressed bool, more ...*tar.Header) string {
	var b bytes.Buffer
	var out io.Writer = &b
	z := gzip.NewWriter(&b)
	if compressed {
		out = z
	}
	w := tar.NewWriter(out)
	for _, name := range names() {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(export[name])), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, export[name])
	}
	for _, h := range more {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return in(t, "export", b.String())[0]
}

func zippedExport(t testing.TB, more ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range append(names(), more...) {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, export[name])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return in(t, "export", b.String())[0]
}

// TestFound: the recordings in a folder or an archive are read as if they had been named.
func TestFound(t *testing.T) {
	named, err := Open(t.Context(), in(t, "a", auditLog, "s", schedLog), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, path := range map[string]string{"folder": folder(t), "tar": tarred(t, false), "tar.gz": tarred(t, true, &tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "zip": zippedExport(t)} {
		t.Run(kind, func(t *testing.T) {
			rec, err := Open(t.Context(), []string{path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := show(rec.Events), show(named.Events); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			skipped := path + ": 5 of the 7 files in it are left out: Markdown (1: README.md), empty (1: empty.log), log of another program (1: pods/kubelet/logs/current.log), " +
				"objects, for --seed (1: cluster-scoped-resources/core/nodes/a.yaml), text (1: version.txt)"
			if want := append([]string{skipped}, named.Notices...); !slices.Equal(rec.Notices, want) {
				t.Errorf("notices %q, want %q", rec.Notices, want)
			}
		})
	}
}

// TestFoundNothing: a folder that can't be searched or has no recording is an error of one sentence.
func TestFoundNothing(t *testing.T) {
	bare := t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "a.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	others := t.TempDir()
	for name, text := range map[string]string{"a-app.log": "I0504 12:00:00.000000       1 main.go:10] Program started\n", "b.txt": "hello\n"} {
		if err := os.WriteFile(filepath.Join(others, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damaged, err := os.ReadFile(tarred(t, false))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"a folder of others":         {bare, "none of the 1 files in it is an audit log of kube-apiserver, a log of kube-scheduler or another recording: text (1: a.txt)"},
		"a folder of other programs": {others, "none of the 2 files in it is an audit log of kube-apiserver, a log of kube-scheduler or another recording: log of another program (1: a-app.log), text (1: b.txt)"},
		"tar with ..":                {tarred(t, true, &tar.Header{Name: "../evil.log", Mode: 0o600}), `the name "../evil.log" in it leads out of the archive`},
		"tar with a root":            {tarred(t, true, &tar.Header{Name: "/etc/evil.log", Mode: 0o600}), `the name "/etc/evil.log" in it leads out of the archive`},
		"zip with ..":                {zippedExport(t, `a\..\..\evil.log`), `in it leads out of the archive`},
		"tar, damaged":               {in(t, "d", string(damaged[:len(damaged)/2-300])+strings.Repeat("x", 2000))[0], "the tar archive is damaged after"},
		"zip, cut off":               {in(t, "z", "PK\x03\x04rest")[0], "the zip archive can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(t.Context(), []string{c.path}, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
	b := &bounded{strings.NewReader(strings.Repeat("x", 100)), 99}
	if _, err := io.ReadAll(b); !errors.Is(err, errUnpacked) {
		t.Errorf("100 bytes of 99: %v", err)
	}
}

// FuzzFound: no archive makes reading panic.
func FuzzFound(f *testing.F) {
	for _, path := range []string{tarred(f, false), zippedExport(f)} {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _ = Open(t.Context(), in(t, "a", string(content)), Options{})
	})
}
