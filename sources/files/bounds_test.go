package files

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// bomb packs as many copies of a line as well as it can be.
func bomb(t testing.TB, header, line string, copies int) string {
	t.Helper()
	var out strings.Builder
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(line, "%06d") {
		line = strings.Repeat(line, 1000)
		copies /= 1000
	}
	if _, err := z.Write([]byte(header)); err != nil {
		t.Fatal(err)
	}
	for i := range copies {
		if _, err := io.WriteString(z, strings.Replace(line, "%06d", fmt.Sprintf("%06d", i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBombs: a small file that would take a large one's memory is refused, before it has.
func TestBombs(t *testing.T) {
	const header, at = `{"schedq":"trace","version":1}` + "\n", `{"time":"2026-11-21T10:00:01.%06dZ",`
	long := strings.Repeat("a", 4096)
	audited := strings.Replace(strings.SplitAfter(auditLog, "\n")[0], `"verb"`, `"auditID":"%06d","verb"`, 1)
	for _, c := range []struct{ name, header, line, want string }{
		{"one pod", header, at + `"verb":"updated","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c"}]}}}`, "f:"},
		{"long marks", header, at + `"mark":{"text":"` + long + `"}}`, "f:"},
		{"long moves", header, at + `"move":{"pod":"d/p","to":"active","message":"` + long + `"}}`, "f:"},
		{"failed attempts", header, at + `"failed":{"pod":"d/p","uid":"u"}}`, "f:"},
		{"an empty list's worth", header, at + `"verb":"updated","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"u"},"status":{"conditions":[` + strings.Repeat("{},", 999) + "{}]}}}", "f:"},
		{"an audit log", "", strings.TrimSpace(audited), "f:"},
		{"blank lines", header, "", "up to line"},
		{"lines of nothing", strings.SplitAfter(schedLog, "\n")[0], "a", "up to line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			copies := 160_000
			switch {
			case strings.HasPrefix(c.want, "up"):
				if testing.Short() {
					t.Skip("ten million lines: make long has them")
				}
				copies = 10_000_000
			case len(c.line) > 1000:
				copies = 30_000
			}
			file := bomb(t, c.header, c.line+"\n", copies)
			if len(file) > 800_000 {
				t.Fatalf("the file has %d bytes", len(file))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(context.Background(), "f", []byte(file))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "times") {
				t.Errorf("%v", err)
			}
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 200<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
		})
	}
}

// TestMemory: what a person allows counts, for all files together.
func TestMemory(t *testing.T) {
	var events strings.Builder
	events.WriteString(`{"schedq":"trace","version":1}` + "\n")
	for i := range 40_000 {
		fmt.Fprintf(&events, `{"time":"2026-11-21T10:00:01Z","mark":{"text":"%d"}}`+"\n", i)
	}
	paths := in(t, "a", events.String(), "b", strings.ReplaceAll(events.String(), "01Z", "02Z"))
	for _, c := range []struct {
		files  int
		memory int64
		want   string
	}{{1, 0, ""}, {1, 16 << 20, ""}, {2, 32 << 20, ""}, {2, 16 << 20, "the recording takes more than 16Mi of memory: raise --memory"}} {
		_, err := Open(context.Background(), paths[:c.files], Options{Memory: c.memory})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%d files in %d bytes: %v, want %s", c.files, c.memory, err, c.want)
		}
	}
}
