package screen

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/flags"
)

// NewRoot returns schedq without a command: it plays an embedded recording.
func NewRoot() *cobra.Command {
	var screen screenFlags
	var name string
	cmd := &cobra.Command{
		Use:   "schedq",
		Short: "Show the queue inside kube-scheduler, pod by pod",
		Long: `schedq shows the queue inside kube-scheduler: activeQ, backoffQ and unschedulable pods, with a
countdown on every pod. Without a command it plays an embedded recording of a real cluster.
Press ? in it for the keys.`,
		Args: noFiles,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return screen.showEmbedded(cmd, name)
		},
	}
	screen.register(cmd)
	cmd.Flags().StringVar(&name, "recording", flags.EmbeddedNames()[0], "the embedded recording to play: "+strings.Join(flags.EmbeddedNames(), ", "))
	flags.Completes(cmd, "recording", flags.EmbeddedNames()...)
	return cmd
}

// noFiles finds that no argument is left, and what a person may have meant by one.
func noFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		return flags.Usagef("to play a file: schedq replay %s", args[0])
	}
	return flags.Usagef("there is no command %q", args[0])
}
