package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/cmd/schedq/teller"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
)

// liveFlags name a live cluster, in kubectl's words, and its scheduler.
type liveFlags struct {
	kube          *genericclioptions.ConfigFlags
	allNamespaces bool
	schedulerName string
	lease         string
	metrics       string // where the scheduler's are
	metricsToken  string
	log           string // where the scheduler's is
}

func (f *liveFlags) register(cmd *cobra.Command) {
	f.kube = genericclioptions.NewConfigFlags(true)
	f.kube.CacheDir = nil // nothing is cached
	flags := cmd.Flags()
	f.kube.AddFlags(flags)
	memoryFlag(cmd)
	flags.Lookup("namespace").Usage = "show the pods of this namespace only; where you may not read all, read this one only"
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "show the pods of all namespaces, as without -n")
	flags.StringVar(&f.schedulerName, "scheduler-name", "", "the scheduler whose queue it is: a pod's spec.schedulerName (default \"default-scheduler\", or the names in --scheduler-config)")
	flags.StringVar(&f.lease, "scheduler-lease", "kube-system/kube-scheduler", "the lease that the schedulers' leader holds, as `NAMESPACE/NAME`")
	flags.StringVar(&f.metrics, "scheduler-metrics", "", "compare with the scheduler's own counts: the `URL` of its metrics, or \"proxy\" for its pod, through the API server")
	flags.StringVar(&f.metricsToken, "scheduler-metrics-token-file", "", "the bearer token to read the scheduler's metrics with, in a `FILE`")
	flags.StringVar(&f.log, "scheduler-log", "", "follow the scheduler's log, which at -v=5 tells every move: a `FILE`, or pod:NAMESPACE/NAME through the API server")
}

// pluginArgs are the arguments of a program that was called as path: kubectl calls it kubectl-schedq, and
// then it is about the cluster that kubectl is about.
func pluginArgs(path string, args []string) []string {
	if name := strings.TrimSuffix(filepath.Base(path), ".exe"); name != "kubectl-schedq" {
		return args
	}
	if len(args) > 0 && (!strings.HasPrefix(args[0], "-") || slices.Contains([]string{"-h", "--help", "--version"}, args[0])) {
		return args
	}
	return append([]string{"attach"}, args...)
}

// given reports whether a flag was set that only a live cluster has a use for, and which.
func (f *liveFlags) given(cmd *cobra.Command) (string, bool) {
	if f == nil {
		return "", false
	}
	own := cmd.Flags()
	for _, name := range []string{"kubeconfig", "context", "cluster", "user", "server", "token", "as", "namespace", "all-namespaces", "scheduler-name"} {
		if own.Changed(name) {
			return name, true
		}
	}
	return "", false
}

// namespace is the only one to show. Empty is all.
func (f *liveFlags) namespace() string {
	if f.allNamespaces {
		return ""
	}
	return *f.kube.Namespace
}

// shows reports whether the moves of that namespace's pods are to be shown.
func (f *liveFlags) shows(namespace string) bool {
	only := f.namespace()
	return only == "" || only == namespace
}

// options are opts with the scheduler's name.
func (f *liveFlags) options(opts session.Options) (session.Options, error) {
	opts.Told = f.log != ""
	if f.schedulerName == "" {
		return opts, nil
	}
	if opts.Scheduler == nil {
		cfg, err := cycle.DefaultConfig()
		if err != nil {
			return opts, err
		}
		opts.Scheduler = cfg
	}
	profiles := opts.Scheduler.Profiles
	for _, p := range profiles {
		if p.SchedulerName == f.schedulerName {
			return opts, nil
		}
	}
	if len(profiles) > 1 {
		return opts, usageError{fmt.Errorf("--scheduler-name %s: the configuration has profiles, but none of that name", sources.Sanitize(f.schedulerName))}
	}
	profiles[0].SchedulerName = f.schedulerName
	return opts, nil
}

