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

// Unflagged returns flags of which none was given: those of a command that names no cluster.
func Unflagged() *KubeFlags {
	f := &KubeFlags{}
	f.cluster.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	return f
}

// Contexts returns the names of the kubeconfig's contexts, sorted. It fails if the kubeconfig can't be read.
func (f *KubeFlags) Contexts() ([]string, error) {
	config, err := f.kubeconfig()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(config.Contexts)), nil
}

// OpenContext finds the cluster of a context of the kubeconfig, and whether it can be watched, while a screen has the
// terminal: a credential plugin that has to ask the person fails. Of the flags, only the one that names the kubeconfig is
// about that cluster, too.
func (f *KubeFlags) OpenContext(ctx context.Context, cmd *cobra.Command, name string) (sources.Stream, error) {
	other := Unflagged()
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
	sparesMemory()
	if err := source.Check(ctx, config.Host); err != nil {
		return nil, err
	}
	return live.Beside(source), nil
}
