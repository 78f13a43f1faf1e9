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

// screenFlags are the flags of the commands that show a recording on the screen.
type screenFlags struct {
	paused  bool
	speed   float64
	at      string // parsed by cli.ParseTime; empty is the start
	display cli.Display
	model   cli.Model
	metrics cli.Metrics
	// second is the recording to compare with, or nil. The screen remembers its view as secondSource.
	second       *sources.Recording
	secondSource string
	// readOn continues reading a recording behind the screen. It is nil if all is read.
	readOn func(context.Context, *session.Session)
}

func (f *screenFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.paused, "paused", false, "start paused")
	cmd.Flags().Float64Var(&f.speed, "speed", 1, fmt.Sprintf("playback speed, %g to %d", session.MinSpeed, session.MaxSpeed))
	cmd.Flags().StringVar(&f.at, "at", "", "start at this `TIME`: 12:03:10 (UTC), +1m30s from the start, or RFC 3339")
	f.model.Register(cmd)
	f.metrics.Register(cmd)
	f.display.Register(cmd)
}

// show opens a recording and shows it on the screen, starting at that distance from its start. It
// creates the modelled scheduler's plugins at the same time: both delay the first frame.
func (f *screenFlags) show(cmd *cobra.Command, open func() (*sources.Recording, error), startAt time.Duration) error {
	options, err := f.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	var plugins errgroup.Group
	plugins.Go(func() (err error) {
		options, err = cli.Plugins(options)
		return err
	})
	rec, err := open()
	if err != nil {
		return err
	}
	if rec, err = f.model.Rerun(rec); err != nil {
		return err
	}
	if err := plugins.Wait(); err != nil {
		return err
	}
	cli.LimitMemoryFor(rec, cli.ScreenMemory)
	options = f.display.Session(options)
	options.Paused, options.Speed, options.Opens = f.paused, f.speed, startAt
	if options.Memory, err = cli.Memory(cmd); err != nil {
		return err
	}
	options.Past = scratchFiles(cmd.Context())
	listener, err := f.metrics.Listen()
	if err != nil {
		return err
	}
	at, err := cli.ParseTime(rec, "--at", f.at)
	if err != nil {
		return err
	}
	shown := session.New(rec, options)
	if f.at != "" {
		shown.Seek(at)
	}
	metrics.Serve(cmd.Context(), listener, metrics.OfSession(shown), nil)
	others := withRecordings(cmd, f.display.Options(embeddedRecordings(options)), options)
	others.Clusters = contextsToAttach(cmd, defaultKubeFlags(), options, true)
	if f.readOn != nil {
		others.ReadOn = func(ctx context.Context) { f.readOn(ctx, shown) }
	}
	if f.second != nil {
		second, err := f.model.Rerun(f.second)
		if err != nil {
			return err
		}
		others.Beside = &tui.Beside{Name: string(second.Name), Session: session.New(second, options), Source: f.secondSource}
	}
	defer cli.AddThreads()()
	err = tui.Run(cmd.Context(), shown, others)
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq watch and schedq report work without one", err)
	}
	return err
}

// scratchFiles returns a function that opens files for played events that left memory.
func scratchFiles(ctx context.Context) func() (archive.File, error) {
	return func() (archive.File, error) {
		state, err := disk.StateFolder()
		if err != nil {
			return nil, err
		}
		return disk.Scratch(ctx, filepath.Join(state, "played"))
	}
}

// check validates the flags and fills them from the configuration.
func (f *screenFlags) check() error {
	if !(f.speed >= session.MinSpeed && f.speed <= session.MaxSpeed) { // also rejects NaN
		return cli.Usagef("invalid --speed %g: use %g to %d", f.speed, session.MinSpeed, session.MaxSpeed)
	}
	if err := f.display.Check(); err != nil {
		return err
	}
	if !f.display.Changed("speed") {
		f.speed = f.display.Config.Speed
	}
	if !f.display.Changed("paused") {
		f.paused = f.display.Config.Paused
	}
	return nil
}

// showEmbedded shows the embedded recording of that name.
func (f *screenFlags) showEmbedded(cmd *cobra.Command, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.display.Source = sourceOfRecording(name)
	var info embedded.Info // zero for an unknown name, which OpenEmbedded reports
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

// showFiles shows the files of one run. A long recording appears while it is read, unless the flags
// need all of it first.
func (f *screenFlags) showFiles(cmd *cobra.Command, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.display.Source = sourceOfFiles(paths)
	if f.at != "" || f.second != nil || f.model.Reruns() || !canShowProgress(paths) {
		return f.show(cmd, func() (*sources.Recording, error) { return f.openFiles(cmd, paths) }, 0)
	}
	r, err := startReading(cmd, paths)
	if err != nil {
		return err
	}
	defer r.stop()
	f.readOn = r.follow
	err = f.show(cmd, func() (*sources.Recording, error) { return r.await(cmd.Context(), f.display.Options(nil)) }, 0)
	return r.finish(cmd, err)
}

// canShowProgress reports whether the screen can show the progress of reading. A recording that is
// typed at the terminal needs the terminal itself.
func canShowProgress(paths []string) bool { return !slices.Contains(paths, "-") && tui.HasTerminal() }

// openFiles is cli.OpenFiles with the progress on the screen, if there is one.
func (f *screenFlags) openFiles(cmd *cobra.Command, paths []string) (*sources.Recording, error) {
	if !canShowProgress(paths) {
		return cli.OpenFiles(cmd, paths, cli.ScreenMemory)
	}
	open, err := cli.FileOpener(cmd, paths, cli.LoadCallbacks{})
	if err != nil {
		return nil, err
	}
	var rec *sources.Recording
	err = tui.Await(cmd.Context(), filepath.Base(paths[0]), f.display.Options(nil), func(ctx context.Context, progress func(share float64, read, size int64)) (err error) {
		rec, err = open(disk.Counted(ctx, progress))
		return err
	})
	if err != nil {
		return nil, err
	}
	cli.PrintNotices(cmd, rec)
	return rec, nil
}

// embeddedRecordings lists the embedded recordings for the screen.
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

// withRecordings returns o with the recordings that attach made, and with a way to open other files.
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
				opts.Stdin = strings.NewReader("") // the screen uses it
				opts.Seeds = nil                   // they belong to the recording of the command line
				rec, err := cli.ReadFiles(disk.Measured(ctx, progress), paths, opts, cli.LoadCallbacks{})
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

// sourceOfFiles returns the key under which the screen remembers its view of files: their paths. It is
// empty for standard input.
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

// sourceOfRecording returns the key under which the screen remembers its view of an embedded recording.
func sourceOfRecording(name string) string { return "recording " + name }
