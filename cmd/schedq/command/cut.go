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

// cutFlags select the part of a recording that becomes a scenario.
type cutFlags struct{ from, to string }

func (f *cutFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "from", "", "start the scenario at this `TIME`: 12:03:10 or +1m30s from the start; of a ring's folder also -2h from its end")
	cmd.Flags().StringVar(&f.to, "to", "", "end it at this `TIME`; +5m is five minutes after --from")
}

// set reports whether the flags or OUT ask for a scenario.
func (f *cutFlags) set(out string) bool {
	return f.from != "" || f.to != "" || scenario.Named(out)
}

// absoluteTo returns --to, in which +5m is relative to from if there is one.
func (f *cutFlags) absoluteTo(from time.Time) string {
	d, err := time.ParseDuration(strings.TrimPrefix(f.to, "+"))
	if err != nil || from.IsZero() || !strings.HasPrefix(f.to, "+") {
		return f.to
	}
	return from.Add(d).UTC().Format(time.RFC3339Nano)
}

// write cuts the scenario and writes it to out.
func (f *cutFlags) write(cmd *cobra.Command, rec *sources.Recording, out string, opts disk.Options) error {
	if out != "-" && !scenario.Named(out) {
		return cli.Usagef("--from and --to cut a scenario: use an OUT that ends in .yaml")
	}
	if rec.Rerun {
		return fmt.Errorf("%s is already a scenario", rec.Name)
	}
	var from, to time.Time
	var err error
	if f.from != "" {
		if from, err = cli.ParseTime(rec, "--from", f.from); err != nil {
			return err
		}
	}
	if f.to != "" {
		if to, err = cli.ParseTime(rec, "--to", f.absoluteTo(from)); err != nil {
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
