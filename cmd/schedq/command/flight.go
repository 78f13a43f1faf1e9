package command

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
)

// flightRecorder is record with --ring.
type flightRecorder struct {
	bounds  []string
	address cli.Metrics
	model   cli.Model
	bound   ring.Bound
}

func (f *flightRecorder) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.bounds, "ring", nil, "keep a window of this `LENGTH`, 24h, or of this size, 2GiB; give both, and the smaller holds")
	f.address.Register(cmd)
	f.model.Register(cmd)
	cli.RegisterToken(cmd, "with --metrics-address, serve the ring at /recording on the loopback interface, to who has the token in this `FILE` (mode 0600)")
}

// given reports whether --ring was given. The error is about the flags.
func (f *flightRecorder) given() (bool, error) {
	if len(f.bounds) == 0 {
		if f.address.CheckLive() != nil {
			return false, cli.Usagef("--metrics-address is for a recorder that goes on: give --ring, too")
		}
		return false, nil
	}
	var err error
	if f.bound, err = ring.ParseBound(f.bounds...); err != nil {
		return true, cli.Usagef("--ring %w", err)
	}
	return true, f.model.CheckLive()
}

// record records the cluster into the ring in a folder until the command is stopped.
func (f *flightRecorder) record(cmd *cobra.Command, cluster *KubeFlags, folder string) error {
	opts, err := f.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	if opts, err = cluster.Options(opts); err != nil {
		return err
	}
	token, err := cli.Token(cmd)
	if err != nil {
		return err
	}
	listener, err := f.address.Listen()
	if err != nil {
		return err
	}
	out, err := ring.Create(cmd.Context(), folder, f.bound)
	if err != nil {
		return err
	}
	stream, err := cluster.Open(cmd)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	recorder := ring.Record(stream, out)
	status := cli.NewTeller(cmd.ErrOrStderr()).Tell
	if listener == nil { // nobody looks at the model's figures
		err = timeline.Drain(cmd.Context(), recorder, timeline.Draining{Status: status})
	} else {
		figures := metrics.New()
		var beside map[string]http.Handler
		if token != (remote.Token{}) {
			beside = map[string]http.Handler{"/recording": remote.Handler(folder, token)}
		}
		metrics.ServeBeside(cmd.Context(), listener, figures.Gather, beside)
		err = timeline.Follow(cmd.Context(), figures.Hear(recorder), opts, timeline.Watching{
			Move:   func(t *board.Transition) error { figures.Add(t); return nil },
			Status: status,
			Idle:   func(board *board.Board, now time.Time) error { figures.Stand(board, now); return nil },
		})
	}
	if err := errors.Join(err, recorder.Close()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %d records went into the ring in %s\n", recorder.Written(), sources.Sanitize(folder))
	return nil
}