// config is where the cluster is, and what to call it.
func (f *liveFlags) config() (config *rest.Config, name string, err error) {
	loader := f.kube.ToRawKubeConfigLoader()
	if err := checkKubeconfigs(loader.ConfigAccess()); err != nil {
		return nil, "", err
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, "", fmt.Errorf("the kubeconfig can't be read: %s", oneLine(err))
	}
	if err := f.checkNamedFiles(&raw); err != nil {
		return nil, "", err
	}
	name = raw.CurrentContext
	if *f.kube.Context != "" {
		name = *f.kube.Context
		if raw.Contexts[name] == nil {
			return nil, "", fmt.Errorf("there is no context %s in the kubeconfig: kubectl config get-contexts lists them", sources.Sanitize(name))
		}
	}
	if len(raw.Clusters) == 0 && *f.kube.APIServer == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, "", errors.New("there is no kubeconfig that leads to a cluster: set KUBECONFIG, or name one with --kubeconfig")
		}
		return config, "the cluster", nil
	}
	if config, err = loader.ClientConfig(); err != nil {
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

// within ends what cmd does after lasts, counted from now. 0 is never.
func within(cmd *cobra.Command, lasts time.Duration) (cancel context.CancelFunc) {
	if lasts == 0 {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), lasts)
	cmd.SetContext(ctx)
	return cancel
}

// collect watches the cluster until the command is stopped, or for as long as lasts once it is attached to,
// and returns what it saw as a recording.
func (f *liveFlags) collect(cmd *cobra.Command, lasts time.Duration) (*sources.Recording, error) {
	stream, err := f.open(cmd)
	if err != nil {
		return nil, err
	}
	return session.Collect(cmd.Context(), stream, session.Draining{Lasts: lasts, Status: teller.New(cmd.ErrOrStderr()).Tell})
}

// open finds the cluster, and whether it can be watched.
func (f *liveFlags) open(cmd *cobra.Command) (sources.Stream, error) {
	ctx := cmd.Context()
	config, name, err := f.config()
	if err != nil {
		return nil, err
	}
	// A large cluster's objects arrive all at once and then stay: twice their size would be taken otherwise.
	debug.SetGCPercent(50)
	leaseNamespace, lease, ok := strings.Cut(f.lease, "/")
	if !ok || leaseNamespace == "" || lease == "" {
		return nil, usageError{fmt.Errorf("--scheduler-lease %s is not a NAMESPACE/NAME", sources.Sanitize(f.lease))}
	}
	memory, err := memoryOf(cmd)
	if err != nil {
		return nil, err
	}
	opts := live.Options{
		Name: name, LeaseNamespace: leaseNamespace, LeaseName: lease, UserAgent: "schedq/" + version(),
		MaxAnswer: memory / 16, MaxList: memory / 4, // as much of 4Gi as the defaults are
	}
	source, err := live.New(config, opts)
	if err != nil {
		return nil, err
	}
	if err := source.Login(ctx, func(sentence string) { fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", sentence) }); err != nil {
		return nil, err
	}
	err = source.Check(ctx, config.Host)
	if only := f.namespace(); errors.Is(err, live.ErrForbidden) && only != "" {
		source = source.Only(only)
		err = source.Check(ctx, config.Host)
	}
	if err != nil {
		return nil, err
	}
	return f.beside(cmd, source)
}

// beside adds what the scheduler itself tells to source, as far as it is asked for.
func (f *liveFlags) beside(cmd *cobra.Command, source *live.Source) (sources.Stream, error) {
	var others []sources.Stream
	switch {
	case f.metrics == "proxy":
		others = append(others, source.ProxiedMetrics())
	case f.metrics != "":
		m, err := live.NewMetrics(f.metrics, live.MetricsOptions{TokenFile: f.metricsToken, Insecure: *f.kube.Insecure})
		if err != nil {
			return nil, usageError{fmt.Errorf("--scheduler-metrics: %w", err)}
		}
		others = append(others, m)
	}
	if pod, isPod := strings.CutPrefix(f.log, "pod:"); isPod {
		key, err := sources.ParsePod(pod)
		if err != nil {
			return nil, usageError{fmt.Errorf("--scheduler-log: %w", err)}
		}
		others = append(others, source.PodLog(key.Namespace, key.Name))
	} else if f.log != "" {
		log, err := live.FollowLog(cmd.Context(), f.log, cmd.InOrStdin())
		if err != nil {
			return nil, fmt.Errorf("--scheduler-log: %w", err)
		}
		others = append(others, log)
	}
	return live.Beside(source, others...), nil
}
