package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Flags name a live cluster, in kubectl's words, and its scheduler.
type KubeFlags struct {
	cluster       kubeconfigFlags
	allNamespaces bool
	schedulerName string
	lease         string
	metrics       string // where the scheduler's are
	metricsToken  string
	log           string   // where the scheduler's is
	names         []string // of the flags
}

// RegisterCluster adds the flags to cmd that name the cluster, and the user.
func (f *KubeFlags) RegisterCluster(cmd *cobra.Command) {
	cli.RegisterMemory(cmd)
	f.cluster.register(cmd.Flags())
	f.complete(cmd)
}

// Register adds all flags to cmd.
func (f *KubeFlags) Register(cmd *cobra.Command) {
	set := cmd.Flags()
	others := map[string]bool{}
	cli.RegisterMemory(cmd)
	cli.RegisterRelease(cmd)
	set.VisitAll(func(flag *pflag.Flag) { others[flag.Name] = true })
	f.RegisterCluster(cmd)
	set.Lookup("namespace").Usage = "show the pods of this namespace only; where you may not read all, read this one only"
	set.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "show the pods of all namespaces, as without -n")
	set.StringVar(&f.schedulerName, "scheduler-name", "", "the scheduler whose queue it is: a pod's spec.schedulerName (default \"default-scheduler\", or the names in --scheduler-config)")
	set.StringVar(&f.lease, "scheduler-lease", "", "the lease that the schedulers' leader holds, as `NAMESPACE/NAME` (default kube-scheduler in kube-system, or in openshift-kube-scheduler)")
	set.StringVar(&f.metrics, "scheduler-metrics", "", "compare with the scheduler's own counts: the `URL` of its metrics, \"proxy\" for its pod, through the API server, or \"eks\" for those that EKS serves")
	set.StringVar(&f.metricsToken, "scheduler-metrics-token-file", "", "the bearer token to read the scheduler's metrics with, in a `FILE`")
	set.StringVar(&f.log, "scheduler-log", "", "follow the scheduler's log, which at -v=5 tells every move, and from -v=2 on how attempts end: a `FILE`, or pod:NAMESPACE/NAME[/CONTAINER] through the API server")
	set.VisitAll(func(flag *pflag.Flag) {
		if !others[flag.Name] {
			f.names = append(f.names, flag.Name)
		}
	})
}

// Given reports whether a flag was set that only a live cluster has a use for, and which.
func (f *KubeFlags) Given(cmd *cobra.Command) (string, bool) {
	if f == nil {
		return "", false
	}
	own := cmd.Flags()
	for _, name := range f.names {
		if own.Changed(name) {
			return name, true
		}
	}
	return "", false
}

// Namespace is the only one to show. Empty is all.
func (f *KubeFlags) Namespace() string {
	if f.allNamespaces {
		return ""
	}
	return f.cluster.overrides.Context.Namespace
}

// Shows reports whether the moves of that namespace's pods are to be shown.
func (f *KubeFlags) Shows(namespace string) bool {
	only := f.Namespace()
	return only == "" || only == namespace
}

// Options are opts with the scheduler's name.
func (f *KubeFlags) Options(opts timeline.Options) (timeline.Options, error) {
	if f.schedulerName == "" {
		return opts, nil
	}
	if opts.Scheduler == nil {
		cfg, err := schedulerconfig.Default()
		if err != nil {
			return opts, err
		}
		opts.Scheduler = cfg
	}
	if opts.Scheduler.HasProfile(f.schedulerName) {
		return opts, nil
	}
	profiles := opts.Scheduler.Profiles
	if len(profiles) > 1 {
		return opts, cli.Usagef("--scheduler-name %s: the configuration has profiles, but none of that name", sources.Sanitize(f.schedulerName))
	}
	profiles[0].SchedulerName = f.schedulerName
	return opts, nil
}
