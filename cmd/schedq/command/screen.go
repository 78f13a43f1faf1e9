package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui"
)

// screenFlags are the flags of the commands that open the screen.
type screenFlags struct {
	paused  bool
	speed   float64
	at      string // the moment that is shown first, or "": see flags.Moment
	look    cli.Look
	model   cli.Model
	metrics cli.Metrics
	// second stands beside what is shown, and is remembered as secondSource. Nil: nothing does.
	second       *sources.Recording
	secondSource string
	// readOn reads on what is shown, and tells the session. Nil: all is read.
	readOn func(context.Context, *session.Session)
}

func (f *screenFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.paused, "paused", false, "begin with time standing still")
	cmd.Flags().Float64Var(&f.speed, "speed", 1, fmt.Sprintf("model seconds a second, %g to %d", session.MinSpeed, session.MaxSpeed))
	cmd.Flags().StringVar(&f.at, "at", "", "begin at this `TIME`: 12:03:10 (UTC), +1m30s from the start, or RFC 3339")
	f.model.Register(cmd)
	f.metrics.Register(cmd)
	f.look.Register(cmd)
}

// show opens a recording, takes the screen and shows it there, from opens after its start. The modelled scheduler's plugins
// are made meanwhile: they and the recording are most of what the first frame waits for.
func (f *screenFlags) show(cmd *cobra.Command, open func() (*sources.Recording, error), opens time.Duration) error {
	options, err := f.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	var making errgroup.Group
	making.Go(func() (err error) {
		options, err = cli.Plugins(options)
		return err
	})
	rec, err := open()
	if err != nil {
		return err
	}
	if rec, err = f.model.Again(rec); err != nil {
		return err
	}
	if err := making.Wait(); err != nil {
		return err
	}
	cli.SpareMemory(rec, cli.RoomToShow)
	options = f.look.Session(options)
	options.Paused, options.Speed, options.Opens = f.paused, f.speed, opens
	if options.Memory, err = cli.Memory(cmd); err != nil {
		return err
	}
	options.Past = played(cmd.Context())
	listener, err := f.metrics.Listen()
	if err != nil {
		return err
	}
	at, err := cli.Moment(rec, "--at", f.at)
	if err != nil {
		return err
	}
	shown := session.New(rec, options)
	if f.at != "" {
		shown.Seek(at)
	}
	metrics.Serve(cmd.Context(), listener, metrics.OfSession(shown))
	others := withRecordings(cmd, f.look.Options(embeddedRecordings(options)), options)
	others.Clusters = clusters(cmd, Unflagged(), options, true)
	if f.readOn != nil {
		others.ReadOn = func(ctx context.Context) { f.readOn(ctx, shown) }
	}
	if f.second != nil {
		second, err := f.model.Again(f.second)
		if err != nil {
			return err
		}
		others.Beside = &tui.Beside{Name: string(second.Name), Session: session.New(second, options), Source: f.secondSource}
	}
	defer cli.Responsive()()
	err = tui.Run(cmd.Context(), shown, others)
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq watch and schedq report work without one", err)
	}
	return err
}

// played opens files for what was played and is not in memory any more.
func played(ctx context.Context) func() (archive.File, error) {
	return func() (archive.File, error) {
		state, err := disk.StateFolder()
		if err != nil {
			return nil, err
		}
		return disk.Scratch(ctx, filepath.Join(state, "played"))
	}
}

// check finds mistakes in the flags.
func (f *screenFlags) check() error {
	if !(f.speed >= session.MinSpeed && f.speed <= session.MaxSpeed) { // NaN neither
		return cli.Usagef("--speed %g is not within %g and %d", f.speed, session.MinSpeed, session.MaxSpeed)
	}
	if err := f.look.Check(); err != nil {
		return err
	}
	if !f.look.Given("speed") {
		f.speed = f.look.Config.Speed
	}
	if !f.look.Given("paused") {
		f.paused = f.look.Config.Paused
	}
	return nil
}

// showEmbedded shows the embedded recording of that name.
func (f *screenFlags) showEmbedded(cmd *cobra.Command, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.look.Source = sourceOfRecording(name)
	var info embedded.Info // of none if there is none of that name, which opening it says
	if i := slices.Index(cli.EmbeddedNames(), name); i >= 0 {
		info = embedded.All()[i]
	}
	return f.show(cmd, func() (*sources.Recording, error) {
		rec, err := cli.OpenEmbedded(cmd, name)
		if err != nil {
			return nil, err
		}
		rec.Name = sources.SafeText(info.Title)
		return rec, nil
	}, info.Opens)
}

