package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// What a shell is offered of a cluster may take so long from the question to the answer, a credential plugin's included,
// and has so many names at the most. A person waits for it with a key pressed, and can type on without it.
const (
	completesWithin = 200 * time.Millisecond
	mostCompletions = 500
)

// kubeconfig reads what the flags and the environment name.
func (f *KubeFlags) kubeconfig() (*clientcmdapi.Config, error) {
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

// complete has shells complete what is named in the kubeconfig, and the cluster's namespaces. Where one or the other can't be
// read nothing is offered: the command itself says why.
func (f *KubeFlags) complete(cmd *cobra.Command) {
	inKubeconfig := func(names func(*clientcmdapi.Config) []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			config, err := f.kubeconfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(config), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for flag, completion := range map[string]cobra.CompletionFunc{
		"context":   inKubeconfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) }),
		"cluster":   inKubeconfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) }),
		"user":      inKubeconfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) }),
		"namespace": f.completeNamespace,
	} {
		// The error is that there is no such flag, or that it is completed already.
		_ = cmd.RegisterFlagCompletionFunc(flag, completion)
	}
}

func (f *KubeFlags) completeNamespace(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	for _, namespace := range f.namesIn(cmd, "/api/v1/namespaces") {
		if strings.HasPrefix(namespace.Name, typed) {
			all = append(all, namespace.Name)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// CompletePod offers the pods that are on no node as what a person has typed of a pod so far: NAME, or NAMESPACE/NAME where
// a namespace was typed or is needed to tell two from each other.
func (f *KubeFlags) CompletePod(cmd *cobra.Command, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	namespace, _, qualified := strings.Cut(typed, "/")
	if !qualified {
		namespace = f.Namespace()
	}
	path := "/api/v1/pods"
	if namespace != "" {
		path = "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	}
	pods := f.namesIn(cmd, path+"?fieldSelector="+url.QueryEscape("spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed"))
	named := map[string]int{}
	for _, pod := range pods {
		named[pod.Name]++
	}
	var all []cobra.Completion
	for _, pod := range pods {
		switch {
		case (qualified || named[pod.Name] > 1) && strings.HasPrefix(pod.String(), typed):
			all = append(all, pod.String())
		case !qualified && named[pod.Name] == 1 && strings.HasPrefix(pod.Name, typed):
			all = append(all, cobra.CompletionWithDesc(pod.Name, "in "+pod.Namespace))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// namesIn are those in a list of the cluster, or none if it does not tell them in time. Nobody is asked for anything, and nothing
// is said: a shell is about to show what comes of it.
func (f *KubeFlags) namesIn(cmd *cobra.Command, path string) []types.NamespacedName {
	ctx, cancel := context.WithTimeout(cmd.Context(), completesWithin)
	defer cancel()
	config, name, err := f.config()
	if err != nil {
		return nil
	}
	if config.ExecProvider != nil {
		config.ExecProvider.StdinUnavailable = true
	}
	source, err := f.newSource(cmd, config, name)
	if err != nil {
		return nil
	}
	found, err := source.Names(ctx, path, mostCompletions)
	if err != nil {
		return nil
	}
	slices.SortFunc(found, func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return found
}
