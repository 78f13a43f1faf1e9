package command

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/sources/ring/remote"
)

// NewRoot returns schedq without a command: it plays files, or an embedded recording.
func NewRoot() *cobra.Command {
	var screen screenFlags
	var name string
	cmd := &cobra.Command{
		Use:   "schedq [FILE...]",
		Short: "Show the queue inside kube-scheduler, pod by pod",
		Long: `schedq shows the queue inside kube-scheduler: activeQ, backoffQ and unschedulable pods, with a
countdown on every pod. Without a command it plays files, as schedq replay does, or an embedded
recording of a real cluster. Press ? in it for the keys.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.Flags().Changed("recording") {
				return cli.Usagef("schedq plays files or an embedded recording, not both")
			}
			return areFiles(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return screen.showFiles(cmd, args)
			}
			return screen.showEmbedded(cmd, name)
		},
	}
	screen.register(cmd)
	cli.RegisterFiles(cmd)
	cmd.Flags().StringVar(&name, "recording", cli.EmbeddedNames()[0], "the embedded recording to play: "+strings.Join(cli.EmbeddedNames(), ", "))
	cli.Completes(cmd, "recording", cli.EmbeddedNames()...)
	return cmd
}

// areFiles finds that the first argument is no file, and was meant for a command.
func areFiles(args []string) error {
	if len(args) == 0 || args[0] == "-" || remote.Is(args[0]) {
		return nil
	}
	if _, err := os.Lstat(args[0]); err != nil {
		return cli.Usagef("there is no command and no file %q", args[0])
	}
	return nil
}
