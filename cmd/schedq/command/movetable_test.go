package command

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/embedded"
)

// TestTableLikeWatch: a table contains the moves of "watch -o json" in order, with times in
// microseconds.
func TestTableLikeWatch(t *testing.T) {
	rec, err := embedded.Open(t.Context(), "workshop")
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	var watched []map[string]any
	w := newMoveTable(&table)
	err = timeline.Replay(t.Context(), rec, timeline.Options{}, func(move *board.Transition) error {
		line, err := json.Marshal(move)
		if err != nil {
			return err
		}
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			return err
		}
		watched = append(watched, fields)
		return w.Write(move)
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[moveRow](bytes.NewReader(table.Bytes()), int64(table.Len()))
	if err != nil || len(rows) == 0 || len(rows) != len(watched) || n != int64(len(rows)) {
		t.Fatalf("%d rows of %d moves, Close returns %d: %v", len(rows), len(watched), n, err)
	}
	for i, r := range rows {
		if got := asWatch(t, r); r.Move != int64(i) || !reflect.DeepEqual(got, truncated(t, watched[i])) {
			t.Errorf("row %d is\n%v, want\n%v", r.Move, got, watched[i])
		}
	}
}

// asWatch returns a row as watch prints it.
func asWatch(t *testing.T, r moveRow) map[string]any {
	t.Helper()
	fields := map[string]any{"time": time.UnixMicro(r.Time).UTC().Format(time.RFC3339Nano), "pod": r.Namespace + "/" + r.Pod, "to": r.ToTier, "provenance": r.Provenance}
	for name, text := range map[string]string{"from": r.FromTier, "event": r.Event, "gatingPlugin": r.GatingPlugin, "node": r.Node, "message": r.Message} {
		if text != "" {
			fields[name] = text
		}
	}
	if r.Attempts != 0 {
		fields["attempts"] = float64(r.Attempts)
	}
	if r.BackoffExpiry != nil {
		fields["backoffExpiry"] = time.UnixMicro(*r.BackoffExpiry).UTC().Format(time.RFC3339Nano)
	}
	if len(r.Plugins) > 0 {
		var plugins []any
		for _, p := range r.Plugins {
			plugins = append(plugins, p)
		}
		fields["plugins"] = plugins
	}
	return fields
}

// truncated returns fields with times in microseconds.
func truncated(t *testing.T, fields map[string]any) map[string]any {
	t.Helper()
	for name, value := range fields {
		if text, ok := value.(string); ok && (name == "time" || name == "backoffExpiry") {
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				t.Fatal(err)
			}
			fields[name] = at.Truncate(time.Microsecond).Format(time.RFC3339Nano)
		}
	}
	return fields
}

// full is a disk with space for that many bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, bytes.ErrTooLarge
	}
	return len(p), nil
}

// TestTableWriteError: a full disk is an error.
func TestTableWriteError(t *testing.T) {
	for space := range full(5) {
		w := newMoveTable(&space)
		if _, err := w.Close(); err == nil || !strings.HasPrefix(err.Error(), "can't write the table: ") {
			t.Errorf("error %v", err)
		}
	}
}
