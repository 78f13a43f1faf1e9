package files

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// captured is an archive of k8shark's with those records.
func captured(t *testing.T, records ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name string, text []byte) {
		f, err := w.Create(captureFolder + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range records {
		packed := z.EncodeAll([]byte(text), nil)
		if strings.HasPrefix(text, "damaged") {
			packed = []byte(text)
		}
		add(fmt.Sprintf("records/4871feacc5b6fa6e/%d.json.zst", i), packed)
	}
	add("index.json.zst", z.EncodeAll([]byte("{}"), nil))
	add("metadata.json", []byte("{\n  \"format_version\": 2,\n  \"capture_id\": \"1\",\n  \"captured_at\": \"2026-11-21T10:00:00Z\",\n  \"kubernetes_version\": \"v1.36.1\"\n}\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return in(t, "capture.kshrk", b.String())[0]
}

const (
	captureList  = `{"id":"1","captured_at":"2026-11-21T10:00:01Z","api_path":"/api/v1/namespaces/default/pods","http_method":"GET","response_code":200,"response_body":{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"web-1","namespace":"default","uid":"u1","resourceVersion":"4"}}]}}`
	captureWatch = `{"id":"2","captured_at":"2026-11-21T10:00:03Z","api_path":"/api/v1/namespaces/default/pods","event_type":"ADDED","http_method":"GET","response_code":200,"response_body":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-2","namespace":"default","uid":"u2","resourceVersion":"6"}}}`
)

// TestCaptures: an archive of k8shark's that watched is one recording, and one that did not is refused with what it is good for.
func TestCaptures(t *testing.T) {
	rec, err := Open(t.Context(), []string{captured(t, captureWatch, "damaged", captureList)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, notices := allOf(t, rec), strings.Join(rec.Notices, "\n")
	if !strings.Contains(got, "web-1") || !strings.Contains(got, "web-2") || !strings.Contains(got, "v1.36.1") || !strings.Contains(notices, "line 3 can't be read") {
		t.Errorf("notices %s, events\n%s", notices, got)
	}
	if _, err := Open(t.Context(), []string{captured(t, captureList)}, Options{}); err == nil || !strings.HasSuffix(err.Error(), "capture.kshrk: it was captured without watch: true, so it contains only snapshots: use it as --seed with a log") {
		t.Error(err)
	}
	large := captureWatch + strings.Repeat(" ", 1<<20)
	r, err := openCapture(t.Context(), captured(t, captureList, large), 1<<20)
	for err == nil {
		_, err = r.Next()
	}
	if !strings.HasSuffix(err.Error(), "unpacks to more than 1Mi: unpack the files to read") {
		t.Error(err)
	}
	if _, err := Open(t.Context(), in(t, "capture.kshrk", "age-encryption.org/v1\n-> scrypt x 18\n"), Options{}); err == nil || !strings.Contains(err.Error(), "is encrypted (age)") {
		t.Error(err)
	}
}
