package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// isTable reports whether convert's OUT is a table of moves.
func isTable(out string) bool { return strings.HasSuffix(out, ".parquet") }

// writeTable writes the moves of rec to a file atomically and prints their number.
func writeTable(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, path string, how disk.Options) error {
	var n int64
	err := disk.Write(cmd.Context(), path, how, func(w io.Writer) (err error) {
		n, err = writeMoves(cmd.Context(), w, rec, opts)
		return err
	})
	if err != nil {
		return err
	}
	return cli.WriteText(cmd.OutOrStdout(), fmt.Sprintf("wrote %d moves\n", n))
}

// writeMoves writes the moves of rec and returns their number.
func writeMoves(ctx context.Context, w io.Writer, rec *sources.Recording, opts timeline.Options) (int64, error) {
	table := newMoveTable(w)
	if err := timeline.Replay(ctx, rec, opts, table.Write); err != nil {
		return 0, err
	}
	return table.Close()
}

// moveRow is one move. The columns are those of "watch -o json" (docs/reference/outputs.md), renamed where
// SQL reserves the name, with the pod's namespace in its own column. Empty values are null.
type moveRow struct {
	Time          int64    `parquet:"time,timestamp(microsecond),delta"`
	Move          int64    `parquet:"move,delta"` // from 0; orders moves of one microsecond
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
	AtLeast       bool     `parquet:"attempts_at_least"`
}

// rowsPerGroup is how many rows are kept in memory, some hundred bytes each, and written at once.
const rowsPerGroup = 1 << 16

// moveTable writes moves as Apache Parquet, one per row, for queries over many clusters and days: see
// docs/reference/fleet.md.
type moveTable struct {
	rows *parquet.GenericWriter[moveRow]
	n    int64
}

// newMoveTable returns a table that writes to w, compressed with zstd.
func newMoveTable(w io.Writer) *moveTable {
	return &moveTable{rows: parquet.NewGenericWriter[moveRow](w, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("schedq", "", ""))}
}

// Write appends a move.
func (w *moveTable) Write(t *board.Transition) error {
	attempts := t.AttemptCount()
	r := moveRow{
		Time: t.Time.UnixMicro(), Move: w.n, Namespace: t.Pod.Key.Namespace, Pod: t.Pod.Key.Name, FromTier: t.From.String(), ToTier: t.To.String(),
		Event: t.Event, Attempts: int32(attempts.N), AtLeast: attempts.AtLeast, Plugins: t.Pod.RejectorPlugins(), GatingPlugin: t.GatingPlugin, Provenance: t.Provenance(),
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
	if w.n++; w.n%rowsPerGroup == 0 {
		if err := w.rows.Flush(); err != nil {
			return fmt.Errorf("can't write the table: %w", err)
		}
	}
	return nil
}

// Close completes the table, which is unreadable before, and returns the number of moves.
func (w *moveTable) Close() (int64, error) {
	if err := w.rows.Close(); err != nil {
		return w.n, fmt.Errorf("can't write the table: %w", err)
	}
	return w.n, nil
}
