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
		Short: "Play a recording from one or more files",
		Long: `Play a recording on the screen. The files belong to one run and are merged by time: an audit log
contains the objects, the scheduler's own log the exact moves. The format of each is detected: a
kube-apiserver audit log, a kube-scheduler log (every move at -v=5 or more), a schedq trace, the
scheduler's pending counts, or a driver's marks; plain, gzip or zstd. - is standard input.`,
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
