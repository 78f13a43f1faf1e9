package wrapped

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShapes reads one small file of each shape. testdata/README.md says where each is documented.
func TestShapes(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/*")
	if err != nil || len(dirs) < 15 {
		t.Fatal(err, dirs)
	}
	for _, path := range dirs {
		if strings.HasSuffix(path, ".want") {
			continue
		}
		t.Run(path, func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(path + ".want")
			if err != nil {
				t.Fatal(err)
			}
			w := Detect(content, nil)
			if w == nil {
				t.Fatal("no wrapper is found")
			}
			r := w.Open(bytes.NewReader(content))
			defer r.Close()
			got, err := io.ReadAll(r)
			if err != nil || string(got) != string(want) {
				t.Errorf("%s: %v, got\n%s\nwant\n%s", w.Name, err, got, want)
			}
		})
	}
}

func isTrace(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"schedq":`)) }

// TestBare: what stands for itself is not unwrapped.
func TestBare(t *testing.T) {
	for _, head := range []string{
		"", "{", "[", `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","message":"x"}`,
		`{"schedq":"trace","version":1}`, `{"time":"2026-11-21T10:00:00Z","active":1,"backoff":0,"unschedulable":0,"gated":0}`,
		`I1121 10:56:22.400364   25911 active_queue.go:414] "x"`, `2026-11-21T10:56:22.4Z I1121 10:56:22.400364   25911 active_queue.go:414] "x"`,
		"2026-11-21T10:56:22.4Z stderr F I1121 10:56:22.400364   25911 active_queue.go:414] \"x\"", "apiVersion: v1\nkind: Pod\n",
	} {
		if w := Detect([]byte(head), isTrace); w != nil {
			t.Errorf("%s: %s", head, w.Name)
		}
	}
}

// TestDamaged: a document that is cut off or damaged gives the lines before, and an error.
func TestDamaged(t *testing.T) {
	const a, b = "I1121 10:56:22.400364   1 a.go:1] a", "I1121 10:56:23.400364   1 a.go:1] b"
	const begin = `{"events":[{"timestamp":1795258582400,"message":"` + a + `"},{"timestamp":1795258583400,"message":"` + b + `"}`
	for _, rest := range []string{"", ",{", `,{"timestamp":`, `,3]x`} {
		r := Detect([]byte(begin+"]}"), nil).Open(strings.NewReader(begin + rest))
		got, err := io.ReadAll(r)
		r.Close()
		want := "2026-11-21T10:56:22.4Z " + a + "\n2026-11-21T10:56:23.4Z " + b + "\n"
		if string(got) != want || err == nil || !strings.Contains(err.Error(), "what holds the log's lines is ") {
			t.Errorf("%q: %q, %v", rest, got, err)
		}
	}
}

// TestManyMembers: an object with more members than any record has takes no memory for them.
func TestManyMembers(t *testing.T) {
	const line = "I1121 10:56:22.400364   1 a.go:1] a"
	many := strings.Repeat(`"x":0,`, 50*mostMembers)
	record := `{"message":"` + line + `",` + many + `"message":"b"}`
	for _, text := range []string{record, `{"events":[` + record + `]}`, `{"textPayload":"` + line + `",` + many + `"x":{}}`} {
		var out bytes.Buffer
		to := &writer{to: bufio.NewWriter(&out)}
		if err := to.readJSON(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if _ = to.to.Flush(); out.String() != line+"\n" {
			t.Errorf("%.30q: %q", text, out.String())
		}
		for _, m := range to.objects {
			if cap(m) > 4*mostMembers {
				t.Errorf("%.30q: memory for %d members", text, cap(m))
			}
		}
	}
}

// FuzzUnwrap: no input makes it panic or hang, and no line is longer than its input.
func FuzzUnwrap(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*")
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		w := Detect(content, nil)
		if w == nil {
			return
		}
		r := w.Open(bytes.NewReader(content))
		defer r.Close()
		got, _ := io.ReadAll(r)
		if len(got) > 20*len(content)+1000 {
			t.Errorf("%d bytes of %d", len(got), len(content))
		}
	})
}
