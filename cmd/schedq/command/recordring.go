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

// ringFlags are the flags of record with --ring.
type ringFlags struct {
	bounds  []string
	address cli.Metrics
	model   cli.Model
	bound   ring.Bound
}

func (f *ringFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.bounds, "ring", nil, "keep a window of this `LENGTH`, such as 24h or 2GiB; repeat to set both, and the smaller applies")
	f.address.Register(cmd)
	f.model.Register(cmd)
	cli.RegisterToken(cmd, "with --metrics-address, serve the ring at /recording on the loopback interface to clients with the token in `FILE` (mode 0600)")
}

// parse reports whether --ring is set, and checks the flags.
func (f *ringFlags) parse() (bool, error) {
	if len(f.bounds) == 0 {
		if f.address.CheckUnset() != nil {
			return false, cli.Usagef("--metrics-address needs --ring")
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
func (f *ringFlags) record(cmd *cobra.Command, cluster *kubeFlags, folder string) error {
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
	status := cli.NewStatusPrinter(cmd.ErrOrStderr()).Print
	if listener == nil { // without metrics, no model is needed
		err = timeline.Drain(cmd.Context(), recorder, timeline.DrainOptions{Status: status})
	} else {
		figures := metrics.New()
		var handlers map[string]http.Handler
		if token != (remote.Token{}) {
			handlers = map[string]http.Handler{"/recording": remote.Handler(folder, token)}
		}
		metrics.Serve(cmd.Context(), listener, figures.Gather, handlers)
		err = timeline.Follow(cmd.Context(), figures.WithCounts(recorder), opts, timeline.Handlers{
			Move:     func(t *board.Transition) error { figures.Add(t); return nil },
			Verdict:  figures.AddVerdict,
			Unserved: figures.SetUnserved,
			Status:   status,
			Idle:     func(board *board.Board, now time.Time) error { figures.SetBoard(board, now); return nil },
		})
	}
	if err := errors.Join(err, recorder.Close()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "schedq: wrote %d records to the ring in %s\n", recorder.Written(), sources.Sanitize(folder))
	return nil
}
