package command

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/sources/ring/remote"
)

// NewRoot returns schedq without its commands: it plays files, or an embedded recording.
func NewRoot() *cobra.Command {
	var screen screenFlags
	var name string
	cmd := &cobra.Command{
		Use:   "schedq [FILE...]",
		Short: "Show the queue inside kube-scheduler, pod by pod",
		Long: `Show the queue inside kube-scheduler: activeQ, backoffQ and unschedulable pods, with a countdown on
every pod. Without a command, schedq plays FILE like schedq replay, or an embedded recording of a real
cluster. Press ? for the keys.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.Flags().Changed("recording") {
				return cli.Usagef("schedq plays files or an embedded recording, not both")
			}
			return checkFirstFile(cmd, args)
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
	cmd.Flags().StringVar(&name, "recording", cli.EmbeddedNames()[0], "play this embedded recording: "+strings.Join(cli.EmbeddedNames(), ", "))
	cli.CompleteWith(cmd, "recording", cli.EmbeddedNames()...)
	return cmd
}

// checkFirstFile returns an error if the first argument is not a file, since it may be a misspelt command, or the name of
// an embedded recording.
func checkFirstFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "-" || remote.Is(args[0]) {
		return nil
	}
	if _, err := os.Lstat(args[0]); err == nil {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	err := cli.Usagef("unknown command or file %q", args[0])
	if suggested := cli.Suggest(err, args[0], known); suggested != err {
		return suggested
	}
	if name := cli.Closest(args[0], cli.EmbeddedNames()); name != "" {
		return cli.Usagef("unknown command or file %q; did you mean \"--recording %s\"?", args[0], name)
	}
	return err
}
