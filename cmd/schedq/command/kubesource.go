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

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/doctor"
)

// withTimeout ends cmd's context after d, counted from now. Without d it never ends.
func withTimeout(cmd *cobra.Command, d time.Duration) (cancel context.CancelFunc) {
	if d == 0 {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), d)
	cmd.SetContext(ctx)
	return cancel
}

// Collect watches the cluster and returns what it saw as a recording: until the command is stopped, or
// for d after attaching if d is not 0.
func (f *kubeFlags) Collect(cmd *cobra.Command, d time.Duration) (*sources.Recording, error) {
	stream, err := f.Open(cmd)
	if err != nil {
		return nil, err
	}
	return timeline.Collect(cmd.Context(), stream, timeline.DrainOptions{Duration: d, Status: cli.NewStatusPrinter(cmd.ErrOrStderr()).Print})
}

// Open checks that the cluster can be watched and returns its stream.
func (f *kubeFlags) Open(cmd *cobra.Command) (sources.Stream, error) {
	ctx := cmd.Context()
	release, err := cli.SchedulerRelease(cmd)
	if err != nil {
		return nil, err
	}
	source, host, err := f.source(cmd)
	if err != nil {
		return nil, err
	}
	collectMoreOften()
	err = source.Check(ctx, host)
	if only := f.Namespace(); errors.Is(err, live.ErrForbidden) && only != "" {
		source = source.Only(only)
		err = source.Check(ctx, host)
	}
	if err != nil {
		return nil, err
	}
	stream, err := f.withSchedulerSources(cmd, source)
	if err != nil || release == "" {
		return stream, err
	}
	return sources.StreamWithRelease(stream, release), nil
}

// collectMoreOften lowers GOGC: a large cluster's objects arrive at once and stay, and the default
// would take twice their size.
func collectMoreOften() { debug.SetGCPercent(50) }

// Examine checks which data sources the cluster offers.
func (f *kubeFlags) Examine(cmd *cobra.Command) (*doctor.Findings, error) {
	source, host, err := f.source(cmd)
	if err != nil {
		return nil, err
	}
	if only := f.Namespace(); only != "" {
		source = source.Only(only)
	}
	return doctor.Examine(cmd.Context(), source, host), nil
}

// source logs in to the cluster and returns it, with the URL of its API server.
func (f *kubeFlags) source(cmd *cobra.Command) (source *live.Source, host string, err error) {
	config, name, err := f.config()
	if err != nil {
		return nil, "", err
	}
	if source, err = f.newSource(cmd, config, name); err != nil {
		return nil, "", err
	}
	return source, config.Host, source.Login(cmd.Context(), func(sentence string) { fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", sentence) })
}

// newSource returns the cluster that config leads to, without sending a request.
func (f *kubeFlags) newSource(cmd *cobra.Command, config *rest.Config, name string) (*live.Source, error) {
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
		MaxAnswer: memory / 16, MaxList: memory / 4, // the same shares of 4Gi as the defaults
	})
}

// withSchedulerSources adds the scheduler's own metrics and log to source, as the flags say.
func (f *kubeFlags) withSchedulerSources(cmd *cobra.Command, source *live.Source) (sources.Stream, error) {
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
		pod, container := splitContainer(pod)
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

// splitContainer splits NAMESPACE/NAME[/CONTAINER].
func splitContainer(pod string) (key, container string) {
	if parts := strings.SplitN(pod, "/", 3); len(parts) == 3 {
		return parts[0] + "/" + parts[1], parts[2]
	}
	return pod, ""
}
