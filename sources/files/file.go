package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	found  bool          // in a folder or an archive: left out if it is not what it looks like
	reader *lines.Reader // at the beginning, until it is opened for the first time
	// unwrapped is set if the reader's lines were extracted from a wrapper.
	unwrapped *unwrapped
	wrapper   *wrapped.Wrapper // nil if there is none
	stream    *string          // that of the wrapper\'s streams that the file is, or nil for all of them
	modTime   time.Time
	packed    bool
	hint      time.Time // a time from its first lines
	dated     time.Time // a date in what carries them
	year      schedlog.Year

	seen   *lines.Seen      // shared with other traces that are kept, or nil
	keeps  bool             // its events are kept
	budget *lines.Budget    // for the kept content of all files
	memory int64            // limits the kept data of a file that is read again
	begins *lines.Beginning // limits the text read, or nil for all
	// summary selects events of a file that is not kept.
	summary func() Summary
	atFirst func(*sources.Recording) // receives the beginning of a trace that is not kept, or nil

	// A file may contain both an audit log's and a scheduler's lines: a journal of all components, a cloud's log group,
	// concatenated files. Then there are two files at its place.
	beside  bool   // it is the second of them: the first counts damage of the place
	first   string // the format of the first
	mixed   bool   // lines of the other kind were skipped
	other   *file  // that holds these, or nil
	besides string // why they can't be read

	torn    string // why the lines end before the wrapper does
	known   bool   // mixed and torn are known
	leftOut error  // why it is left out

	part     *sources.Part // its time and notices, and unless it is a log its events
	log      *audit.Log
	sched    *schedlog.Log
	repeated time.Time          // up to then another file has the same lines
	shown    *shown             // of a scheduler's log that is not kept
	selected Summary            // of a trace that is not kept
	events   int                // number of events of such a trace
	ring     *ringFile          // read in place of the lines, or nil
	scenario *scenario.Scenario // instead of part
	workload *workload.Part     // instead of part
}

// open returns the file at its beginning, and a function to call at its end.
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
	if f.seen != nil {
		r.Share(f.seen)
	}
	if f.strict || f.format.strict {
		r.Strict()
	}
	if f.beside || f.stream != nil {
		r.Rename(f.name)
	}
	switch {
	case f.beside:
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

// whyTorn returns why the lines end before their wrapper does, or "" if they do not.
func (f *file) whyTorn() string {
	if f.unwrapped == nil || f.unwrapped.torn == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v: schedq skips the rest", f.reader.Name(), f.unwrapped.torn)
}

// readWith opens the file and calls read with it.
func (f *file) readWith(ctx context.Context, read func(*lines.Reader) error) error {
	r, ended, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	defer ended()
	return cmp.Or(read(r), r.TryKeep(0))
}

// load reads of the file what must be known before its first event, and the lines of the other kind in it.
func (f *file) load(ctx context.Context) error {
	return f.loadOther(ctx, f.format.read(ctx, f))
}

// loadOther loads the lines of the other kind in a file, if it has some. Reading the first kind ended with err.
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
		if errors.Is(err, schedlog.ErrOther) { // its klog lines are another program's
			f.leftOut, err = err, nil
		}
	case err == nil:
		return f.leaveOutOther(otherErr)
	}
	return err
}

// leaveOutOther leaves out the unreadable lines of the other kind. In strict mode it returns the cause.
func (f *file) leaveOutOther(cause error) error {
	if f.strict && !errors.Is(cause, schedlog.ErrOther) {
		return cause
	}
	f.other, f.besides = nil, fmt.Sprintf("%v: they are left out", cause)
	return nil
}

// withOthers returns files and the other logs found in them.
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
	turns := make(chan struct{}, mostOpen)
	before := make(chan struct{}) // closed when the traces before this one are read: they share what they have seen
	close(before)
	for i, f := range files {
		wait, done := before, func() {}
		if f.seen != nil {
			read := make(chan struct{})
			before, done = read, func() { close(read) }
		}
		if f.found { // a pipe that was named may have the same writer as another one
			turns <- struct{}{}
		}
		wg.Go(func() {
			if f.found {
				defer func() { <-turns }()
			}
			defer done()
			if f.seen != nil {
				<-wait
			}
			errs[i] = f.load(ctx)
			if f.found && errs[i] != nil && ctx.Err() == nil {
				f.leftOut, errs[i] = errs[i], nil
			}
			if errs[i] != nil && !hasNoAttempts(errs[i]) {
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	// The first failure is the cause; the others only say that they were stopped.
	if err := context.Cause(ctx); err != nil {
		return err
	}
	attempts := slices.ContainsFunc(files, func(f *file) bool { return f.sched != nil })
	for i, f := range files {
		switch {
		case errs[i] == nil:
		case !attempts:
			return errs[i]
		default:
			f.leftOut = errs[i]
		}
	}
	return nil
}

// hasNoAttempts reports whether an error is about a scheduler's log without attempts, such as a standby's. It is left out if another
// scheduler's log has some.
func hasNoAttempts(err error) bool {
	_, other := schedlog.WhyOther(err)
	return errors.Is(err, schedlog.ErrOther) && !other
}
