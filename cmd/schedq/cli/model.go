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

// Model say how the modelled scheduler is set up: with its own configuration file and feature gates.
type Model struct {
	config  string
	gates   string
	release string
}

// Register adds the flags to cmd.
func (f *Model) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "scheduler-config", "", "the scheduler's KubeSchedulerConfiguration `FILE`, as for its --config")
	cmd.Flags().StringVar(&f.release, "release", "", "run the recording again under the queue's rules of that release: "+strings.Join(queue.Releases(), ", "))
	cmd.Flags().StringVar(&f.gates, "feature-gates", "", "the scheduler's feature gates, a `LIST` as for its own flag: SchedulerPopFromBackoffQ=false,...")
}

// Given returns the name of the first of the flags that was given, or nothing.
func (f *Model) Given(cmd *cobra.Command) string {
	for _, flag := range []string{"scheduler-config", "release", "feature-gates"} {
		if cmd.Flags().Changed(flag) {
			return flag
		}
	}
	return ""
}

// Options are a session's, with the modelled scheduler as it was asked for. Without any flag, what a
// recording tells of its scheduler counts.
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

// Plugins returns opts with the plugins of the scheduler that is asked for, which is the default one if none is.
func Plugins(opts timeline.Options) (timeline.Options, error) {
	var err error
	if opts.Scheduler != nil {
		opts.Plugins, err = cycle.PluginsOf(opts.Scheduler)
	} else {
		opts.Plugins, err = cycle.InTree()
	}
	return opts, err
}

// Again returns rec as it is to be played: with --release, without what its own scheduler did.
func (f *Model) Again(rec *sources.Recording) (*sources.Recording, error) {
	if f.release == "" {
		return rec, nil
	}
	return session.Rerun(rec, f.release)
}

// Reruns reports whether Again leaves out what the recording's own scheduler did.
func (f *Model) Reruns() bool { return f.release != "" }

// CheckLive returns an error if --release was given: there has to be a recording to run again.
func (f *Model) CheckLive() error {
	if f.release != "" {
		return Usagef("--release runs a recording again: --scheduler-release %s says of which release a cluster's scheduler is", f.release)
	}
	return nil
}

// load sets the feature gates and then reads the configuration, which depends on them. Gates are of the
// whole process (see schedulerconfig.SetFeatureGates), so load must come before anything that asks upstream's code.
func (f *Model) load(ctx context.Context) (*schedulerconfig.Config, error) {
	if err := schedulerconfig.SetFeatureGates(f.gates); err != nil {
		return nil, Usagef("--feature-gates: %w", err)
	}
	if f.config == "" {
		return schedulerconfig.Default()
	}
	return schedulerconfig.Read(ctx, f.config)
}
