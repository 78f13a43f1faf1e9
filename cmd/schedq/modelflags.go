package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
)

// modelFlags say how the modelled scheduler is set up: with its own configuration file and feature gates.
type modelFlags struct {
	config string
	gates  string
}

func (f *modelFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "scheduler-config", "", "the scheduler's KubeSchedulerConfiguration `FILE`, as for its --config")
	cmd.Flags().StringVar(&f.gates, "feature-gates", "", "the scheduler's feature gates, a `LIST` as for its own flag: SchedulerPopFromBackoffQ=false,...")
}

// options are a session's, with the modelled scheduler as it was asked for. Without any flag, what a
// recording tells of its scheduler counts.
func (f *modelFlags) options() (session.Options, error) {
	if f.config == "" && f.gates == "" {
		return session.Options{}, nil
	}
	cfg, err := f.load()
	if err != nil {
		return session.Options{}, err
	}
	if err := cycle.Check(cfg); err != nil {
		return session.Options{}, fmt.Errorf("%s: %w", f.config, err)
	}
	return session.Options{Scheduler: cfg}, nil
}

// load sets the feature gates and then reads the configuration, which depends on them. Gates are of the
// whole process (see cycle.SetFeatureGates), so load must come before anything that asks upstream's code.
func (f *modelFlags) load() (*cycle.Config, error) {
	if err := cycle.SetFeatureGates(f.gates); err != nil {
		return nil, usageError{fmt.Errorf("--feature-gates: %w", err)}
	}
	if f.config == "" {
		return cycle.DefaultConfig()
	}
	return cycle.ReadConfig(f.config)
}