// showFiles shows files of one run. Everything that can be wrong with them is found before the screen is
// taken.
func (f *screenFlags) showFiles(cmd *cobra.Command, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.look.Source = sourceOfFiles(paths)
	if f.at != "" || f.second != nil || f.model.Reruns() || !canAwait(paths) { // all of it is asked for
		return f.show(cmd, func() (*sources.Recording, error) { return f.openFiles(cmd, paths) }, 0)
	}
	r, err := beginReading(cmd, paths)
	if err != nil {
		return err
	}
	defer r.end()
	f.readOn = r.tell
	err = f.show(cmd, func() (*sources.Recording, error) { return r.await(cmd.Context(), f.look.Options(nil)) }, 0)
	return r.said(cmd, err)
}

// canAwait reports whether what is said while files are read can be said on the screen. A recording that is typed at the terminal
// needs that itself.
func canAwait(paths []string) bool { return !slices.Contains(paths, "-") && tui.HasTerminal() }

// openFiles is flags.OpenFiles, and shows on the screen how far it is. Without a screen a line on standard error tells as much.
func (f *screenFlags) openFiles(cmd *cobra.Command, paths []string) (*sources.Recording, error) {
	if !canAwait(paths) {
		return cli.OpenFiles(cmd, paths, cli.RoomToShow)
	}
	open, err := cli.Opener(cmd, paths, cli.Meanwhile{})
	if err != nil {
		return nil, err
	}
	var rec *sources.Recording
	err = tui.Await(cmd.Context(), filepath.Base(paths[0]), f.look.Options(nil), func(ctx context.Context, told func(share float64, read, size int64)) (err error) {
		rec, err = open(disk.Counted(ctx, told))
		return err
	})
	if err != nil {
		return nil, err
	}
	cli.Tell(cmd, rec)
	return rec, nil
}

// embeddedRecordings are the embedded recordings, for the list on the screen.
func embeddedRecordings(options timeline.Options) []tui.Recording {
	var list []tui.Recording
	for _, e := range embedded.All() {
		list = append(list, tui.Recording{
			Name: e.Name, Title: e.Title, Description: e.Description, Source: sourceOfRecording(e.Name),
			Open: func(ctx context.Context, _ func(share float64)) (*session.Session, error) {
				rec, err := embedded.OpenToPlay(ctx, e.Name)
				if err != nil {
					return nil, err
				}
				rec.Name = sources.SafeText(e.Title)
				options := options
				options.Opens = e.Opens
				return session.New(rec, options), nil
			},
		})
	}
	return list
}

// withRecordings returns o with the recordings of attach, and with files that the person names.
func withRecordings(cmd *cobra.Command, o tui.Options, options timeline.Options) tui.Options {
	options.Opens, options.Paused = 0, true
	ofFiles := func(title string, paths []string) tui.Recording {
		return tui.Recording{
			Name: filepath.Base(paths[0]), Title: title, Description: strings.Join(paths, " "), Source: sourceOfFiles(paths),
			Open: func(ctx context.Context, progress func(share float64)) (*session.Session, error) {
				opts, err := cli.FileOptions(cmd)
				if err != nil {
					return nil, err
				}
				opts.Stdin = strings.NewReader("") // it is the screen's
				opts.Seeds = nil                   // of the recording that the command line names
				rec, err := cli.OpenLong(disk.Measured(ctx, progress), paths, opts, cli.Meanwhile{})
				if err != nil {
					return nil, err
				}
				return session.New(rec, options), nil
			},
		}
	}
	o.OpenFiles = func(paths []string) tui.Recording { return ofFiles(strings.Join(paths, " "), paths) }
	o.OwnRecordings = func() ([]tui.Recording, error) {
		found, err := listRecordings()
		var all []tui.Recording
		for _, path := range found {
			all = append(all, ofFiles(filepath.Base(path), []string{path}))
		}
		return all, err
	}
	return o
}

// sourceOfFiles is what files are remembered by: their paths. Standard input is not remembered.
func sourceOfFiles(paths []string) string {
	var all []string
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil || path == "-" {
			return ""
		}
		all = append(all, absolute)
	}
	return strings.Join(all, "\n")
}

// sourceOfRecording is what an embedded recording is remembered by.
func sourceOfRecording(name string) string { return "recording " + name }
