package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// NewSeed returns schedq seed.
func NewSeed() *cobra.Command {
	var cluster KubeFlags
	var out string
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "seed -o FILE",
		Short: "Write what is there in a live cluster, for logs that begin in the middle",
		Long: `seed reads once what kube-scheduler reads of a cluster, and what its Events tell of attempts so far, and writes a trace
of that moment, trimmed to what scheduling needs (no env, no args, no secrets, no annotations). Logs tell only what changes:
beside those of about the same time, --seed FILE tells what was there. FILE is compressed if its name ends in .gz or .zst.
It is there whole or not at all, and only you can read it; one that exists is replaced with --force alone.`,
		Example: "  schedq seed -o before.jsonl --context prod\n  schedq replay audit.log sched.log --seed before.jsonl",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return cli.Usagef("seed needs -o FILE, the trace to write")
			}
			if err := disk.Check(cmd.Context(), out, force.Options()); err != nil {
				return err
			}
			return seed(cmd, &cluster, out, force.Options())
		},
	}
	cluster.Register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the trace to write")
	force.Register(cmd)
	return cmd
}

// seed writes what there is in the cluster into the file out.
func seed(cmd *cobra.Command, cluster *KubeFlags, out string, opts disk.Options) error {
	stream, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	rec, err := timeline.Collect(cmd.Context(), stream, timeline.Draining{Lasts: 1, Status: cli.NewTeller(cmd.ErrOrStderr()).Tell})
	if err != nil {
		return err
	}
	isAttached := func(e sources.Event) bool { _, is := e.Fact.(*sources.Attached); return is }
	there := slices.IndexFunc(rec.Events, isAttached) + 1
	if there == 0 {
		return fmt.Errorf("it was stopped before all of %s was read, and nothing is written", rec.Name)
	}
	rec.Events = rec.Events[:there]
	if _, err := writeTrace(cmd.Context(), out, rec, opts); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %d records are in %s\n", there, sources.Sanitize(out))
	return nil
}
