// Package files opens recordings: one or several files of the same run, in any format that schedq reads.
// It detects formats from a file's content, never from its name.
package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/trace"
)

// Options are optional parameters of Open.
type Options struct {
	// Stdin is read for the path "-". Nil means os.Stdin.
	Stdin io.Reader
	// Now limits the year of a scheduler's log, whose times have none, where nothing else shows it. Zero means now.
	Now time.Time
	// Beside is an already opened recording of the same run, or nil. It gives a scheduler's log its
	// year. Files that cannot be of its run are an error.
	Beside *sources.Recording
	// Seeds are files, folders and archives with the objects of the cluster at one moment near the beginning of the
	// logs: see sources/seed.
	Seeds []string
	// Window selects a part of a ring's folder, which must then be the only path.
	Window ring.Window
	// Token is for a path that is the URL of a recorder's recording.
	Token remote.Token
	// Zone is the time zone of schedulers' logs that do not show theirs. Nil means UTC.
	Zone *time.Location
	// Strict makes unreadable data an error. Otherwise it is left out with a notice.
	Strict bool
	// Memory limits the bytes of memory that the data kept of the files and playing it take. Zero stands for 4 GiB,
	// and less for a small compressed file.
	Memory int64
	// Summary, if set, allows Open not to keep long logs, a long trace and a trace that exceeds Memory: it reads them
	// once, and Recording.Reread reads them again. The Summary selects the recording's Events.
	Summary func() Summary
	// AtFirst, if set, receives a long recording before all of it was read: with Unread, and with Events of its
	// beginning. Open goes on reading once AtFirst returns, and returns the complete recording.
	AtFirst func(*sources.Recording)
	// LongFrom is the size in bytes of text from which a recording is long. Zero means 128 MiB.
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
	if lines.ExceedsMemory(err) {
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
	defer closeAll(files)
	r := &reading{name: name(paths), files: files, opts: opts}
	long := opts.Summary != nil && areLong(files, opts)
	audits := true
	for _, f := range files {
		f.keeps = !long || f.format.role != changes && f.format.role != moves
		audits = audits && f.format.role == changes && !f.keeps
	}
	if streams(files, opts) {
		files[0].keeps = false
		if show := opts.AtFirst; show != nil {
			files[0].atFirst = func(rec *sources.Recording) {
				rec.Name = r.name
				show(rec)
			}
		}
	}
	if r.isLong() {
		closeAll(files)
	}
	traces := &lines.Seen{}
	for _, f := range files {
		if len(files) > 1 && f.format.name == trace.Format && f.ring == nil {
			f.seen = traces
		}
	}
	if audits && opts.AtFirst != nil {
		if err := r.readSeeds(ctx); err != nil {
			return nil, err
		}
		r.begun(ctx)
	}
	return r.read(ctx)
}

// Read reads a recording, as Open does from a file that holds text. The name is what the recording is called.
func Read(ctx context.Context, name string, text []byte) (*sources.Recording, error) {
	safe := sources.Sanitize(name)
	f := &file{place: place{open: func(ctx context.Context) (*lines.Reader, error) {
		return lines.New(ctx, string(safe), time.Time{}, io.NopCloser(bytes.NewReader(text)))
	}}, keeps: true, budget: lines.NewBudget(0)}
	var err error
	if f.reader, err = f.place.open(ctx); err != nil {
		return nil, err
	}
	defer closeAll([]*file{f})
	if err := f.detect(ctx); err != nil {
		return nil, err
	}
	f.year.NotAfter = time.Now()
	return (&reading{name: safe, files: []*file{f}}).read(ctx)
}

// name returns the name of a recording of these files.
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
		return nil, fmt.Errorf("a window needs the folder of a ring, and %s is none: schedq record --ring writes one; an URL has its own ?from=&to=", name(paths))
	}
	for _, p := range all {
		r, err := p.open(ctx)
		if err != nil {
			return files, err
		}
		f := &file{reader: r, strict: opts.Strict, found: p.found, place: p, memory: opts.Memory, budget: budget, summary: opts.Summary}
		files = append(files, f)
		if err := f.detect(ctx); err != nil {
			return files, err
		}
		apart, err := f.splitStreams(ctx)
		if err != nil {
			return files, err
		}
		files = append(files, apart...)
		if p.ring {
			if err := f.openRing(ctx, budget, opts); err != nil {
				return files, err
			}
		}
		if near.IsZero() {
			near = f.hint
		}
		if len(files) > mostOpen {
			closeAll(files[len(files)-1:])
		}
	}
	if near.IsZero() && opts.Beside != nil && len(opts.Beside.Events) > 0 {
		near = opts.Beside.Events[0].Time
	}
	for _, f := range files {
		f.year = schedlog.Year{Near: near, NotAfter: f.modTime, Zone: opts.Zone}
		if near.IsZero() {
			f.year.Near = f.dated
		}
		if f.year.NotAfter.IsZero() || f.year.NotAfter.After(opts.Now) {
			f.year.NotAfter = opts.Now
		}
	}
	return files, nil
}

// closeAll closes the readers of files that were detected and not opened since.
func closeAll(files []*file) {
	for _, f := range files {
		if f.reader != nil {
			f.reader.Close()
			f.reader = nil
		}
	}
}

const (
	// mostOpen limits how many files stay open between the detection of their formats and reading, and are read at once.
	mostOpen = 32
	// longFrom is the size in bytes of text from which a recording is long. A shorter one is faster to read once and keep.
	longFrom = 128 << 20
	// packs is the approximate compression ratio of a packed file.
	packs = 16
	// atFirst is how many bytes of an audit log are read before it is shown, and atFirstEvents how many events of a
	// trace. Measured: either takes less than 100 ms on one core.
	atFirst       = 4 << 20
	atFirstEvents = 4096
)

// areLong reports whether files can be read again and are long enough not to be kept.
func areLong(files []*file, opts Options) bool {
	var text int64
	counted := map[string]bool{}
	for _, f := range files {
		if f.place.path == "-" {
			return false
		}
		path := f.place.path
		info, err := os.Stat(path)
		archived := err != nil && f.found
		if archived {
			path = f.place.root
			info, err = os.Stat(path)
		}
		if err != nil || !info.Mode().IsRegular() {
			return false // a pipe is read once
		}
		if counted[path] {
			continue
		}
		counted[path] = true
		if archived || f.packed {
			text += packs * info.Size()
		} else {
			text += info.Size()
		}
	}
	return text >= cmp.Or(opts.LongFrom, longFrom)
}
