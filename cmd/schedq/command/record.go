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
	var cluster KubeFlags
	var out string
	var flight flightRecorder
	var lasts time.Duration
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "record -o FILE | --ring 24h -o FOLDER",
		Short: "Write what happens in a live cluster into a trace, without a screen",
		Long: `record watches a cluster until it is stopped, and writes a trace: the objects that kube-scheduler reads,
trimmed to what scheduling needs (no env, no args, no secrets, no annotations), and their changes. FILE is
compressed if its name ends in .gz or .zst. What is in it plays at any moment: a kill loses at most the last
second. Only you can read it, and one schedq at a time writes it; one that exists is replaced with --force alone.
With --ring it is a flight recorder: a FOLDER keeps the last hours, or so many bytes, and what is older goes. A FOLDER
that holds a ring goes on. All commands that read recordings read it, also meanwhile, with --from and --to in part.`,
		Example: "  schedq record -o incident.jsonl --context prod\n  schedq replay incident.jsonl\n" +
			"  schedq record --ring 24h --ring 2GiB -o /var/lib/schedq\n  schedq report /var/lib/schedq --from -2h --to +30m",
		Args: cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return cli.Usagef("record needs -o FILE, the trace to write, or with --ring a folder")
			}
			if lasts < 0 {
				return cli.Usagef("--for %s is less than no time", lasts)
			}
			if flies, err := flight.given(); flies || err != nil {
				if err != nil {
					return err
				}
				defer Within(cmd, lasts)()
				return flight.record(cmd, &cluster, out)
			}
			if err := disk.Check(cmd.Context(), out, force.Options()); err != nil {
				return err
			}
			return record(cmd, &cluster, out, lasts, force.Options())
		},
	}
	cluster.Register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the trace to write, or with --ring the folder")
	flight.register(cmd)
	force.Register(cmd)
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long to record; until it is stopped if 0")
	return cmd
}

// record records the cluster into the file out until the command is stopped.
func record(cmd *cobra.Command, cluster *KubeFlags, out string, lasts time.Duration, opts disk.Options) error {
	defer Within(cmd, lasts)()
	stream, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	recorder, err := trace.Record(cmd.Context(), stream, out, 0, opts)
	if err != nil {
		return err
	}
	err = timeline.Drain(cmd.Context(), recorder, timeline.Draining{
		Status: cli.NewTeller(cmd.ErrOrStderr()).Tell, Check: recorder.Err,
	})
	if err := errors.Join(err, recorder.Close()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %d records are in %s\n", recorder.Written(), sources.Sanitize(out))
	return nil
}
