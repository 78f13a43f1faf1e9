// Package files opens recordings: one file or several of the same run, of any format that schedq reads.
// Formats are detected from what is in a file, never from its name.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/marks"
	"github.com/schedq/schedq/sources/metrics"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/trace"
	"github.com/schedq/schedq/sources/watched"
	"github.com/schedq/schedq/sources/workload"
)

// Options are what Open needs of the world. The zero value will do.
type Options struct {
	// Stdin is read for the path "-". Nil means os.Stdin.
	Stdin io.Reader
	// Now is the latest that a scheduler's log, whose times have no year, can have been written when
	// nothing else tells. Zero means now.
	Now time.Time
	// Beside is a recording of the same run that was read before, or nil. It tells a scheduler's log its
	// year, and files that can't be of its run are an error.
	Beside *sources.Recording
	// Seeds are files, folders and archives that hold the objects of the cluster at one moment near the begin of the
	// logs: see sources/seed.
	Seeds []string
	// Window is what is cut out of a ring's folder, of which then there is one alone.
	Window ring.Window
	// Token is for a path that is the URL of a recorder's recording.
	Token remote.Token
	// Strict makes what of a file can't be read an error. Otherwise it is left out, and the recording's notices
	// tell.
	Strict bool
	// Memory limits the bytes of memory that the data kept of the files and playing it take. Zero stands for 4 GiB,
	// and less for a small compressed file.
	Memory int64
	// Gist, if it is set, allows long recordings, and traces that exceed Memory, to be streamed: they are read once now, and again by
	// Recording.Again. Each function that it returns receives the events of one reading; the last one has then received
	// the recording's.
	Gist func() func(sources.Event)
	// AtFirst, if it is set, is shown a long recording before all of it was read: with Unread, and with what its beginning tells
	// as its gist. Open goes on reading once AtFirst returns, and what it returns tells all that there is to know.
	AtFirst func(*sources.Recording)
	// LongFrom is from how many bytes of text on a recording is long. Zero stands for 128 MiB.
	LongFrom int64
}

// Open reads the files, all to their ends and at the same time, and merges them. An error is one
// sentence that names the file, the line and the cause. Events of equal times are in the order audit,
// trace, watched, schedlog, metrics, marks.
func Open(ctx context.Context, paths []string, opts Options) (*sources.Recording, error) {
	if len(paths) == 0 {
		return nil, errors.New("no file is given")
	}
	for i, p := range paths {
		if slices.Contains(paths[:i], p) {
			return nil, fmt.Errorf("%s is given twice", sources.Sanitize(p))
		}
	}
	if opts.Stdin == nil {
		opts.Stdin = os.Stdin
	}
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	rec, err := openOnce(ctx, paths, opts)
	if lines.IsTooMuchKept(err) {
		if streamed := streamTrace(ctx, paths, opts); streamed != nil {
			return streamed, nil
		}
	}
	return rec, err
}

// openOnce is Open with valid arguments, but returns an error if the recording is too much to keep.
func openOnce(ctx context.Context, paths []string, opts Options) (*sources.Recording, error) {
	files, err := detectAll(ctx, paths, opts)
	if err != nil {
		return nil, err
	}
	if isLong(files, opts) {
		return openLong(ctx, name(paths), files, opts)
	}
	if isLongJoined(files, opts) {
		if rec, err := openLongJoined(ctx, name(paths), files, opts); rec != nil || err != nil {
			return rec, err
		}
		if files, err = detectAll(ctx, paths, opts); err != nil {
			return nil, err
		}
	}
	if isLongRing(files, opts) {
		return openLongRing(ctx, name(paths), files[0], opts)
	}
	if isLongTrace(files, opts) {
		if rec, err := openLongTrace(ctx, name(paths), files[0], opts); rec != nil || err != nil {
			return rec, err
		}
		if files, err = detectAll(ctx, paths, opts); err != nil {
			return nil, err
		}
	}
	if err := readAll(ctx, files); err != nil {
		return nil, err
	}
	files, notices, err := withoutLeftOut(withOthers(files))
	if err != nil {
		return nil, err
	}
	if opts.Beside != nil {
		if err := sameRunAs(ctx, opts.Beside, files, podsOfEach(files)); err != nil {
			return nil, err
		}
	}
	seeds, said, err := readSeeds(ctx, opts)
	if err != nil {
		return nil, err
	}
	rec, err := assemble(name(paths), files, seeds)
	if err == nil {
		rec.Notices = slices.Concat(notices, said, rec.Notices)
	}
	return rec, err
}

// Read reads a recording from r, as Open does from one file. The name is what the recording is called.
func Read(ctx context.Context, name string, r io.Reader) (*sources.Recording, error) {
	safe := string(sources.Sanitize(name))
	lr, err := lines.New(ctx, safe, time.Time{}, io.NopCloser(r))
	if err != nil {
		return nil, err
	}
	f := &file{reader: lr}
	defer func() { f.reader.Close() }()
	if err := f.detect(ctx); err != nil {
		return nil, err
	}
	f.year.NotAfter = time.Now()
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	all, notices, err := withoutLeftOut(withOthers([]*file{f}))
	if err != nil {
		return nil, err
	}
	rec, err := assemble(sources.SafeText(safe), all, nil)
	if err == nil {
		rec.Notices = append(notices, rec.Notices...)
	}
	return rec, err
}

