package files

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/marks"
	"github.com/schedq/schedq/sources/metrics"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/trace"
	"github.com/schedq/schedq/sources/watched"
	"github.com/schedq/schedq/sources/workload"
)

// format is a format that schedq reads.
type format struct {
	// name is the format's name in sources.Recording.
	name string
	// what names a file of the format in the error about an unknown format. Empty if another format's covers it.
	what string
	// is reports whether a line from a file's beginning shows the format, and returns a time from the line or zero.
	is func(line line) (time.Time, bool)
	// read reads a file. Of a log that is not kept, it reads only what must be known before its first event.
	read func(context.Context, *file) error
	role role
	// withLog is true if events after the end of the schedulers' logs are left out: they are of a scheduler that has
	// stopped or of which nothing else is known.
	withLog bool
	// strict is true if the file is one text, and not a list of records.
	strict bool
}

// line is a line from a file's beginning.
type line struct {
	text  []byte
	first bool
	head  []byte // the beginning of the file
}

// role is what a file contributes to a recording. Events of equal times are in this order.
type role int8

const (
	changes role = iota // changes of a cluster's objects
	before              // the same, recorded by another program
	moves               // the work of a scheduler
	after               // observations of it
	play                // a scenario for a local scheduler
)

// formats returns all formats. A file has the first of them that one of its first lines shows.
func formats() []*format {
	return []*format{
		{name: audit.Format, what: "an audit log of kube-apiserver", is: byLine(audit.Sniff), read: readAudit, role: changes},
		{name: schedlog.Format, what: "a log of kube-scheduler", is: byText(schedlog.Sniff), read: readScheduler, role: moves},
		{name: trace.Format, what: "a trace", is: isTraceLine, read: readTrace, role: before},
		{name: watched.Format, what: "a recording of kube-scheduler-simulator, kwok or k8shark", is: byLine(watched.Sniff), read: partBy(watched.Read), role: before},
		{name: watched.SharkFormat, is: byLine(watched.SniffShark), read: partBy(watched.ReadShark), role: before},
		{name: metrics.Format, what: "counts", is: byLine(metrics.Sniff), read: partBy(metrics.Read), role: after, withLog: true},
		{name: marks.Format, what: "marks", is: byLine(marks.Sniff), read: partBy(marks.Read), role: after},
		{name: watched.KwokFormat, is: byHead(watched.SniffKwok), read: partBy(watched.ReadKwok), role: before},
		{name: scenario.Format, what: "a scenario", is: byHead(scenario.Sniff), read: readScenario, role: play, strict: true},
		{name: workload.SimKubeFormat, what: "a SimKube trace", is: byHead(workload.SniffSimKube), read: workloadBy(readSimKube), role: play},
		{name: workload.NodesFormat, what: "a table of openb", is: isTable(workload.NodesFormat), read: workloadBy(workload.ReadOpenb), role: play},
		{name: workload.PodsFormat, is: isTable(workload.PodsFormat), read: workloadBy(workload.ReadOpenb), role: play},
	}
}

func byLine(is func([]byte) (time.Time, bool)) func(line) (time.Time, bool) {
	return func(l line) (time.Time, bool) { return is(l.text) }
}

func byText(is func([]byte) bool) func(line) (time.Time, bool) {
	return func(l line) (time.Time, bool) { return time.Time{}, is(l.text) }
}

func byHead(is func([]byte) bool) func(line) (time.Time, bool) {
	return func(l line) (time.Time, bool) { return time.Time{}, l.first && is(l.head) }
}

func isTraceLine(l line) (at time.Time, is bool) {
	if _, is = trace.Sniff(l.text); is {
		at = firstTime(l.head)
	}
	return at, is
}

func isTable(name string) func(line) (time.Time, bool) {
	return func(l line) (time.Time, bool) { return time.Time{}, l.first && workload.SniffOpenb(l.text) == name }
}

// formatOf returns the format that the lines at a file's beginning show and a time from them, or nil.
func formatOf(head []byte) (*format, time.Time) {
	all, first := formats(), true
	for text := range beginnings(head) {
		for _, f := range all {
			if at, is := f.is(line{text, first, head}); is {
				return f, at
			}
		}
		first = false
	}
	return nil, time.Time{}
}

// formatNamed returns the format of that name.
func formatNamed(name string) *format {
	all := formats()
	return all[slices.IndexFunc(all, func(f *format) bool { return f.name == name })]
}

// listFormats lists the formats for the error about an unknown one.
func listFormats() string {
	var all []string
	for _, f := range formats() {
		if f.what != "" {
			all = append(all, f.what)
		}
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// partBy returns a format's read for files whose events are all kept.
func partBy(read func(*lines.Reader) (*sources.Part, error)) func(context.Context, *file) error {
	return func(ctx context.Context, f *file) error {
		return f.readWith(ctx, func(r *lines.Reader) (err error) {
			f.part, err = read(r)
			return err
		})
	}
}

// workloadBy returns a format's read for files that contain a workload.
func workloadBy(read func(*lines.Reader) (*workload.Part, error)) func(context.Context, *file) error {
	return func(ctx context.Context, f *file) error {
		return f.readWith(ctx, func(r *lines.Reader) (err error) {
			f.workload, err = read(r)
			f.part = &sources.Part{Format: f.format.name}
			return err
		})
	}
}

func readSimKube(r *lines.Reader) (*workload.Part, error) {
	return workload.ReadSimKube(r.Name(), r.Rest())
}
