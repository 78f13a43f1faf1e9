package files

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/workload"
	"github.com/schedq/schedq/sources/wrapped"
)

// file is one of the files that are read.
type file struct {
	place  place
	name   string
	format *format
	strict bool
	found  bool          // in a folder or in an archive: if it is not what it looks like, it is left out
	reader *lines.Reader // at the beginning, until it is opened for the first time
	// unwrapped is set if the reader's lines were taken out of something.
	unwrapped *unwrapped
	wrapper   *wrapped.Wrapper // nil if nothing carries the lines
	stream    *string          // that of the wrapper\'s streams that the file is, or nil for all of them
	modTime   time.Time
	packed    bool
	hint      time.Time // a time from its first lines
	dated     time.Time // a date in what carries them
	year      schedlog.Year

	keeps  bool             // what is read of it is kept
	budget *lines.Budget    // for what is kept of all files
	memory int64            // for what is kept of a file that is read again
	begins *lines.Beginning // what is read of it, or nil for all
	// summary selects of what a file tells that is not kept.
	summary func() Summary
	atFirst func(*sources.Recording) // is shown the beginning of a trace that is not kept, or nil

	// A file may hold an audit log's lines and a scheduler's: a journal of all components, a group of a cloud's streams, files that
	// were put together. Then there are two files at its place.
	beside  bool   // it is the second of them: what is wrong with the place is counted by the first
	first   string // the format of the first then
	mixed   bool   // lines of the other kind were skipped
	other   *file  // that holds these, or nil
	besides string // why they can't be read

	torn    string // why the lines end before what holds them does
	known   bool   // all of this is
	leftOut error  // why it is left out

	part     *sources.Part // its time and notices, and unless it is a log its events
	log      *audit.Log
	sched    *schedlog.Log
	repeated time.Time          // up to then another file has the same lines
	shown    *shown             // of a scheduler's log that is not kept
	selected Summary            // of a trace that is not kept
	events   int                // that such a trace had
	ring     *ringFile          // what is read in place of the lines, or nil
	scenario *scenario.Scenario // instead of part
	workload *workload.Part     // instead of part
}

// open returns the file at its beginning, and what is to be called at its end.
func (f *file) open(ctx context.Context) (*lines.Reader, func(), error) {
	now := &file{reader: f.reader, unwrapped: f.unwrapped, strict: f.strict, stream: f.stream}
	if f.reader = nil; now.reader != nil {
		context.AfterFunc(ctx, now.reader.Close)
	} else {
		var err error
		if now.reader, err = f.place.open(ctx); err != nil {
			return nil, nil, err
		}
		if err := now.unwrap(ctx); err != nil {
			now.reader.Close()
			return nil, nil, err
		}
	}
	r := now.reader
	if f.keeps {
		r.Spend(f.budget)
	} else {
		r.Spend(lines.NewBudget(f.memory))
	}
	if f.begins != nil {
		r.Within(f.begins)
	}
	if f.strict || f.format.strict {
		r.Strict()
	}
	switch {
	case f.beside:
		r.Rename(f.name)
		r.Only(otherLines(f.first))
	case f.format.role == changes || f.format.role == moves:
		r.Except(otherLines(f.format.name))
	}
	return r, func() {
		if !f.known && !f.beside {
			f.mixed, f.torn = r.Skipped(), now.whyTorn()
		}
	}, nil
}

// whyTorn says why the lines end before what holds them does, if they do.
func (f *file) whyTorn() string {
	if f.unwrapped == nil || f.unwrapped.torn == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v: what comes then is left out", f.reader.Name(), f.unwrapped.torn)
}

// readWith opens the file and has read read it.
func (f *file) readWith(ctx context.Context, read func(*lines.Reader) error) error {
	r, ended, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	defer ended()
	return read(r)
}

// load reads the file as far as it has to be read before anything can be told, and the lines of the other kind in it.
func (f *file) load(ctx context.Context) error {
	return f.loadOther(ctx, f.format.read(ctx, f))
}

// loadOther loads the lines of the other kind in a file of which reading the rest ended with err, once it is known that there are some.
func (f *file) loadOther(ctx context.Context, err error) error {
	if !f.mixed || f.other != nil || f.besides != "" || ctx.Err() != nil {
		return err
	}
	other := &file{place: f.place, stream: f.stream, name: "kube-scheduler's lines in " + f.name, format: formatNamed(schedlog.Format), strict: f.strict, found: f.found,
		modTime: f.modTime, hint: f.hint, year: f.year, keeps: f.keeps, budget: f.budget, memory: f.memory, begins: f.begins, beside: true, first: f.format.name, summary: f.summary}
	if f.format.name == schedlog.Format {
		other.name, other.format = "the audit events in "+f.name, formatNamed(audit.Format)
	}
	otherErr := other.format.read(ctx, other)
	switch {
	case otherErr == nil:
		f.other = other
		if errors.Is(err, schedlog.ErrOther) { // the klog lines in it are another program's
			f.leftOut, err = err, nil
		}
	case err == nil:
		return f.leaveOutOther(otherErr)
	}
	return err
}

// leaveOutOther leaves out the lines of the other kind, which can't be read, unless that is an error.
func (f *file) leaveOutOther(cause error) error {
	if f.strict && !errors.Is(cause, schedlog.ErrOther) {
		return cause
	}
	f.other, f.besides = nil, fmt.Sprintf("%v: they are left out", cause)
	return nil
}

// withOthers returns files and the other logs that were found in them.
func withOthers(files []*file) []*file {
	var all []*file
	for _, f := range files {
		all = append(all, f)
		if f.other != nil {
			all = append(all, f.other)
		}
	}
	return all
}

// loadAll loads all files, each in a goroutine of its own.
func loadAll(ctx context.Context, files []*file) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() {
			errs[i] = f.load(ctx)
			if f.found && errs[i] != nil && ctx.Err() == nil {
				f.leftOut, errs[i] = errs[i], nil
			}
			if errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	// The first failure is the cause; the others only say that they were stopped.
	return context.Cause(ctx)
}
