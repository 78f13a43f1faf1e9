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

// contextsToAttach returns a function that lists the contexts of the kubeconfig, for the screen to
// attach to. Attaching records to the state directory if record is true.
func contextsToAttach(cmd *cobra.Command, cluster *kubeFlags, options timeline.Options, record bool) func() ([]tui.Recording, error) {
	options.StartOffset, options.Paused, options.SchedulerRelease = 0, false, ""
	return func() ([]tui.Recording, error) {
		names, err := cluster.Contexts()
		var all []tui.Recording
		for _, name := range names {
			all = append(all, tui.Recording{
				Name: name, Title: name, Description: "Attach to this context, like schedq attach --context.", Source: sourceOfCluster(name),
				Open: func(ctx context.Context, _ func(share float64)) (*session.Session, error) {
					stream, err := cluster.OpenContext(ctx, cmd, name)
					if err != nil {
						return nil, err
					}
					if record {
						recorder, _, err := startRecording(cmd.Context(), stream, time.Now())
						if err != nil {
							return nil, fmt.Errorf("%w; use --no-recording to attach without a recording", err)
						}
						stream = recordedStream{recorder}
					}
					return session.NewLive(stream, options), nil
				},
			})
		}
		return all, err
	}
}

// recordedStream closes its recording when the stream ends.
type recordedStream struct{ *trace.Recorder }

var _ sources.Stream = recordedStream{}

// Run implements sources.Stream.
func (r recordedStream) Run(ctx context.Context) error {
	return errors.Join(r.Recorder.Run(ctx), r.Close())
}

// sourceOfCluster returns the key under which the screen remembers its view of a cluster.
func sourceOfCluster(name string) string { return "cluster " + name }
