package embedded

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
)

func TestOpen(t *testing.T) {
	for _, info := range All() {
		t.Run(info.Name, func(t *testing.T) {
			rec, err := Open(context.Background(), info.Name)
			if err != nil {
				t.Fatal(err)
			}
			if string(rec.Name) != info.Name || len(rec.Notices) > 0 || info.Title == "" || !strings.HasSuffix(info.Description, ".") {
				t.Errorf("%q, notices %q, %+v", rec.Name, rec.Notices, info)
			}
			seen := map[string]int{}
			for i, e := range rec.Events {
				if i > 0 && e.Time.Before(rec.Events[i-1].Time) {
					t.Fatalf("event %d goes back in time", i)
				}
				switch e.Fact.(type) {
				case *sources.SchedulerStarted:
					seen["starts"]++
				case *sources.ObjectChange:
					seen["changes"]++
				case *sources.Move:
					seen["moves"]++
				case *sources.Counts:
					seen["counts"]++
				}
			}
			if seen["starts"] != 1 || seen["changes"] < 100 || seen["moves"] < 300 || seen["counts"] < 100 && info.Name != "crowded" { // that was recorded without metrics
				t.Errorf("%v", seen)
			}
		})
	}
}

func TestOpenUnknown(t *testing.T) {
	_, err := Open(context.Background(), "../\x1b[31m")
	if err == nil || !strings.Contains(err.Error(), "crowded, lively-nopop, workshop-nopop, workshop") || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("%v", err)
	}
}

// TestNoSecrets looks at the traces as they are: the recorded pods had a password in an env variable.
func TestNoSecrets(t *testing.T) {
	for _, info := range All() {
		data, err := traces.ReadFile(info.Name + ".jsonl.zst")
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 300<<10 {
			t.Errorf("%s has %d bytes", info.Name, len(data))
		}
		z, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		z.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"hunter2", "DB_PASSWORD", "managedFields", "annotations", `"env"`, `"args"`, `"command"`} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s holds %s", info.Name, word)
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if _, err := Open(context.Background(), All()[0].Name); err != nil {
			b.Fatal(err)
		}
	}
}
