package command

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// completionTimeout limits a completion that asks the cluster, including the credential plugin: the
// shell waits for it. maxCompletions limits the names it offers.
const (
	completionTimeout = 200 * time.Millisecond
	maxCompletions    = 500
)

// complete makes shells complete names from the kubeconfig and the cluster's namespaces. If they can't
// be read, nothing is offered: running the command reports the error.
func (f *kubeFlags) complete(cmd *cobra.Command) {
	fromKubeconfig := func(names func(*clientcmdapi.Config) []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			config, err := f.kubeconfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(config), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for flag, completion := range map[string]cobra.CompletionFunc{
		"context":   fromKubeconfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) }),
		"cluster":   fromKubeconfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) }),
		"user":      fromKubeconfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) }),
		"namespace": f.completeNamespace,
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, completion)
	}
}

func (f *kubeFlags) completeNamespace(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	for _, namespace := range f.listNames(cmd, "/api/v1/namespaces") {
		if strings.HasPrefix(namespace.Name, typed) {
			all = append(all, namespace.Name)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completePod offers the pods without a node: as NAME, or as NAMESPACE/NAME if a namespace was typed or
// the name is not unique.
func (f *kubeFlags) completePod(cmd *cobra.Command, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	namespace, _, qualified := strings.Cut(typed, "/")
	if !qualified {
		namespace = f.Namespace()
	}
	path := "/api/v1/pods"
	if namespace != "" {
		path = "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	}
	pods := f.listNames(cmd, path+"?fieldSelector="+url.QueryEscape("spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed"))
	return podCompletions(pods, typed), cobra.ShellCompDirectiveNoFileComp
}

// podCompletions offers pods as NAME, or as NAMESPACE/NAME if a namespace was typed or the name is not unique.
func podCompletions(pods []types.NamespacedName, typed string) []cobra.Completion {
	qualified := strings.Contains(typed, "/")
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
	return all[:min(len(all), maxCompletions)]
}

// listNames lists a resource's names, sorted, or none if the cluster does not answer in time. It neither
// prompts nor prints, since the shell is drawing the command line.
func (f *kubeFlags) listNames(cmd *cobra.Command, path string) []types.NamespacedName {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
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
	found, err := source.Names(ctx, path, maxCompletions)
	if err != nil {
		return nil
	}
	slices.SortFunc(found, func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return found
}
