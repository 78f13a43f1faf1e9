package command

import (
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigFlags name a cluster and a user as kubectl's own flags do. Those are client-go's; k8s.io/cli-runtime, which has them
// too, would link kustomize, and with it package plugin, for which the linker keeps every method there is.
type kubeconfigFlags struct {
	rules     clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
	extra     []string // of the user to impersonate, each KEY=VALUE
}

// register adds the flags to set.
func (c *kubeconfigFlags) register(set *pflag.FlagSet) {
	c.rules = *clientcmd.NewDefaultClientConfigLoadingRules()
	c.rules.DefaultClientConfig = &clientcmd.DefaultClientConfig // what an empty kubeconfig is told by
	c.overrides.ClusterDefaults = clientcmd.ClusterDefaults
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", "" // kubectl has them no more
	clientcmd.BindOverrideFlags(&c.overrides, set, names)
	set.StringVar(&c.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use for CLI requests.")
	set.StringArrayVar(&c.extra, "as-user-extra", nil, "User extras to impersonate for the operation, KEY=VALUE; this flag can be repeated to specify multiple values for the same key.")
}

// loader reads the kubeconfig as the flags have it.
func (c *kubeconfigFlags) loader() clientcmd.ClientConfig {
	overrides := c.overrides
	for _, extra := range c.extra {
		if key, value, ok := strings.Cut(extra, "="); ok {
			if overrides.AuthInfo.ImpersonateUserExtra == nil {
				overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
			}
			overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&c.rules, &overrides)
}