// name is what to call a recording of these files.
func name(paths []string) sources.SafeText {
	first := filepath.Base(paths[0])
	if paths[0] == "-" {
		first = "standard input"
	}
	switch n := len(paths) - 1; n {
	case 0:
	case 1:
		first += " and 1 other"
	default:
		first += fmt.Sprintf(" and %d others", n)
	}
	return sources.Sanitize(first)
}

// file is one of the files being read.
type file struct {
	reader  *lines.Reader
	format  string
	strict  bool
	found   bool // in a folder or in an archive: if it is not what it looks like, it is left out
	place   place
	leftOut error
	// unwrapped is set if the lines were taken out of something.
	unwrapped *unwrapped
	hint      time.Time // a time from its first line
	year      schedlog.Year

	both    bool   // its first lines are an audit log's and a scheduler's
	other   *file  // the log of the other kind that was found in it, or nil
	besides string // what became of lines of the other kind that can't be read
	budget  *lines.Budget
	memory  int64            // of a budget of its own, when it is read again
	begins  *lines.Beginning // what is read of it then, or nil for all

	part     *sources.Part
	log      *audit.Log         // instead of part, until all audit logs are put in order
	ring     *ringFile          // what is read in place of the reader's lines, or nil
	scenario *scenario.Scenario // instead of part
	workload *workload.Part     // instead of part
}

// detectAll opens the files and finds out what they are.
func detectAll(ctx context.Context, paths []string, opts Options) (files []*file, err error) {
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	var near time.Time
	budget := lines.NewBudget(opts.Memory)
	all, err := places(ctx, paths, opts, recordings())
	if err != nil {
		return nil, err
	}
	if !opts.Window.IsZero() && (len(all) != 1 || !all[0].ring) {
		return nil, fmt.Errorf("a window is cut out of the folder of a ring, and %s is none: schedq record --ring makes one, and an URL has its own ?from=&to=", name(paths))
	}
	for _, p := range all {
		r, err := p.open(ctx)
		if err != nil {
			return files, err
		}
		f := &file{reader: r, strict: opts.Strict, found: p.found, place: p, memory: opts.Memory}
		files = append(files, f)
		if err := f.detect(ctx); err != nil {
			return files, err
		}
		if p.ring {
			if err := f.openRing(ctx, budget, opts); err != nil {
				return files, err
			}
		}
		f.budget = budget
		f.reader.Spend(budget)
		if opts.Strict {
			f.reader.Strict()
		}
		if near.IsZero() {
			near = f.hint
		}
	}
	if near.IsZero() && opts.Beside != nil && len(opts.Beside.Tells()) > 0 {
		near = opts.Beside.Tells()[0].Time
	}
	for _, f := range files {
		f.year = schedlog.Year{Near: near, NotAfter: f.reader.ModTime()}
		if f.year.NotAfter.IsZero() || f.year.NotAfter.After(opts.Now) {
			f.year.NotAfter = opts.Now
		}
	}
	return files, nil
}

func closeAll(files []*file) {
	for _, f := range files {
		f.reader.Close()
	}
}

// readAll reads all files, each in a goroutine of its own.
func readAll(ctx context.Context, files []*file) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer closeAll(files)
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() {
			errs[i] = f.read(ctx)
			if f.found && errs[i] != nil && ctx.Err() == nil {
				f.leftOut, errs[i] = errs[i], nil
			}
			if errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	go func() {
		<-ctx.Done()
		closeAll(files) // nobody needs the others any more
	}()
	wg.Wait()
	// The first failure is the cause; the others only say that they were stopped.
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return nil
}

func (f *file) read(ctx context.Context) (err error) {
	switch {
	case f.ring != nil:
		f.part, err = f.ring.read(ctx)
		return err
	case f.format == audit.Format || f.format == schedlog.Format:
		return f.readLog(ctx)
	}
	return f.readAs(f.format)
}

// readAs reads the file's lines as that format's.
func (f *file) readAs(format string) (err error) {
	switch format {
	case audit.Format:
		f.log, err = audit.Read(f.reader)
	case trace.Format:
		f.part, err = trace.Read(f.reader)
	case schedlog.Format:
		f.part, err = schedlog.Read(f.reader, f.year)
	case watched.Format:
		f.part, err = watched.Read(f.reader)
	case watched.KwokFormat:
		f.part, err = watched.ReadKwok(f.reader)
	case watched.SharkFormat:
		f.part, err = watched.ReadShark(f.reader)
	case metrics.Format:
		f.part, err = metrics.Read(f.reader)
	case marks.Format:
		f.part, err = marks.Read(f.reader)
	case scenario.Format:
		err = f.readScenario()
	case workload.NodesFormat, workload.PodsFormat:
		f.workload, err = workload.ReadOpenb(f.reader)
		f.part = &sources.Part{Format: format}
	case workload.SimKubeFormat:
		f.workload, err = workload.ReadSimKube(f.reader.Name(), f.reader.Rest())
		f.part = &sources.Part{Format: format}
	}
	return err
}
