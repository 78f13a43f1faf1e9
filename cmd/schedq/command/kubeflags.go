package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// kubeFlags name a live cluster, with kubectl's flags, and its scheduler.
type kubeFlags struct {
	cluster       kubeconfigFlags
	allNamespaces bool
	schedulerName string
	lease         string
	metrics       string // URL, "proxy" or "eks"
	metricsToken  string // a file
	log           string // a file, or pod:NAMESPACE/NAME[/CONTAINER]
	liveOnly      []string
}

// RegisterCluster adds the flags for the cluster and the user to cmd.
func (f *kubeFlags) RegisterCluster(cmd *cobra.Command) {
	cli.RegisterMemory(cmd)
	cli.Group(cmd, cli.GroupKubectl, func() { f.cluster.register(cmd.Flags()) })
	for name := range shownKubectlFlags {
		cli.SetGroup(cmd.Flags().Lookup(name), cli.GroupCluster)
	}
	f.complete(cmd)
}

// Register adds all flags to cmd.
func (f *kubeFlags) Register(cmd *cobra.Command) {
	cli.Group(cmd, cli.GroupCluster, func() { f.register(cmd) })
}

func (f *kubeFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	others := map[string]bool{}
	cli.RegisterMemory(cmd)
	cli.RegisterRelease(cmd)
	set.VisitAll(func(flag *pflag.Flag) { others[flag.Name] = true })
	f.RegisterCluster(cmd)
	set.Lookup("namespace").Usage = "only show the pods of this namespace; read only this one if you may not read all"
	set.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "show the pods of all namespaces (default without -n)")
	set.StringVar(&f.schedulerName, "scheduler-name", "", "show the queue of the scheduler with this name, the pods' spec.schedulerName (default \"default-scheduler\", or the names in --scheduler-config)")
	set.StringVar(&f.lease, "scheduler-lease", "", "leader election lease of the scheduler, as `NAMESPACE/NAME` (default kube-scheduler in kube-system, or in openshift-kube-scheduler)")
	set.StringVar(&f.metrics, "scheduler-metrics", "", "compare with the scheduler's own pod counts: `URL` of its metrics, \"proxy\" to read them from its pod through the API server, or \"eks\" on EKS")
	set.StringVar(&f.metricsToken, "scheduler-metrics-token-file", "", "`FILE` with the bearer token for the scheduler's metrics")
	set.StringVar(&f.log, "scheduler-log", "", "follow the scheduler's log: a `FILE`, or pod:NAMESPACE/NAME[/CONTAINER] through the API server; at -v=5 it contains every move, from -v=2 on the results of attempts")
	set.VisitAll(func(flag *pflag.Flag) {
		if !others[flag.Name] {
			f.liveOnly = append(f.liveOnly, flag.Name)
		}
	})
}

// Changed returns the name of a flag that the command line sets and that needs a live cluster.
func (f *kubeFlags) Changed(cmd *cobra.Command) (name string, changed bool) {
	if f == nil {
		return "", false
	}
	for _, name := range f.liveOnly {
		if cmd.Flags().Changed(name) {
			return name, true
		}
	}
	return "", false
}

// Namespace returns the only namespace to show, or "" for all.
func (f *kubeFlags) Namespace() string {
	if f.allNamespaces {
		return ""
	}
	return f.cluster.overrides.Context.Namespace
}

// Shows reports whether the flags select a namespace.
func (f *kubeFlags) Shows(namespace string) bool {
	only := f.Namespace()
	return only == "" || only == namespace
}

// Options returns opts with the scheduler's name.
func (f *kubeFlags) Options(opts timeline.Options) (timeline.Options, error) {
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
		return opts, cli.Usagef("--scheduler-name %s: no profile of that name in the scheduler's configuration", sources.Sanitize(f.schedulerName))
	}
	profiles[0].SchedulerName = f.schedulerName
	return opts, nil
}
