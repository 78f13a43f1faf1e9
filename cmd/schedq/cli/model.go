package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Model holds the flags of the modelled scheduler: its configuration file, feature gates and release.
type Model struct {
	config  string
	gates   string
	release string
	cmd     *cobra.Command // on whose standard error notices are printed
}

// Register adds the flags to cmd.
func (f *Model) Register(cmd *cobra.Command) { Group(cmd, GroupScheduler, func() { f.register(cmd) }) }

func (f *Model) register(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.config, "scheduler-config", "", "`FILE` with the scheduler's KubeSchedulerConfiguration, as passed to its --config")
	cmd.Flags().StringVar(&f.release, "release", "", "rerun the recording under the queue rules of this release: "+strings.Join(queue.Releases(), ", "))
	CompleteWith(cmd, "release", queue.Releases()...)
	cmd.Flags().StringVar(&f.gates, "feature-gates", "", "`LIST` of the scheduler's feature gates, as passed to it: SchedulerPopFromBackoffQ=false,...")
}

// Changed returns the name of the first flag that the command line sets, or "".
func (f *Model) Changed(cmd *cobra.Command) string {
	for _, flag := range []string{"scheduler-config", "release", "feature-gates"} {
		if cmd.Flags().Changed(flag) {
			return flag
		}
	}
	return ""
}

// Options returns a session's options with the modelled scheduler. Without flags, the recording's own
// scheduler settings apply.
func (f *Model) Options(ctx context.Context) (timeline.Options, error) {
	if f.release != "" {
		if _, err := queue.ForRelease(f.release); err != nil {
			return timeline.Options{}, Usagef("--release: %w", err)
		}
	}
	if f.config == "" && f.gates == "" {
		return timeline.Options{Release: f.release}, nil
	}
	cfg, err := f.load(ctx)
	if err != nil {
		return timeline.Options{}, err
	}
	if err := cycle.Check(cfg); err != nil {
		return timeline.Options{}, fmt.Errorf("%s: %w", f.config, err)
	}
	return timeline.Options{Scheduler: cfg, Release: f.release}, nil
}

// Plugins returns opts with the plugins of its scheduler, or of the default one.
func Plugins(opts timeline.Options) (timeline.Options, error) {
	var err error
	if opts.Scheduler != nil {
		opts.Plugins, err = cycle.PluginsOf(opts.Scheduler)
	} else {
		opts.Plugins, err = cycle.InTree()
	}
	return opts, err
}

// Rerun returns rec for playing under --release, without the moves of its own scheduler. Without the
// flag it returns rec.
func (f *Model) Rerun(rec *sources.Recording) (*sources.Recording, error) {
	if f.release == "" {
		return rec, nil
	}
	return session.Rerun(rec, f.release)
}

// Reruns reports whether --release is set.
func (f *Model) Reruns() bool { return f.release != "" }

// CheckLive returns an error if --release is set: only a recording can be rerun.
func (f *Model) CheckLive() error {
	if f.release != "" {
		return Usagef("--release reruns a recording: use --scheduler-release %s to set the release of a live scheduler", f.release)
	}
	return nil
}

// load sets the feature gates and then reads the configuration, which depends on them. Gates are
// process-wide (see schedulerconfig.SetFeatureGates): call load before any upstream code that reads
// them.
func (f *Model) load(ctx context.Context) (*schedulerconfig.Config, error) {
	ignored, err := schedulerconfig.SetFeatureGates(f.gates)
	if err != nil {
		return nil, Usagef("--feature-gates: %w", err)
	}
	cfg, err := schedulerconfig.Default()
	if f.config != "" {
		cfg, err = schedulerconfig.Read(ctx, f.config)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range append(ignored, cfg.Ignored...) {
		fmt.Fprintf(f.cmd.ErrOrStderr(), "schedq: %s\n", n)
	}
	return cfg, nil
}
