package command

// Package movetable writes moves of pods as a table in Apache Parquet, one row a move, for engines that join those of many clusters and
// days: docs/reference/outputs.md.

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// row is one move. The columns are those of "watch -o json" (docs/reference/outputs.md), with names that no SQL has for its own, and the pod's
// namespace apart. What is empty is null.
type moveRow struct {
	Time          int64    `parquet:"time,timestamp(microsecond),delta"`
	Move          int64    `parquet:"move,delta"` // counts from 0: of one microsecond it is the order
	Namespace     string   `parquet:"namespace,dict"`
	Pod           string   `parquet:"pod,dict"`
	FromTier      string   `parquet:"from_tier,optional,dict"`
	ToTier        string   `parquet:"to_tier,dict"`
	Event         string   `parquet:"event,optional,dict"`
	Attempts      int32    `parquet:"attempts"`
	BackoffExpiry *int64   `parquet:"backoff_expiry,optional,timestamp(microsecond)"`
	Plugins       []string `parquet:"plugins,list,dict"`
	GatingPlugin  string   `parquet:"gating_plugin,optional,dict"`
	Node          string   `parquet:"node,optional,dict"`
	Message       string   `parquet:"message,optional,dict"`
	Provenance    string   `parquet:"provenance,dict"`
}

// rowsInGroup is how many rows are written at once. Until then they are in memory, some hundred bytes each.
const rowsInGroup = 1 << 16

// Writer writes moves.
type moveTable struct {
	rows *parquet.GenericWriter[moveRow]
	n    int64
}

// NewWriter returns one that writes to w, compressed with zstd.
func newMoveTable(w io.Writer) *moveTable {
	return &moveTable{rows: parquet.NewGenericWriter[moveRow](w, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("schedq", "", ""))}
}

// Write writes move t behind those before.
func (w *moveTable) Write(t *board.Transition) error {
	r := moveRow{
		Time: t.Time.UnixMicro(), Move: w.n, Namespace: t.Pod.Key.Namespace, Pod: t.Pod.Key.Name, FromTier: t.From.String(), ToTier: t.To.String(),
		Event: t.Event, Attempts: int32(t.Attempts), Plugins: t.Pod.RejectorPlugins(), GatingPlugin: t.GatingPlugin, Provenance: t.Provenance(),
	}
	if !t.BackoffExpiry.IsZero() {
		expiry := t.BackoffExpiry.UnixMicro()
		r.BackoffExpiry = &expiry
	}
	if t.Event == queue.ScheduleAttemptFailure {
		r.Message = string(t.Pod.Message)
	}
	if t.To == queue.Scheduled {
		r.Node = t.Pod.Node
	}
	if _, err := w.rows.Write([]moveRow{r}); err != nil {
		return fmt.Errorf("can't write the table: %w", err)
	}
	if w.n++; w.n%rowsInGroup == 0 {
		if err := w.rows.Flush(); err != nil {
			return fmt.Errorf("can't write the table: %w", err)
		}
	}
	return nil
}

// Close ends the table, which can be read only then. It returns how many moves there are.
func (w *moveTable) Close() (int64, error) {
	if err := w.rows.Close(); err != nil {
		return w.n, fmt.Errorf("can't write the table: %w", err)
	}
	return w.n, nil
}
