package audit

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/lines"
)

// BenchmarkRead reads each recording's audit log on one core; MB/s are of its text.
func BenchmarkRead(b *testing.B) {
	logs, _ := filepath.Glob(filepath.Join(os.Getenv("SCHEDQ_RECORDINGS"), "*", "audit.log.gz"))
	if os.Getenv("SCHEDQ_RECORDINGS") == "" || len(logs) == 0 {
		b.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	for _, name := range logs {
		b.Run(filepath.Base(filepath.Dir(name)), func(b *testing.B) {
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				b.Fatal(err)
			}
			text, err := io.ReadAll(z)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := lines.New(b.Context(), "audit.log", time.Time{}, io.NopCloser(bytes.NewReader(text)))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := eachItem(r, func(item) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
