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
	// second are the files to show beside the first, if any.
	second []string
	// readOn reads the rest of the recording and updates the session. Nil: all is read.
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

// opener opens the recordings to show, and reports its progress. The second is nil unless two are compared.
type opener func(ctx context.Context, report func(tui.Progress)) (first, second *sources.Recording, err error)

// show opens a recording and shows it on the screen, from opens after its start. If loading is not empty, it is the name on the page
// that shows the progress. The modelled scheduler's plugins are made meanwhile: they and the recording take most of the time until
// the first frame.
func (f *screenFlags) show(cmd *cobra.Command, loading string, open opener, opens time.Duration) error {
	options, err := f.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	var plugins errgroup.Group
	plugins.Go(func() (err error) {
		options, err = cli.Plugins(options)
		return err
	})
	defer cli.AddThreads()()
	load := func(ctx context.Context, report func(tui.Progress)) (func() (*session.Session, tui.Options, error), error) {
		first, second, err := open(ctx, report)
		if err != nil {
			return nil, err
		}
		return func() (*session.Session, tui.Options, error) {
			if err := plugins.Wait(); err != nil {
				return nil, tui.Options{}, err
			}
			return f.session(cmd, first, second, options, opens)
		}, nil
	}
	if loading != "" {
		err = tui.RunLoad(cmd.Context(), loading, f.display.Options(nil), load)
	} else {
		create, failed := load(cmd.Context(), nil)
		if failed != nil {
			return failed
		}
		shown, others, failed := create()
		if failed != nil {
			return failed
		}
		err = tui.Run(cmd.Context(), shown, others)
	}
	if errors.Is(err, tui.ErrNoTerminal) {
		return fmt.Errorf("%w; schedq watch and schedq report work without one", err)
	}
	return err
}

// session returns the session that plays first, and the options of its screen.
func (f *screenFlags) session(cmd *cobra.Command, first, second *sources.Recording, options timeline.Options, opens time.Duration) (*session.Session, tui.Options, error) {
	var none tui.Options
	first, err := f.model.Rerun(first)
	if err != nil {
		return nil, none, err
	}
	cli.LimitMemoryFor(first, cli.ScreenMemory)
	options = f.display.Session(options)
	options.Paused, options.Speed, options.StartOffset = f.paused, f.speed, opens
	if options.Memory, err = cli.Memory(cmd); err != nil {
		return nil, none, err
	}
	options.OpenArchive = scratchFiles(cmd.Context())
	listener, err := f.metrics.Listen()
	if err != nil {
		return nil, none, err
	}
	at, err := cli.ParseTime(first, "--at", f.at)
	if err != nil {
		return nil, none, err
	}
	shown := session.New(first, options)
	if f.at != "" {
		shown.Seek(at)
	}
	metrics.Serve(cmd.Context(), listener, metrics.OfSession(shown), nil)
	others := withRecordings(cmd, f.display.Options(embeddedRecordings(options)), options)
	others.Clusters = contextsToAttach(cmd, defaultKubeFlags(), options, true)
	if f.readOn != nil {
		others.ReadOn = func(ctx context.Context) { f.readOn(ctx, shown) }
	}
	if second != nil {
		if second, err = f.model.Rerun(second); err != nil {
			return nil, none, err
		}
		others.Beside = &tui.Beside{Name: string(second.Name), Session: session.New(second, options), Source: sourceOfFiles(f.second)}
	}
	return shown, others, nil
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
	return f.show(cmd, "", func(context.Context, func(tui.Progress)) (*sources.Recording, *sources.Recording, error) {
		rec, err := cli.OpenEmbedded(cmd, name)
		if err != nil {
			return nil, nil, err
		}
		rec.Name = sources.SafeText(info.Title)
		return rec, nil, nil
	}, info.Opens)
}

// showFiles shows files of one run, and f.second beside them. Files that can't be read are reported before the board appears.
func (f *screenFlags) showFiles(cmd *cobra.Command, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.display.Source = sourceOfFiles(paths)
	if !canShowLoading(paths) || !canShowLoading(f.second) {
		return f.show(cmd, "", func(context.Context, func(tui.Progress)) (first, second *sources.Recording, err error) {
			if f.second != nil {
				if second, err = cli.OpenFiles(cmd, f.second, cli.ScreenMemory); err != nil {
					return nil, nil, err
				}
			}
			first, err = cli.OpenFiles(cmd, paths, cli.ScreenMemory)
			return first, second, err
		}, 0)
	}
	if f.at != "" || f.second != nil || f.model.Reruns() { // they need all of it
		return f.showWhole(cmd, paths)
	}
	r, err := startReading(cmd, paths)
	if err != nil {
		return err
	}
	defer r.stop()
	f.readOn = r.follow
	err = f.show(cmd, r.name, func(ctx context.Context, report func(tui.Progress)) (first, second *sources.Recording, err error) {
		first, err = r.await(ctx, report)
		return first, nil, err
	}, 0)
	return r.finish(cmd, err)
}

// canShowLoading reports whether the screen can show the progress of reading the files: it can't while standard input is read.
func canShowLoading(paths []string) bool { return !slices.Contains(paths, "-") && tui.HasTerminal() }

// showWhole reads the files, and f.second, to their ends before it shows them. Notices about them appear once the screen is gone.
func (f *screenFlags) showWhole(cmd *cobra.Command, paths []string) error {
	var all []func(ctx context.Context, report func(tui.Progress)) (*sources.Recording, error)
	for _, run := range [][]string{paths, f.second} {
		if run == nil {
			continue
		}
		open, err := cli.FileOpener(cmd, run, cli.LoadCallbacks{})
		if err != nil {
			return err
		}
		name := filepath.Base(run[0])
		all = append(all, func(ctx context.Context, report func(tui.Progress)) (*sources.Recording, error) {
			return open(disk.Counted(ctx, func(share float64, read, size int64) {
				report(tui.Progress{Name: name, Share: share, Read: read, Size: size})
			}))
		})
	}
	var opened [2]*sources.Recording
	err := f.show(cmd, filepath.Base(paths[0]), func(ctx context.Context, report func(tui.Progress)) (first, second *sources.Recording, err error) {
		for i, open := range all {
			if opened[i], err = open(ctx, report); err != nil {
				return nil, nil, err
			}
		}
		return opened[0], opened[1], nil
	}, 0)
	if err != nil {
		return err
	}
	for _, rec := range opened {
		if rec != nil {
			cli.PrintNotices(cmd, rec)
		}
	}
	return nil
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
				options.StartOffset = e.Opens
				return session.New(rec, options), nil
			},
		})
	}
	return list
}

// withRecordings returns o with the recordings that attach made, and with a way to open other files.
func withRecordings(cmd *cobra.Command, o tui.Options, options timeline.Options) tui.Options {
	options.StartOffset, options.Paused = 0, true
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
	o.Arguments = argumentsOf
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

// argumentsOf returns the arguments with which commands read the files or the embedded recording with that key. It returns nil for
// clusters.
func argumentsOf(source string) []string {
	if name, ok := strings.CutPrefix(source, sourceOfRecording("")); ok {
		return []string{"--recording", name}
	}
	if source == "" || strings.HasPrefix(source, sourceOfCluster("")) {
		return nil
	}
	return strings.Split(source, "\n")
}

// sourceOfRecording returns the key under which the screen remembers its view of an embedded recording.
func sourceOfRecording(name string) string { return "recording " + name }
