package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/trace"
	"github.com/schedq/schedq/tui"
)

// clusters returns what looks for the contexts of the kubeconfig, each a cluster to attach to from the screen. It is recorded
// into the state directory if that is asked for.
func clusters(cmd *cobra.Command, cluster *KubeFlags, options timeline.Options, record bool) func() ([]tui.Recording, error) {
	options.Opens, options.Paused, options.SchedulerRelease = 0, false, ""
	return func() ([]tui.Recording, error) {
		names, err := cluster.Contexts()
		var all []tui.Recording
		for _, name := range names {
			all = append(all, tui.Recording{
				Name: name, Title: name, Description: "Attach to the cluster of this context, as schedq attach --context does.", Source: sourceOfCluster(name),
				Open: func(ctx context.Context, _ func(share float64)) (*session.Session, error) {
					stream, err := cluster.OpenContext(ctx, cmd, name)
					if err != nil {
						return nil, err
					}
					if record {
						recorder, _, err := beginRecording(cmd.Context(), stream, time.Now())
						if err != nil {
							return nil, fmt.Errorf("%w; --no-recording goes on without a recording", err)
						}
						stream = recorded{recorder}
					}
					return session.NewLive(stream, options), nil
				},
			})
		}
		return all, err
	}
}

// recorded is a stream whose recording ends with it.
type recorded struct{ *trace.Recorder }

// Run implements sources.Stream.
func (r recorded) Run(ctx context.Context) error {
	return errors.Join(r.Recorder.Run(ctx), r.Close())
}

// sourceOfCluster is what a cluster is remembered by.
func sourceOfCluster(name string) string { return "cluster " + name }

var _ sources.Stream = recorded{}
