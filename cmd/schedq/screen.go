package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui"
)

// screenFlags are the flags of the commands that open the screen.
type screenFlags struct {
	paused  bool
	speed   float64
	look    lookFlags
	model   modelFlags
	metrics metricsFlag
}

func (f *screenFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.paused, "paused", false, "begin with time standing still")
	cmd.Flags().Float64Var(&f.speed, "speed", 1, fmt.Sprintf("model seconds a second, %g to %d", session.MinSpeed, session.MaxSpeed))
	f.model.register(cmd)
	f.metrics.register(cmd)
	f.look.register(cmd)
}

// show takes the screen and shows rec on it, from opens after its start.
func (f *screenFlags) show(cmd *cobra.Command, rec *sources.Recording, opens time.Duration) error {
	options, err := f.model.options(cmd.Context())
	if err != nil {
		return err
	}
	if rec, err = f.model.again(cmd, rec); err != nil {
		return err
	}
	if options.Scheduler != nil {
		options.Plugins, err = cycle.PluginsOf(options.Scheduler)
	} else {
		options.Plugins, err = cycle.InTree()
	}
	if err != nil {
		return err
	}
	options = f.look.session(options)
	options.Paused, options.Speed, options.Opens = f.paused, f.speed, opens
	listener, err := f.metrics.listen()
	if err != nil {
		return err
	}
	shown := session.New(rec, options)
	metrics.Serve(cmd.Context(), listener, metrics.OfSession(shown))
	err = tui.Run(cmd.Context(), shown, f.look.options(embeddedRecordings(cmd.Context(), options)))
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq watch and schedq report work without one", err)
	}
	return err
}

// check finds mistakes in the flags.
func (f *screenFlags) check() error {
	if !(f.speed >= session.MinSpeed && f.speed <= session.MaxSpeed) { // NaN neither
		return usageError{fmt.Errorf("--speed %g is not within %g and %d", f.speed, session.MinSpeed, session.MaxSpeed)}
	}
	if err := f.look.check(); err != nil {
		return err
	}
	if !f.look.given("speed") {
		f.speed = f.look.config.Speed
	}
	if !f.look.given("paused") {
		f.paused = f.look.config.Paused
	}
	return nil
}

// showEmbedded shows the embedded recording of that name.
func (f *screenFlags) showEmbedded(cmd *cobra.Command, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	rec, err := openEmbedded(cmd, name)
	if err != nil {
		return err
	}
	i := slices.Index(embeddedNames(), name)
	f.look.source = sourceOfRecording(name)
	return f.show(cmd, rec, embedded.All()[i].Opens)
}

// showFiles shows files of one run. Everything that can be wrong with them is found before the screen is
// taken.
func (f *screenFlags) showFiles(cmd *cobra.Command, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	rec, err := openFiles(cmd, paths)
	if err != nil {
		return err
	}
	f.look.source = sourceOfFiles(paths)
	return f.show(cmd, rec, 0)
}

// embeddedRecordings are the embedded recordings, for the list on the screen.
func embeddedRecordings(ctx context.Context, options session.Options) []tui.Recording {
	var list []tui.Recording
	for _, e := range embedded.All() {
		list = append(list, tui.Recording{
			Name: e.Name, Title: e.Title, Description: e.Description, Source: sourceOfRecording(e.Name),
			Open: func() (*session.Session, error) {
				rec, err := embedded.Open(ctx, e.Name)
				if err != nil {
					return nil, err
				}
				options := options
				options.Opens = e.Opens
				return session.New(rec, options), nil
			},
		})
	}
	return list
}

func newReplay() *cobra.Command {
	var screen screenFlags
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Play recordings: files of one run together, in any format",
		Long: `replay plays a recording on the screen. Its files belong to one run and are merged by time: the
objects out of an audit log, the exact moves out of the scheduler's own log. Formats are detected:
a kube-apiserver audit log, a kube-scheduler log (-v=5 or more tells every move), a schedq trace,
the scheduler's pending counts, a driver's marks; plain, gzip or zstd. - is standard input.`,
		Example: "  schedq replay audit.log.gz sched.log.gz\n  kubectl logs -n kube-system kube-scheduler-a | schedq replay -",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return screen.showFiles(cmd, args)
		},
	}
	screen.register(cmd)
	fileFlags(cmd)
	return cmd
}
