// Command kube-scheduler is upstream's program, with its flags, plugins and informers, and this project's
// queue instead of its own; see package replacement.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/cli"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/schedq/schedq/e2e/replacement"
)

func main() {
	opts := options.NewOptions()
	command := &cobra.Command{
		Use:  "kube-scheduler",
		Args: cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return opts.ComponentGlobalsRegistry.Set() // sets the feature gates before their first use
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), opts) },
	}
	for _, f := range opts.Flags.FlagSets {
		command.Flags().AddFlagSet(f)
	}
	os.Exit(cli.Run(command))
}

// run is upstream's runCommand, but replaces the queue before the scheduler starts.
func run(ctx context.Context, opts *options.Options) error {
	if err := logsapi.ValidateAndApply(opts.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, scheduler, err := app.Setup(ctx, opts)
	if err != nil {
		return err
	}
	settings := replacement.Settings{
		Pods:                      config.InformerFactory.Core().V1().Pods().Lister(),
		PodInitialBackoff:         config.ComponentConfig.PodInitialBackoffSeconds,
		PodMaxBackoff:             config.ComponentConfig.PodMaxBackoffSeconds,
		PodMaxInUnschedulablePods: config.PodMaxInUnschedulablePodsDuration,
	}
	if err := replacement.Install(ctx, scheduler, settings); err != nil {
		return fmt.Errorf("replace the scheduling queue: %w", err)
	}
	klog.FromContext(ctx).Info("The scheduling queue is schedq's")
	if err := app.Run(ctx, config, scheduler); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	return nil
}
