package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/trace"
)

// NewSeed returns schedq seed.
func NewSeed() *cobra.Command {
	var cluster kubeFlags
	var out string
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "seed -o FILE",
		Short: "Write a snapshot of a live cluster to complete its logs",
		Long: `Read the objects that kube-scheduler reads, and the Events about earlier attempts, and write a trace of
that moment with only the fields that scheduling needs (no env, args, secrets or annotations). Logs
contain only changes: pass FILE as --seed with logs that start about the same time. FILE is compressed
if its name ends in .gz or .zst, and written atomically with mode 0600; use --force to replace an
existing file.`,
		Example: "  schedq seed -o before.jsonl --context prod\n  schedq replay audit.log sched.log --seed before.jsonl",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return cli.Usagef("seed needs -o FILE, the trace to write")
			}
			if err := trace.CheckName(out); err != nil {
				return cli.Usagef("%s: %w", sources.Sanitize(out), err)
			}
			if err := disk.Check(cmd.Context(), out, force.Options()); err != nil {
				return err
			}
			return seed(cmd, &cluster, out, force.Options())
		},
	}
	cluster.Register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "trace to write")
	force.Register(cmd)
	return cmd
}

// seed writes the cluster's objects to the file out.
func seed(cmd *cobra.Command, cluster *kubeFlags, out string, opts disk.Options) error {
	rec, err := cluster.Collect(cmd, 1) // 1 ns: stop as soon as it is attached
	if err != nil {
		return err
	}
	isAttached := func(e sources.Event) bool { _, is := e.Fact.(*sources.Attached); return is }
	n := slices.IndexFunc(rec.Events, isAttached) + 1
	if n == 0 {
		return fmt.Errorf("stopped before all of %s was read: no file written", rec.Name)
	}
	rec.Events = rec.Events[:n]
	if _, err := writeTrace(cmd.Context(), out, rec, opts); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "schedq: wrote %d records to %s\n", n, sources.Sanitize(out))
	return nil
}
