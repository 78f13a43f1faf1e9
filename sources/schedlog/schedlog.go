// Package schedlog reads kube-scheduler's own log, in klog's text format. It is the ground truth: from
// -v=5 on, the scheduler says of every pod when it moved to which queue and why.
//
// The wording read is v1.37's (scheduling_queue.go, active_queue.go, backoff_queue.go, schedule_one.go,
// eventhandlers.go), and that of earlier releases, which say "Pod moved" for "Entity moved", spell the
// queues "ActiveQ" or "ActiveQueue", and write hint as a string, as a number or not at all.
package schedlog

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "schedlog"

// maxLeap is how far a line's time may lie before the line above it and still count as the same moment:
// goroutines take their time first and write then.
const maxLeap = time.Second

// Sniff reports whether head, the first bytes of a file, looks like a klog text log. Whether
// kube-scheduler wrote it, Read tells.
func Sniff(head []byte) bool {
	for range 200 {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		line, _, _ = unwrap(line)
		if _, ok := parseHeader(line); ok {
			return true
		}
		if !more {
			return false
		}
		head = rest
	}
	return false
}

// Read reads a log to its end. Its events are *sources.SchedulerStarted and *sources.Move, in the order
// of the lines; where the scheduler's goroutines wrote lines out of the order of their times, the later
// line gets the earlier one's time.
//
// An error names the file and the line: it is not a log of kube-scheduler, or a pod's name is none.
func Read(r *lines.Reader, year Year) (*sources.Part, error) {
	p := &parser{lines: r, clock: clock{hint: year}, part: &sources.Part{Format: Format}}
	p.reset()
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if r.Cut() {
			// A cut-off value may look whole: default/web-1 of default/web-12.
			p.cut = true
			break
		}
		if err := p.read(line); err != nil {
			return nil, err
		}
	}
	return p.finish(r)
}

// origin is where lines come from.
type origin interface {
	Name() string
	Line() int
	Errorf(format string, args ...any) error
}

// parser holds what is between two lines.
type parser struct {
	lines origin
	clock clock
	part  *sources.Part
	cut   bool

	pods    map[string]*pod // by namespace/name as the log spells it
	names   interned        // of plugins, events, nodes
	now     time.Time       // of the line being read
	last    time.Time       // of the last event
	end     header          // of the last line
	known   int             // lines that only kube-scheduler writes
	moves   int
	entity  bool   // the wording of v1.37 was seen
	partial []byte // a line that a container runtime broke in pieces

	settings *settings // being gathered, before "Starting Kubernetes Scheduler"
	started  []*sources.SchedulerStarted
	block    func(line []byte) // takes the indented lines of a multi-line value
}

func (p *parser) read(line []byte) error {
	line, stamp, partial := unwrap(line)
	if stamp != nil && p.clock.last.IsZero() {
		if t, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil {
			p.clock.hint.Near = t
		}
	}
	if partial || len(p.partial) > 0 {
		if len(p.partial)+len(line) > lines.MaxLine {
			return p.lines.Errorf("the line is longer than %d MiB", lines.MaxLine>>20)
		}
		p.partial = append(p.partial, line...)
		if partial {
			return nil
		}
		line = p.partial
		defer func() { p.partial = p.partial[:0] }()
	}
	h, ok := parseHeader(line)
	if !ok {
		if p.block != nil {
			p.block(line)
		}
		return nil
	}
	p.block = nil
	p.end = h
	if p.part.First.IsZero() {
		p.part.Saw(p.clock.time(&h))
	}
	if len(h.rest) == 0 {
		return nil
	}
	if h.rest[0] != '"' {
		if flag, ok := bytes.CutPrefix(h.rest, []byte("FLAG: --")); ok {
			p.settings.flag(flag)
		}
		return nil
	}
	known, err := p.message(&h)
	if known {
		p.known++
	}
	return err
}

// emit adds an event at the current line's time.
func (p *parser) emit(f sources.Fact) {
	t := p.now
	if t.Before(p.last) && p.last.Sub(t) < maxLeap {
		t = p.last
	}
	p.last = t
	p.part.Add(t, f)
}

func (p *parser) finish(r *lines.Reader) (*sources.Part, error) {
	name := r.Name()
	if p.known == 0 {
		return nil, fmt.Errorf("%s: this is not a kube-scheduler log: none of its %d lines is one that kube-scheduler writes",
			name, r.Line())
	}
	p.part.Saw(p.clock.time(&p.end))
	if p.cut {
		p.part.Notices = append(p.part.Notices, r.CutNotice(p.part.Last))
	}
	if p.moves == 0 {
		p.part.Notices = append(p.part.Notices,
			name+": no pod moves in this log: kube-scheduler writes them at -v=5 and above")
	}
	p.complete()
	return p.part, nil
}
