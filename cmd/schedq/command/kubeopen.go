package command

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/doctor"
)

var errNoCluster = errors.New("there is no kubeconfig that leads to a cluster: set KUBECONFIG, or name one with --kubeconfig")

// config is where the cluster is, and what to call it.
func (f *KubeFlags) config() (config *rest.Config, name string, err error) {
	raw, err := f.kubeconfig()
	if err != nil {
		return nil, "", err
	}
	if err := f.checkNamedFiles(raw); err != nil {
		return nil, "", err
	}
	name = raw.CurrentContext
	if named := f.cluster.overrides.CurrentContext; named != "" {
		name = named
		if raw.Contexts[name] == nil {
			return nil, "", fmt.Errorf("there is no context %s in the kubeconfig: kubectl config get-contexts lists them", sources.Sanitize(name))
		}
	}
	if len(raw.Clusters) == 0 && f.cluster.overrides.ClusterInfo.Server == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, "", errNoCluster
		}
		return config, "the cluster", nil
	}
	config, err = f.cluster.loader().ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errNoCluster
	case err != nil:
		return nil, "", fmt.Errorf("the kubeconfig does not lead to a cluster: %s", oneLine(err))
	}
	if name == "" {
		name = config.Host
	}
	return config, name, nil
}

// oneLine is err's text in one line, safe to show.
func oneLine(err error) sources.SafeText {
	return sources.Sanitize(strings.TrimSpace(strings.ReplaceAll(err.Error(), "\n", " ")))
}

// Within ends what cmd does after lasts, counted from now. 0 is never.
func Within(cmd *cobra.Command, lasts time.Duration) (cancel context.CancelFunc) {
	if lasts == 0 {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), lasts)
	cmd.SetContext(ctx)
	return cancel
}

// Collect watches the cluster until the command is stopped, or for as long as lasts once it is attached to,
// and returns what it saw as a recording.
func (f *KubeFlags) Collect(cmd *cobra.Command, lasts time.Duration) (*sources.Recording, error) {
	stream, err := f.Open(cmd)
	if err != nil {
		return nil, err
	}
	return timeline.Collect(cmd.Context(), stream, timeline.Draining{Lasts: lasts, Status: cli.NewTeller(cmd.ErrOrStderr()).Tell})
}

// Open finds the cluster, and whether it can be watched.
func (f *KubeFlags) Open(cmd *cobra.Command) (sources.Stream, error) {
	ctx := cmd.Context()
	release, err := cli.SchedulerRelease(cmd)
	if err != nil {
		return nil, err
	}
	source, host, err := f.source(cmd)
	if err != nil {
		return nil, err
	}
	sparesMemory()
	err = source.Check(ctx, host)
	if only := f.Namespace(); errors.Is(err, live.ErrForbidden) && only != "" {
		source = source.Only(only)
		err = source.Check(ctx, host)
	}
	if err != nil {
		return nil, err
	}
	stream, err := f.beside(cmd, source)
	if err != nil || release == "" {
		return stream, err
	}
	return sources.StreamWithRelease(stream, release), nil
}

// sparesMemory has garbage collected sooner: a large cluster's objects arrive all at once and then stay, and twice their
// size would be taken otherwise.
func sparesMemory() { debug.SetGCPercent(50) }

// Examine finds out what schedq can have of the cluster.
func (f *KubeFlags) Examine(cmd *cobra.Command) (*doctor.Findings, error) {
	source, host, err := f.source(cmd)
	if err != nil {
		return nil, err
	}
	if only := f.Namespace(); only != "" {
		source = source.Only(only)
	}
	return doctor.Examine(cmd.Context(), source, host), nil
}

// source returns the cluster, with the user's credentials, and the URL of its API server. Nothing was asked yet.
func (f *KubeFlags) source(cmd *cobra.Command) (source *live.Source, host string, err error) {
	config, name, err := f.config()
	if err != nil {
		return nil, "", err
	}
	if source, err = f.newSource(cmd, config, name); err != nil {
		return nil, "", err
	}
	return source, config.Host, source.Login(cmd.Context(), func(sentence string) { fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", sentence) })
}

// newSource returns the cluster that config leads to, of which nothing was asked yet.
func (f *KubeFlags) newSource(cmd *cobra.Command, config *rest.Config, name string) (*live.Source, error) {
	leaseNamespace, lease, ok := strings.Cut(f.lease, "/")
	if f.lease != "" && (!ok || leaseNamespace == "" || lease == "") {
		return nil, cli.Usagef("--scheduler-lease %s is not a NAMESPACE/NAME", sources.Sanitize(f.lease))
	}
	memory, err := cli.Memory(cmd)
	if err != nil {
		return nil, err
	}
	return live.New(config, live.Options{
		Name: name, LeaseNamespace: leaseNamespace, LeaseName: lease, UserAgent: "schedq/" + cmd.Root().Version,
		MaxAnswer: memory / 16, MaxList: memory / 4, // as much of 4Gi as the defaults are
	})
}

// beside adds what the scheduler itself tells to source, as far as it is asked for.
func (f *KubeFlags) beside(cmd *cobra.Command, source *live.Source) (sources.Stream, error) {
	var others []sources.Stream
	switch {
	case f.metrics == "proxy":
		others = append(others, source.ProxiedMetrics())
	case f.metrics == "eks":
		others = append(others, source.EKSMetrics())
	case f.metrics != "":
		m, err := live.NewMetrics(f.metrics, live.MetricsOptions{TokenFile: f.metricsToken, Insecure: f.cluster.overrides.ClusterInfo.InsecureSkipTLSVerify})
		if err != nil {
			return nil, cli.Usagef("--scheduler-metrics: %w", err)
		}
		others = append(others, m)
	}
	if pod, isPod := strings.CutPrefix(f.log, "pod:"); isPod {
		pod, container := withContainer(pod)
		key, err := sources.ParsePod(pod)
		if err != nil {
			return nil, cli.Usagef("--scheduler-log: %w", err)
		}
		others = append(others, source.PodLog(key.Namespace, key.Name, container))
	} else if f.log != "" {
		log, err := source.FollowLog(cmd.Context(), f.log, cmd.InOrStdin())
		if err != nil {
			return nil, fmt.Errorf("--scheduler-log: %w", err)
		}
		others = append(others, log)
	}
	return live.Beside(source, others...), nil
}

// withContainer splits NAMESPACE/NAME/CONTAINER; without a third part there is no container.
func withContainer(pod string) (key, container string) {
	if parts := strings.SplitN(pod, "/", 3); len(parts) == 3 {
		return parts[0] + "/" + parts[1], parts[2]
	}
	return pod, ""
}
