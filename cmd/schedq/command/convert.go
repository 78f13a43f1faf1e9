package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/trace"
)

// convertFlags are the flags of convert.
type convertFlags struct {
	out   string
	cut   cutFlags
	model cli.Model
	force cli.Force
}

// NewConvert returns schedq convert.
func NewConvert() *cobra.Command {
	var c convertFlags
	cmd := &cobra.Command{
		Use:   "convert FILE... -o OUT",
		Short: "Convert recordings to a trace, a table of moves or a scenario",
		Long: `Merge the files of one run into OUT, whose name selects the format:

  .parquet      the moves, as schedq watch prints them, one per row: for DuckDB, Spark or BigQuery
  .yaml         a scenario: the cluster at --from as manifests, and its changes until --to, without the
                scheduler's moves
  .jsonl        a trace: JSON Lines with only the fields that scheduling needs (no env, args, secrets or
                annotations); so do .ndjson, .json, .trace and no extension, each also with .gz or .zst
                to compress it

With a trace, convert prints which facts the logs contain, which are missing, and how to get them. Of a
ring's folder, --from and --to cut any format, even while it is recorded. - is standard output. OUT is
written atomically with mode 0600; use --force to replace an existing file.`,
		Example: "  schedq convert audit.log.gz sched.log.gz -o incident.trace.zst\n  schedq convert audit.log.gz --from 12:03:00 --to +5m -o lesson.yaml\n  schedq convert audit.log.gz -o moves.parquet",
		Args:    cli.Args(1, cli.Any),
		RunE:    c.run,
	}
	cmd.Flags().StringVarP(&c.out, "output", "o", "", "file to write: a trace, a table (.parquet) or a scenario (.yaml)")
	c.force.Register(cmd)
	c.cut.register(cmd)
	c.model.Register(cmd)
	cli.RegisterFiles(cmd)
	return cmd
}

func (c *convertFlags) run(cmd *cobra.Command, args []string) error {
	if err := c.check(cmd, args); err != nil {
		return err
	}
	cuts := c.cut.set(c.out)
	if cli.IsRing(args) { // the ring opens only that window
		c.cut, cuts = cutFlags{}, scenario.Named(c.out)
	}
	if isTable(c.out) && cuts {
		return cli.Usagef("--from and --to do not apply to tables: they cut scenarios, or a ring's folder")
	}
	opts, err := c.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	rec, err := cli.OpenFiles(cmd, args, cli.ReadMemory)
	if err != nil {
		return err
	}
	switch {
	case isTable(c.out):
		if rec, err = c.model.Rerun(rec); err != nil {
			return err
		}
		return writeTable(cmd, rec, opts, c.out, c.force.Options())
	case cuts:
		return c.cut.write(cmd, rec, c.out, c.force.Options())
	case rec.Rerun:
		return fmt.Errorf("%s is a scenario and has no recorded scheduler: use an OUT that ends in .yaml", rec.Name)
	case c.out == "-":
		w, err := trace.NewWriter(cmd.OutOrStdout())
		if err != nil {
			return err
		}
		_, err = writeEvents(cmd.Context(), w, rec)
		return err
	}
	tally, err := writeTrace(cmd.Context(), c.out, rec, c.force.Options())
	if err != nil {
		return err
	}
	return writeWorth(cmd.OutOrStdout(), tally)
}

// check reports whether OUT can be written.
func (c *convertFlags) check(cmd *cobra.Command, args []string) error {
	if c.out == "" {
		return cli.Usagef("convert needs -o OUT, the file to write")
	}
	for _, in := range args {
		if sameFile(in, c.out) {
			return cli.Usagef("convert would overwrite its input %s", in)
		}
	}
	if !isTable(c.out) && !scenario.Named(c.out) && c.out != "-" {
		if err := trace.CheckName(c.out); err != nil {
			return cli.Usagef("%s: %w; a table's is .parquet, and a scenario's .yaml", sources.Sanitize(c.out), err)
		}
	}
	if flag := c.model.Changed(cmd); flag != "" && !isTable(c.out) {
		return cli.Usagef("--%s applies only to a table of moves: use an OUT that ends in .parquet", flag)
	}
	return c.force.Check(cmd, c.out)
}

// writeWorth prints which facts a recording contains and what the missing ones cost.
func writeWorth(w io.Writer, tally *report.CoverageTally) error {
	rows := [][]string{{"FACTS IN THE LOGS", ""}}
	var missing strings.Builder
	for _, f := range tally.Rows() {
		rows = append(rows, []string{f.Facts, f.Found})
		if f.Cost != "" {
			fmt.Fprintf(&missing, "\n  %s: %s\n    effect: %s\n    fix:    %s\n", f.Facts, f.Found, f.Cost, f.Fix)
		}
	}
	var text strings.Builder
	cli.WriteColumns(&text, rows)
	if missing.Len() > 0 {
		text.WriteString("\n  MISSING\n" + missing.String())
	}
	return cli.WriteText(w, text.String())
}

// sameFile reports whether two paths name one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// writeEvents writes rec's events, closes the trace, and returns a tally of its facts.
func writeEvents(ctx context.Context, w *trace.Writer, rec *sources.Recording) (*report.CoverageTally, error) {
	tally := report.NewCoverageTally()
	for ev, err := range rec.All(ctx) {
		if err == nil {
			err = w.Write(ev)
		}
		if err != nil {
			_ = w.Close() // err comes first
			return nil, err
		}
		tally.Add(ev)
	}
	if !rec.End.IsZero() {
		if err := w.End(rec.End); err != nil {
			_ = w.Close() // err comes first
			return nil, err
		}
	}
	return tally, w.Close()
}

// writeTrace writes rec to a file atomically.
func writeTrace(ctx context.Context, path string, rec *sources.Recording, opts disk.Options) (tally *report.CoverageTally, err error) {
	err = disk.Write(ctx, path, opts, func(w io.Writer) error {
		packed, err := trace.NewPacked(w, path)
		if err != nil {
			return err
		}
		tally, err = writeEvents(ctx, packed, rec)
		return err
	})
	return tally, err
}
