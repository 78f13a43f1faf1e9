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

// format is one that schedq reads.
type format struct {
	// name is the format's name in sources.Recording.
	name string
	// what is what a file of the format is, in the error about a file of none. Empty if another one says it.
	what string
	// is reports whether a file is of the format, by a line from its beginning, and returns a time from that, or the zero time.
	is func(line line) (time.Time, bool)
	// read reads a file, or of a log that is not kept what must be known of it first.
	read func(context.Context, *file) error
	role role
	// withLog is true if what the file tells ends where the schedulers' logs end, if there are some: then it is of a scheduler that has
	// stopped, or of which nothing else is known.
	withLog bool
	// strict is true if the file is one text, and not a list of records.
	strict bool
}

// line is a line from a file's beginning.
type line struct {
	text  []byte
	first bool
	head  []byte // what the file begins with
}

// role is what a file tells in a recording. Of equal times, events are in this order.
type role int8

const (
	changes role = iota // what became of the objects of a cluster
	before              // that, as somebody else recorded it
	moves               // what a scheduler did
	after               // what somebody saw of it
	play                // what a local scheduler plays
)

// formats are all that there are. A file is of the first of them that one of its first lines shows.
func formats() []*format {
	return []*format{
		{name: audit.Format, what: "an audit log of kube-apiserver", is: byLine(audit.Sniff), read: readAudit, role: changes},
		{name: schedlog.Format, what: "a log of kube-scheduler", is: byText(schedlog.Sniff), read: readScheduler, role: moves},
		{name: trace.Format, what: "a trace", is: isTraceLine, read: readTrace, role: before},
		{name: watched.Format, what: "a recording of kube-scheduler-simulator's, kwok's or k8shark's", is: byLine(watched.Sniff), read: partBy(watched.Read), role: before},
		{name: watched.SharkFormat, is: byLine(watched.SniffShark), read: partBy(watched.ReadShark), role: before},
		{name: metrics.Format, what: "counts", is: byLine(metrics.Sniff), read: partBy(metrics.Read), role: after, withLog: true},
		{name: marks.Format, what: "marks", is: byLine(marks.Sniff), read: partBy(marks.Read), role: after},
		{name: watched.KwokFormat, is: byHead(watched.SniffKwok), read: partBy(watched.ReadKwok), role: before},
		{name: scenario.Format, what: "a scenario", is: byHead(scenario.Sniff), read: readScenario, role: play, strict: true},
		{name: workload.SimKubeFormat, what: "a trace of SimKube's", is: byHead(workload.SniffSimKube), read: workloadBy(readSimKube), role: play},
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

// formatOf returns the format that the lines at a file's beginning show, and a time from them. It returns nil if they show none.
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

// listFormats says what schedq reads, for the error about a file of no format.
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

// partBy has read read a file whose events are all kept.
func partBy(read func(*lines.Reader) (*sources.Part, error)) func(context.Context, *file) error {
	return func(ctx context.Context, f *file) error {
		return f.readWith(ctx, func(r *lines.Reader) (err error) {
			f.part, err = read(r)
			return err
		})
	}
}

// workloadBy has read read a file of what a cluster had to do.
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
