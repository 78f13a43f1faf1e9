package command

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/trace"
	"github.com/schedq/schedq/tui"
)

// NewAttach returns schedq attach.
func NewAttach() *cobra.Command {
	var cluster KubeFlags
	var model cli.Model
	var screen attachFlags
	cmd := &cobra.Command{
		Use:   "attach",
		Short: "Show the queue of a live cluster",
		Long: `attach watches a cluster as kubectl would, with kubectl's own flags, and shows the scheduler's queue: what
the cluster tells of it is observed, the rest is worked out by kube-scheduler's own plugins. schedq only
reads. What it sees is recorded in the state directory, to be played again; the path is printed at the end.`,
		Example: "  schedq attach\n  schedq attach --context prod -n training\n  kubectl schedq --as operator",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := model.CheckLive(); err != nil {
				return err
			}
			opts, err := model.Options(cmd.Context())
			if err == nil {
				opts, err = cluster.Options(opts)
			}
			if err != nil {
				return err
			}
			return screen.show(cmd, &cluster, opts)
		},
	}
	cluster.Register(cmd)
	model.Register(cmd)
	screen.register(cmd)
	return cmd
}

// attachFlags are those of the screen of a live cluster.
type attachFlags struct {
	look        cli.Look
	noRecording bool
	metrics     cli.Metrics
}

func (f *attachFlags) register(cmd *cobra.Command) {
	f.look.Register(cmd)
	cmd.Flags().BoolVar(&f.noRecording, "no-recording", false, "do not record what is shown into the state directory")
	f.metrics.Register(cmd)
}

// show takes the screen and shows the cluster on it. What can be wrong with the cluster or with the
// recording is found before.
func (f *attachFlags) show(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options) error {
	if !term.IsTerminal(int(os.Stdout.Fd())) || os.Getenv("TERM") == "dumb" {
		return fmt.Errorf("%w; schedq watch and schedq record work without one", tui.ErrNoTerminal)
	}
	if err := f.look.Check(); err != nil {
		return err
	}
	if only := cluster.Namespace(); only != "" && f.look.Filter.String() == "" {
		if err := f.look.Filter.Set("ns:" + only); err != nil {
			return cli.Usagef("-n: %w", err)
		}
	}
	opts, err := cli.Plugins(opts)
	if err != nil {
		return err
	}
	listener, err := f.metrics.Listen()
	if err != nil {
		return err
	}
	stream, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	var recorder *trace.Recorder
	var path string
	if !f.noRecording {
		if recorder, path, err = beginRecording(cmd.Context(), stream, time.Now()); err != nil {
			return fmt.Errorf("%w; --no-recording goes on without a recording", err)
		}
		stream = recorder
	}
	opts.Past = played(cmd.Context())
	shown := session.NewLive(stream, f.look.Session(opts))
	f.look.Source = sourceOfCluster(string(shown.Frame().Name))
	metrics.Serve(cmd.Context(), listener, metrics.OfSession(shown))
	options := withRecordings(cmd, f.look.Options(embeddedRecordings(opts)), opts)
	options.Clusters = clusters(cmd, cluster, f.look.Session(opts), !f.noRecording)
	defer cli.Responsive()()
	err = tui.Run(cmd.Context(), shown, options)
	if recorder != nil {
		if closing := recorder.Close(); closing != nil {
			err = errors.Join(err, closing)
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "schedq: the recording is %s\n", sources.Sanitize(path))
		}
	}
	return err
}
