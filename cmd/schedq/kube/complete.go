package kube

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig reads what the flags and the environment name.
func (f *Flags) kubeconfig() (*clientcmdapi.Config, error) {
	loader := f.cluster.loader()
	if err := checkKubeconfigs(loader.ConfigAccess()); err != nil {
		return nil, err
	}
	config, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig can't be read: %s", oneLine(err))
	}
	return &config, nil
}

// complete has shells complete what is named in the kubeconfig. Where that can't be read nothing is offered: the command
// itself says why.
func (f *Flags) complete(cmd *cobra.Command) {
	for flag, names := range map[string]func(clientcmdapi.Config) []string{
		"context": func(c clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) },
		"cluster": func(c clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) },
		"user":    func(c clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) },
	} {
		// The error is that there is no such flag, or that it is completed already.
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			config, err := f.kubeconfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(*config), cobra.ShellCompDirectiveNoFileComp
		})
	}
}
