package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedq/schedq/cmd/schedq/cli"
)

// shownKubectlFlags are kubectl's flags that each command's help shows. schedq options lists the others.
var shownKubectlFlags = map[string]bool{"kubeconfig": true, "context": true, "namespace": true}

// NewOptions returns schedq options.
func NewOptions() *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List kubectl's flags for the cluster and the user",
		Long:  "List kubectl's flags for the cluster and the user. All commands that read a live cluster have them.",
		Args:  cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set := pflag.NewFlagSet("", pflag.ContinueOnError)
			new(kubeconfigFlags).register(set)
			return cli.WriteText(cmd.OutOrStdout(), set.FlagUsagesWrapped(100))
		},
	}
}
