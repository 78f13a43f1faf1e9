package command

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
)

// NewReplay returns schedq replay.
func NewReplay() *cobra.Command {
	var screen screenFlags
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Play recordings: files of one run together, in any format",
		Long: `replay plays a recording on the screen. Its files belong to one run and are merged by time: the
objects out of an audit log, the exact moves out of the scheduler's own log. Formats are detected:
a kube-apiserver audit log, a kube-scheduler log (-v=5 or more tells every move), a schedq trace,
the scheduler's pending counts, a driver's marks; plain, gzip or zstd. - is standard input.`,
		Example: "  schedq replay audit.log.gz sched.log.gz\n  kubectl logs -n kube-system kube-scheduler-a | schedq replay -",
		Args:    cli.Args(1, cli.Any),
		RunE: func(cmd *cobra.Command, args []string) error {
			return screen.showFiles(cmd, args)
		},
	}
	screen.register(cmd)
	cli.RegisterFiles(cmd)
	return cmd
}
