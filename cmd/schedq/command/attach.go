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
	var cluster kubeFlags
	var model cli.Model
	var screen attachFlags
	cmd := &cobra.Command{
		Use:   "attach",
		Short: "Show the queue of a live cluster",
		Long: `Watch a cluster, selected with kubectl's own flags, and show the scheduler's queue. Moves that the
API shows are observed; kube-scheduler's own plugins work out the rest. schedq only reads. It records
what it sees in the state directory and prints the path at the end.`,
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

// attachFlags are the flags of the screen of a live cluster.
type attachFlags struct {
	display     cli.Display
	noRecording bool
	metrics     cli.Metrics
}

func (f *attachFlags) register(cmd *cobra.Command) {
	f.display.Register(cmd)
	cmd.Flags().BoolVar(&f.noRecording, "no-recording", false, "do not record to the state directory")
	f.metrics.Register(cmd)
}

// show checks the flags, the cluster and the recording, and shows the cluster on the screen.
func (f *attachFlags) show(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options) error {
	if !term.IsTerminal(int(os.Stdout.Fd())) || os.Getenv("TERM") == "dumb" {
		return fmt.Errorf("%w; schedq watch and schedq record work without one", tui.ErrNoTerminal)
	}
	if err := f.display.Check(); err != nil {
		return err
	}
	if only := cluster.Namespace(); only != "" && f.display.Filter.String() == "" {
		if err := f.display.Filter.Set("ns:" + only); err != nil {
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
		if recorder, path, err = startRecording(cmd.Context(), stream, time.Now()); err != nil {
			return fmt.Errorf("%w; use --no-recording to attach without a recording", err)
		}
		stream = recorder
	}
	opts.OpenArchive = scratchFiles(cmd.Context())
	shown := session.NewLive(stream, f.display.Session(opts))
	f.display.Source = sourceOfCluster(string(shown.Frame().Name))
	metrics.Serve(cmd.Context(), listener, metrics.OfSession(shown), nil)
	options := withRecordings(cmd, f.display.Options(embeddedRecordings(opts)), opts)
	options.Arguments = func(source string) []string {
		if source == f.display.Source && path != "" {
			return []string{path} // the recording of this session
		}
		return argumentsOf(source)
	}
	options.Clusters = contextsToAttach(cmd, cluster, f.display.Session(opts), !f.noRecording)
	defer cli.AddThreads()()
	err = tui.Run(cmd.Context(), shown, options)
	if recorder != nil {
		if closing := recorder.Close(); closing != nil {
			err = errors.Join(err, closing)
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "schedq: recorded to %s\n", sources.Sanitize(path))
		}
	}
	return err
}
