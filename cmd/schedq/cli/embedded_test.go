package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/trace"
)

var update = flag.Bool("update", false, "write the gists of the embedded recordings")

// TestGistsOfEmbedded: the embedded gists match their recordings, and playing a recording yields
// all of its events. With -update, it writes the gists.
func TestGistsOfEmbedded(t *testing.T) {
	for _, name := range EmbeddedNames() {
		t.Run(name, func(t *testing.T) {
			rec, err := embedded.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			gist := cluster.NewSummary()
			for _, ev := range rec.Events {
				gist.Add(ev)
			}
			if *update {
				writeTrace(t, filepath.Join("..", "..", "..", "sources", "embedded", name+".gist.jsonl.zst"), gist.Events())
				return
			}
			played, err := embedded.OpenToPlay(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(played.Events, gist.Events()) {
				t.Errorf("the gist has %d events and differs from the recording's, with %d: run go test ./cmd/schedq/cli -run Gists -update", len(played.Events), len(gist.Events()))
			}
			var events []sources.Event
			for ev, err := range played.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, ev)
			}
			if !reflect.DeepEqual(events, rec.Events) || !played.End.Equal(rec.End) || !reflect.DeepEqual(played.Formats, rec.Formats) {
				t.Errorf("played %d events up to %s, want %d up to %s", len(events), played.End, len(rec.Events), rec.End)
			}
		})
	}
}

// writeTrace writes events to the file at path.
func writeTrace(t *testing.T, path string, events []sources.Event) {
	t.Helper()
	var out bytes.Buffer
	w, err := trace.NewPacked(&out, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
