package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/schedlog"
)

// One file may hold an audit log's lines and a scheduler's: a journal of all components, a group of a cloud's streams, files that
// were put together. It is read as both, as if each kind had a file of its own.

// isAudit and newScheduler tell the lines of the other kind, in a log of a scheduler and in an audit log.
func isAudit(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	_, is := audit.Sniff(line)
	return is
}

// newScheduler returns a function that is shown each line of an audit log. What klog indents goes with the line before it.
func newScheduler() func(line []byte) bool {
	within := false
	return func(line []byte) bool {
		if len(line) == 0 || line[0] == '{' {
			within = false
			return false
		}
		within = within && (line[0] == '\t' || line[0] == ' ') || schedlog.Sniff(line)
		return within
	}
}

// tellsBoth reports whether a file that begins with head holds lines of both kinds there.
func tellsBoth(head []byte) bool {
	isScheduler, audits, schedulers := newScheduler(), false, false
	for line := range beginnings(head) {
		audits = audits || isAudit(line)
		schedulers = schedulers || isScheduler(line)
	}
	return audits && schedulers
}

// readLog reads an audit log or a scheduler's, and the lines of the other kind in it as a file of their own.
func (f *file) readLog(ctx context.Context) error {
	is, other := isAudit, &file{format: audit.Format, strict: f.strict, found: f.found, place: f.place, year: f.year, budget: f.budget}
	if f.format == audit.Format {
		is, other.format = newScheduler(), schedlog.Format
	}
	d := &divided{ctx: ctx, from: f.reader, other: other}
	f.reader.Divert(is, d)
	err := f.readAs(f.format)
	d.end()
	switch {
	case other.reader == nil || ctx.Err() != nil:
		return err
	case d.err == nil:
		f.other = other
		if errors.Is(err, schedlog.ErrOther) { // the klog lines in it are another program's
			f.leftOut, err = err, nil
		}
	case err == nil && f.strict && !errors.Is(d.err, schedlog.ErrOther):
		return d.err
	case err == nil:
		f.besides = fmt.Sprintf("%v: they are left out", d.err)
	}
	return err
}

// divided reads what is written to it as a file, from its first byte on.
type divided struct {
	ctx   context.Context
	from  *lines.Reader
	other *file
	pipe  *io.PipeWriter // nil until something was written
	done  chan struct{}
	err   error // why it can't be read
}

// Write implements io.Writer.
func (d *divided) Write(text []byte) (int, error) {
	if d.pipe == nil {
		out, in := io.Pipe()
		d.pipe, d.done = in, make(chan struct{})
		go func() {
			defer close(d.done)
			d.err = d.read(out)
			out.CloseWithError(io.ErrClosedPipe) // who writes more need not wait
		}()
	}
	return d.pipe.Write(text)
}

func (d *divided) read(from io.ReadCloser) error {
	name := "kube-scheduler's lines in " + d.from.Name()
	if d.other.format == audit.Format {
		name = "the audit events in " + d.from.Name()
	}
	r, err := lines.New(d.ctx, name, d.from.ModTime(), from)
	if err != nil {
		return err
	}
	d.other.reader = r
	if d.other.budget != nil {
		r.Spend(d.other.budget)
	}
	if d.other.strict {
		r.Strict()
	}
	defer r.Close()
	return d.other.readAs(d.other.format)
}

// end says that nothing more is written, and waits until all is read.
func (d *divided) end() {
	if d.pipe != nil {
		d.pipe.Close()
		<-d.done
	}
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
