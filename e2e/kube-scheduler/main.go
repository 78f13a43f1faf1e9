// Kube-scheduler with this project's queue in the place of its own: the real program, its flags, its plugins and its
// informers, and queue/replacement.
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
			return opts.ComponentGlobalsRegistry.Set() // the feature gates, before anything asks for one
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), opts) },
	}
	for _, f := range opts.Flags.FlagSets {
		command.Flags().AddFlagSet(f)
	}
	os.Exit(cli.Run(command))
}

// run is upstream's runCommand, with the queue replaced before the scheduler begins.
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
		return fmt.Errorf("can't put the queue in the place of kube-scheduler's own: %w", err)
	}
	klog.FromContext(ctx).Info("The scheduling queue is schedq's")
	if err := app.Run(ctx, config, scheduler); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	return nil
}
