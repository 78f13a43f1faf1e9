package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/trace"
)

// NewRecord returns schedq record.
func NewRecord() *cobra.Command {
	var cluster kubeFlags
	var out string
	var flags ringFlags
	var duration time.Duration
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "record -o FILE | --ring 24h -o FOLDER",
		Short: "Record a live cluster to a trace, without a screen",
		Long: `Watch a cluster until interrupted and write a trace: the objects that kube-scheduler reads and their
changes, with only the fields that scheduling needs (no env, args, secrets or annotations). FILE is
compressed if its name ends in .gz or .zst. It can be played while it is written; a kill loses at most
the last second. It has mode 0600, and one schedq at a time can write it; use --force to replace an
existing file.

With --ring, record keeps only the last hours or bytes in FOLDER, like a flight recorder, and continues
a ring that is there. All commands that read recordings can read it at any time, in part with --from
and --to.`,
		Example: "  schedq record -o incident.jsonl --context prod\n  schedq replay incident.jsonl\n" +
			"  schedq record --ring 24h --ring 2GiB -o /var/lib/schedq\n  schedq report /var/lib/schedq --from -2h --to +30m",
		Args: cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return cli.Usagef("record needs -o FILE, the trace to write, or a folder with --ring")
			}
			if duration < 0 {
				return cli.Usagef("invalid --for %s: use a positive duration", duration)
			}
			isRing, err := flags.parse()
			if err != nil {
				return err
			}
			if isRing {
				defer withTimeout(cmd, duration)()
				return flags.record(cmd, &cluster, out)
			}
			if err := trace.CheckName(out); err != nil {
				return cli.Usagef("%s: %w", sources.Sanitize(out), err)
			}
			if err := disk.Check(cmd.Context(), out, force.Options()); err != nil {
				return err
			}
			return record(cmd, &cluster, out, duration, force.Options())
		},
	}
	cluster.Register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "trace to write, or with --ring the folder")
	flags.register(cmd)
	force.Register(cmd)
	cmd.Flags().DurationVar(&duration, "for", 0, "record for this long; 0 is until interrupted")
	return cmd
}

// record records the cluster to the file out until the command is stopped.
func record(cmd *cobra.Command, cluster *kubeFlags, out string, duration time.Duration, opts disk.Options) error {
	defer withTimeout(cmd, duration)()
	stream, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	recorder, err := trace.Record(cmd.Context(), stream, out, 0, opts)
	if err != nil {
		return err
	}
	printer := cli.NewStatusPrinter(cmd.ErrOrStderr())
	print := func(status sources.Status) {
		if recorder.Err() == nil { // else a notice has the reason, and so has the error
			printer.Print(status)
		}
	}
	err = timeline.Drain(cmd.Context(), recorder, timeline.DrainOptions{Status: print, Check: recorder.Err})
	if closing := recorder.Close(); !errors.Is(err, closing) {
		err = errors.Join(err, closing)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "schedq: wrote %d records to %s\n", recorder.Written(), sources.Sanitize(out))
	return nil
}
