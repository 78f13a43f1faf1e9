package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// isTable reports whether a table of moves is to be written.
func isTable(out string) bool { return strings.HasSuffix(out, ".parquet") }

// writeTable writes the moves of rec to a file that is there whole or not at all, and says how many there are.
func writeTable(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, path string, how disk.Options) error {
	var n int64
	err := disk.Write(cmd.Context(), path, how, func(w io.Writer) (err error) {
		n, err = writeMoves(cmd.Context(), w, rec, opts)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d moves are written\n", n); err != nil {
		return fmt.Errorf("can't write to standard output: %w", err)
	}
	return nil
}

// writeMoves writes the moves of rec, and returns how many there are.
func writeMoves(ctx context.Context, w io.Writer, rec *sources.Recording, opts timeline.Options) (int64, error) {
	table := newMoveTable(w)
	if err := timeline.Replay(ctx, rec, opts, table.Write); err != nil {
		return 0, err
	}
	return table.Close()
}
