package files

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/lines"
)

const (
	// longFrom is from how many bytes of text on a recording is long: below, it is faster to read it once and to keep it.
	longFrom = 128 << 20
	// packs is how many bytes of text a byte of a packed file has, about.
	packs = 16
	// atFirst is how many bytes of text of an audit log are read before it is shown, and atFirstEvents how many events of a trace.
	// Measured: either takes less than 100 ms on one core.
	atFirst       = 4 << 20
	atFirstEvents = 4096
)

// isLong reports whether files are so long that they are not kept, where opts allow that: audit logs, each of which can be
// read again.
func isLong(files []*file, opts Options) bool {
	if opts.Gist == nil || opts.Beside != nil {
		return false
	}
	for _, f := range files {
		if f.format != audit.Format || f.both {
			return false
		}
	}
	return areLong(files, opts)
}

// areLong reports whether files have as much text as a long recording, and can be read again.
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
		if archived || f.reader.Packed() || f.unwrapped != nil && f.unwrapped.outer.Packed() {
			text += packs * info.Size()
		} else {
			text += info.Size()
		}
	}
	return text >= cmp.Or(opts.LongFrom, longFrom)
}

// openLong reads audit logs once, and returns a recording that reads them again whenever it is played.
func openLong(ctx context.Context, name sources.SafeText, files []*file, opts Options) (*sources.Recording, error) {
	closeAll(files)
	seeds, said, err := readSeeds(ctx, opts)
	if err != nil {
		return nil, err
	}
	l := long{name, seeds, said, opts}
	if opts.AtFirst != nil {
		if begun, err := l.begin(ctx, files); err == nil { // else what is wrong is found and said below
			begun.Unread = true
			opts.AtFirst(begun)
		}
	}
	return l.read(ctx, files)
}

// long is what a recording of audit logs is made of, beside the logs.
type long struct {
	name  sources.SafeText
	seeds []seedList
	said  []string // of the seeds
	opts  Options
}

// begin is read for the beginning of the logs. What it returns reads them to their ends, too, when it is played.
func (l long) begin(ctx context.Context, files []*file) (*sources.Recording, error) {
	var begun []*file
	whole := lines.NewBeginning(atFirst)
	for _, f := range files {
		own := *f
		own.begins = whole
		begun = append(begun, &own)
	}
	rec, err := l.read(ctx, begun)
	for _, f := range begun {
		f.begins = nil
	}
	return rec, err
}

// read reads the logs once.
func (l long) read(ctx context.Context, files []*file) (*sources.Recording, error) {
	logs, err := survey(ctx, files, len(l.seeds) > 0, l.opts)
	if err != nil {
		return nil, err
	}
	files, notices, err := withoutLeftOut(files)
	if err != nil {
		return nil, err
	}
	rec := &sources.Recording{Name: l.name, Formats: []string{audit.Format}, Again: logs.Events, Notices: slices.Concat(notices, l.said)}
	for i, f := range files {
		f.log = logs.Logs[i]
		if f.log.Last.After(rec.End) {
			rec.End = f.log.Last
		}
		rec.Notices = append(rec.Notices, f.log.Notices...)
	}
	if err := sameRun(files); err != nil {
		return nil, err
	}
	seed, said := sow(l.seeds, logs.First(), rec.End)
	fit := logs.Begin(seed)
	rec.Notices = append(append(rec.Notices, said...), aboutFit(fit, l.seeds, logs.BeginAtWork())...)
	return rec, nil
}

// survey reads the logs once. One that was found and can't be read is left out.
func survey(ctx context.Context, files []*file, seeded bool, opts Options) (*audit.Long, error) {
	memory := opts.Memory
	if memory <= 0 {
		memory = lines.DefaultMemory
	}
	for {
		var all []audit.Source
		var of []*file
		for _, f := range files {
			if f.leftOut == nil {
				of = append(of, f)
				all = append(all, audit.Source{Begins: f.hint, Open: f.again})
			}
		}
		logs, err := audit.Survey(ctx, all, seeded, int(memory), opts.Gist)
		var one *audit.SourceError
		if errors.As(err, &one) && of[one.Index].found && ctx.Err() == nil {
			if of[one.Index].leftOut = one.Err; len(of) > 1 {
				continue
			}
		}
		return logs, err
	}
}

// again opens the file once more, at its beginning.
func (f *file) again(ctx context.Context) (*lines.Reader, func() []string, error) {
	r, err := f.place.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := &file{reader: r, strict: f.strict}
	if err := now.unwrap(ctx); err != nil {
		now.reader.Close()
		return nil, nil, err
	}
	now.reader.Spend(lines.NewBudget(f.memory))
	if f.begins != nil {
		now.reader.Within(f.begins)
	}
	if f.strict {
		now.reader.Strict()
	}
	return now.reader, now.torn, nil
}
