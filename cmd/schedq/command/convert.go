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

// converting is what convert is asked for.
type converting struct {
	out   string
	cut   cutFlags
	model cli.Model
	force cli.Force
}

// NewConvert returns schedq convert.
func NewConvert() *cobra.Command {
	var c converting
	cmd := &cobra.Command{
		Use:   "convert FILE... -o OUT",
		Short: "Turn recordings of any format into one trace or a table of moves, or cut a scenario out of one",
		Long: `convert merges the files of one run into a trace: JSON Lines, trimmed to what scheduling needs (no env,
no args, no secrets, no annotations). OUT is compressed if its name ends in .gz or .zst; - is standard output.
It is there whole or not at all, and only you can read it; one that exists is replaced with --force alone.
Unless OUT is standard output, a table there says what the logs are worth: which facts they have, which they lack,
what that costs, and what would help. With --from or --to, or if OUT ends in .yaml, it writes a scenario instead: the
cluster at --from as manifests, and what became of it until --to, without what the scheduler did. Of the folder of a ring,
--from and --to cut a trace out as well, also while it is recorded. If OUT ends in .parquet, it writes the moves, as watch tells them, one
row each, for DuckDB, Spark or BigQuery.`,
		Example: "  schedq convert audit.log.gz sched.log.gz -o incident.trace.zst\n  schedq convert audit.log.gz --from 12:03:00 --to +5m -o lesson.yaml\n  schedq convert audit.log.gz -o moves.parquet",
		Args:    cli.Args(1, cli.Any),
		RunE:    c.run,
	}
	cmd.Flags().StringVarP(&c.out, "output", "o", "", "the trace to write, or a table if its name ends in .parquet")
	c.force.Register(cmd)
	c.cut.register(cmd)
	c.model.Register(cmd)
	cli.RegisterFiles(cmd)
	return cmd
}

func (c *converting) run(cmd *cobra.Command, args []string) error {
	if err := c.check(cmd, args); err != nil {
		return err
	}
	cuts := c.cut.given(c.out)
	if cli.IsRing(args) { // of which no more than that is opened
		c.cut, cuts = cutFlags{}, scenario.Named(c.out)
	}
	if isTable(c.out) && cuts {
		return cli.Usagef("--from and --to cut a scenario, or a part of a ring's folder: a table has all moves of a recording")
	}
	opts, err := c.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	rec, err := cli.OpenFiles(cmd, args, cli.RoomToRead)
	if err != nil {
		return err
	}
	switch {
	case isTable(c.out):
		if rec, err = c.model.Again(rec); err != nil {
			return err
		}
		return writeTable(cmd, rec, opts, c.out, c.force.Options())
	case cuts:
		return c.cut.write(cmd, rec, c.out, c.force.Options())
	case rec.Rerun:
		return fmt.Errorf("%s is a scenario, in which no scheduler was recorded: name an OUT that ends in .yaml", rec.Name)
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

// check returns an error if what is asked for can't be written there.
func (c *converting) check(cmd *cobra.Command, args []string) error {
	if c.out == "" {
		return cli.Usagef("convert needs -o OUT, the trace to write, or a table if its name ends in .parquet")
	}
	for _, in := range args {
		if sameFile(in, c.out) {
			return cli.Usagef("convert would overwrite its input %s", in)
		}
	}
	if flag := c.model.Given(cmd); flag != "" && !isTable(c.out) {
		return cli.Usagef("--%s says how the scheduler is modelled, which only moves show: name an OUT that ends in .parquet", flag)
	}
	return c.force.Check(cmd, c.out)
}

// writeWorth says in one table what a recording is worth.
func writeWorth(w io.Writer, tally *report.CoverageTally) error {
	rows := [][]string{{"WHAT THE LOGS TELL", ""}}
	var lacks strings.Builder
	for _, f := range tally.Rows() {
		rows = append(rows, []string{f.Facts, f.Found})
		if f.Cost != "" {
			fmt.Fprintf(&lacks, "\n  %s: %s\n    costs: %s\n    helps: %s\n", f.Facts, f.Found, f.Cost, f.Fix)
		}
	}
	var text strings.Builder
	cli.WriteColumns(&text, rows)
	if lacks.Len() > 0 {
		text.WriteString("\n  WHAT THEY LACK\n" + lacks.String())
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("can't write to standard output: %w", err)
	}
	return nil
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

// writeEvents writes what rec holds, ends the trace, and returns a tally of it.
func writeEvents(ctx context.Context, w *trace.Writer, rec *sources.Recording) (*report.CoverageTally, error) {
	tally := report.NewCoverageTally()
	for ev, err := range rec.All(ctx) {
		if err == nil {
			err = w.Write(ev)
		}
		if err != nil {
			_ = w.Close() // says the same
			return nil, err
		}
		tally.Add(ev)
	}
	return tally, w.Close()
}

// writeTrace writes rec to a file that is there whole or not at all.
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
