package command

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
)

// defaultKubeFlags returns the flags at their defaults, for a command that does not have them.
func defaultKubeFlags() *kubeFlags {
	f := &kubeFlags{}
	f.cluster.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	return f
}

// Contexts returns the names of the kubeconfig's contexts, sorted.
func (f *kubeFlags) Contexts() ([]string, error) {
	config, err := f.kubeconfig()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(config.Contexts)), nil
}

// OpenContext opens the cluster of a context while the screen holds the terminal: a credential plugin
// that prompts fails. Of the flags, only --kubeconfig applies.
func (f *kubeFlags) OpenContext(ctx context.Context, cmd *cobra.Command, name string) (sources.Stream, error) {
	other := defaultKubeFlags()
	other.cluster.rules.ExplicitPath = f.cluster.rules.ExplicitPath
	other.cluster.overrides = clientcmd.ConfigOverrides{CurrentContext: name, ClusterDefaults: clientcmd.ClusterDefaults}
	config, name, err := other.config()
	if err != nil {
		return nil, err
	}
	if config.ExecProvider != nil {
		config.ExecProvider.StdinUnavailable = true
	}
	source, err := other.newSource(cmd, config, name)
	if err != nil {
		return nil, err
	}
	if err := source.Login(ctx, func(string) {}); err != nil {
		return nil, err
	}
	collectMoreOften()
	if err := source.Check(ctx, config.Host); err != nil {
		return nil, err
	}
	return live.Beside(source), nil
}
