package kube

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

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
			loader := f.cluster.loader()
			if checkKubeconfigs(loader.ConfigAccess()) != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			config, err := loader.RawConfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(config), cobra.ShellCompDirectiveNoFileComp
		})
	}
}
