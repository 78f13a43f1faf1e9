package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/scenario"
)

// cutFlags say which part of a recording becomes a scenario.
type cutFlags struct{ from, to string }

func (f *cutFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "from", "", "cut a scenario that begins at this `TIME`: 12:03:10, +1m30s from the start; of a ring also -2h from its end")
	cmd.Flags().StringVar(&f.to, "to", "", "and ends at this `TIME`; +5m is that long after --from")
}

// given reports whether a scenario is to be written.
func (f *cutFlags) given(out string) bool {
	return f.from != "" || f.to != "" || scenario.Named(out)
}

// until is --to, of which +5m means five minutes from from on, if there is one.
func (f *cutFlags) until(from time.Time) string {
	d, err := time.ParseDuration(strings.TrimPrefix(f.to, "+"))
	if err != nil || from.IsZero() || !strings.HasPrefix(f.to, "+") {
		return f.to
	}
	return from.Add(d).UTC().Format(time.RFC3339Nano)
}

// write cuts the scenario and writes it.
func (f *cutFlags) write(cmd *cobra.Command, rec *sources.Recording, out string, opts disk.Options) error {
	if out != "-" && !scenario.Named(out) {
		return cli.Usagef("--from and --to cut a scenario: name an OUT that ends in .yaml")
	}
	if rec.Rerun {
		return fmt.Errorf("%s is a scenario already", rec.Name)
	}
	var from, to time.Time
	var err error
	if f.from != "" {
		if from, err = cli.Moment(rec, "--from", f.from); err != nil {
			return err
		}
	}
	if f.to != "" {
		if to, err = cli.Moment(rec, "--to", f.until(from)); err != nil {
			return err
		}
	}
	s, err := scenario.Cut(cmd.Context(), rec, from, to)
	if err != nil {
		return err
	}
	if out == "-" {
		return scenario.Write(cmd.OutOrStdout(), s)
	}
	return disk.Write(cmd.Context(), out, opts, func(w io.Writer) error { return scenario.Write(w, s) })
}
