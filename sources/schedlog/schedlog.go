// Package schedlog reads kube-scheduler's log, in klog's text format. The log is the ground truth: from
// -v=5 on, it contains every move of a pod between queues and its cause, and from -v=2 on how each attempt
// ended.
//
// It reads the wording of v1.37 (scheduling_queue.go, active_queue.go, backoff_queue.go, schedule_one.go,
// eventhandlers.go) and of earlier releases, which write "Pod moved" for "Entity moved", spell the
// queues "ActiveQ" or "ActiveQueue", and write hint as a string, as a number or not at all.
package schedlog

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "schedlog"

// maxPlaces limits how many bindings are kept for comparison with another log.
const maxPlaces = 1000

// maxLeap limits how far a line's time may be before the previous line's and still count as the same moment:
// goroutines take the time first and write later.
const maxLeap = time.Second

// Of the lines that kube-scheduler writes, at most one in 500 is earlier than the one before it (measured in 11 logs). If more than
// one in mostEarly is, and at least fewEarly, another program has changed their order.
const fewEarly, mostEarly = 20, 50

// Sniff reports whether a line from a file's beginning looks like a line of a klog text log. Survey finds out
// whether kube-scheduler wrote it.
func Sniff(line []byte) bool {
	line, _, _ = unwrap(line)
	_, ok := parseHeader(line)
	return ok || afterTorn.Match(line)
}

// afterTorn is a line that follows one which was torn within its header, without a line feed between them.
var afterTorn = regexp.MustCompile(`^[IWEF]\d{4}[ \d:.]{0,20}[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.-]+:\d+\] `)

func newParser(r *lines.Reader, year Year) *parser {
	p := &parser{lines: r, clock: clock{hint: year}, part: &sources.Part{Format: Format}, places: map[types.NamespacedName]time.Time{}}
	if year.Near.IsZero() {
		if near := FindYear(r.Head()); !near.IsZero() {
			p.clock.hint.Near, p.clock.year = near, yearInFile
		}
	}
	p.reset()
	r.CheckTimes(linesClock())
	p.verbosity.keep, p.verbosity.streams, p.verbosity.unplaced = r.Keep, true, p.unplaced
	p.redacted = redacts(r.Head())
	return p
}

// readToEnd reads all lines, and calls read after each and at the end.
func (p *parser) readToEnd(r *lines.Reader, read func() error) error {
	if err := p.readAll(r, read); err != nil {
		return err
	}
	if err := p.conclude(r); err != nil {
		return err
	}
	return read()
}

// readAll reads all lines, and calls read after each.
func (p *parser) readAll(r *lines.Reader, read func() error) error {
	for {
		line, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.Cut() {
			// A cut-off value may look whole: default/web-1 of default/web-12.
			if err := r.CutOff(); err != nil {
				return err
			}
			line = line[:max(0, another(line))] // without the line glued to it
		}
		if err := cmp.Or(p.read(line), read()); err != nil {
			return err
		}
	}
}

// origin is the source of lines.
type origin interface {
	Name() string
	Line() int
	Unread(cause error) error
	ReadInPart(line int, cause error) error
	Skip(cause error)
	Repeated() error
}

// parser is the state between two lines.
type parser struct {
	lines origin
	clock clock
	part  *sources.Part

	pods    map[string]*pod // by namespace/name as the log spells it
	names   interned        // of plugins, events, nodes
	now     time.Time       // of the line being read
	last    time.Time       // of the last event
	highest time.Time       // of all lines so far with an event
	latest  time.Duration   // the longest time from an event to a line about it
	end     header          // of the last line
	known   int             // lines that only kube-scheduler writes
	ofPods  int             // lines about a pod
	early   int             // those that are earlier than the ones before them
	moves   int
	entity  bool   // the wording of v1.37 was seen
	aged    bool   // it is known whether the log is of v1.23 or before
	partial []byte // pieces of a line that a container runtime split
	held    []byte // possibly a line, glued to a torn one without a header
	heldAt  int    // the number of its line

	seen     lines.Seen // lines with facts
	identity identity   // of the line being read
	sample   lineSample
	places   map[types.NamespacedName]time.Time // when pods were bound, of the first

	settings *settings // being gathered, before "Starting Kubernetes Scheduler"
	started  []*sources.SchedulerStarted
	lacks    bool              // the line being read lacks values of its message
	block    func(line []byte) // processes the indented lines of a multi-line value

	diagnosis   diagnosis // of the log, until a line is about a pod
	redacted    bool      // accepts invalid names: see redacts
	unusual     string    // the first of them
	beforeMoves bool      // of a release that logs no moves

	follows   bool // the log is read while it is written
	verbosity verbosity
	election  election
	// workedFrom and workedTo are the times of the first and the last line that only a leader writes.
	workedFrom, workedTo time.Time
	leads                time.Time // when it became the leader. Zero if the log does not show it
}

func (p *parser) read(line []byte) error {
	line, stamp, partial := unwrap(line)
	if stamp != nil && p.clock.last.IsZero() {
		if t, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil {
			p.clock.hint.Near = t.UTC()
		}
	}
	if partial || len(p.partial) > 0 {
		if len(p.partial)+len(line) > lines.MaxLine {
			p.partial = p.partial[:0]
			return p.lines.Unread(errLong)
		}
		p.partial = append(p.partial, line...)
		if partial {
			return nil
		}
		line = p.partial
		defer func() { p.partial = p.partial[:0] }()
	}
	if p.held != nil {
		if err := p.settle(line); err != nil {
			return err
		}
	}
	h, ok := parseHeader(line)
	if !ok {
		p.headless(line)
		return nil
	}
	if stamp != nil && !partial {
		p.clock.see(stamp, &h)
	}
	if !p.aged && bytes.HasPrefix(h.rest, []byte(`"Unable to schedule pod`)) {
		p.aged = true
		stated := len(p.started) > 0 && p.started[len(p.started)-1].Release != ""
		if !stated && bytes.Contains(line[:len(line)-len(h.rest)], []byte(" factory.go:")) { // from v1.24 on in schedule_one.go
			p.now = p.clock.time(&h)
			p.emit(&sources.SchedulerRunning{Release: "v1.23", ReleaseInferred: true, From: sources.ReleaseLogged})
		}
	}
	if i := another(h.rest); i >= 0 {
		return p.glued(line, len(line)-len(h.rest)+i)
	}
	return p.line(&h)
}

// line reads a line after its header.
func (p *parser) line(h *header) error {
	p.block, p.identity = nil, identity{}
	p.end = *h
	if p.part.First.IsZero() {
		p.part.Saw(p.clock.time(h))
	}
	if len(h.rest) == 0 {
		return nil
	}
	if p.ofPods == 0 {
		p.diagnosis.note(h.place, h.rest)
	}
	if isLast(h) {
		return p.ends(h)
	}
	if h.rest[0] != '"' {
		if flag, ok := bytes.CutPrefix(h.rest, []byte("FLAG: --")); ok {
			p.settings.flag(flag)
		}
		if err := p.lease(h); err != nil { // before v1.33
			return err
		}
		if name, ok := bytes.CutPrefix(h.rest, []byte("Attempting to schedule pod: ")); ok && p.ofPods > 0 { // v1.19
			return p.begins(h, name)
		}
		return nil
	}
	known, err := p.message(h)
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

// conclude processes the end of the log.
func (p *parser) conclude(r *lines.Reader) error {
	if p.held != nil {
		if err := p.settle(nil); err != nil {
			return err
		}
	}
	if p.known == 0 {
		return p.diagnosis.refuse(r.Name(), r.Line())
	}
	p.part.Saw(p.clock.time(&p.end))
	p.election.endAt(p.part.Last.Add(1), false)
	begin := p.part.First
	if !p.leads.IsZero() {
		begin = p.leads
	}
	p.verbosity.conclude(begin)
	return nil
}

// nothing returns an error if no line of the log, which has so many events, can be read.
func (p *parser) nothing(r *lines.Reader, events int) error {
	if events > 0 || r.OnlyCut() {
		return nil
	}
	return r.NoContentErr()
}

// notices returns the notices about the log.
func (p *parser) notices(r *lines.Reader) []string {
	notices := r.Notices(p.part.Last)
	if p.early >= fewEarly && p.early > p.ofPods/mostEarly && p.clock.back == 0 {
		notices = append(notices, fmt.Sprintf("%s: %d of its %d lines about pods are earlier than the ones before them: they are not in the order in which kube-scheduler wrote them, so the order of attempts may be wrong", r.Name(), p.early, p.ofPods))
	}
	for _, notice := range p.clock.notices() {
		notices = append(notices, r.Name()+": "+notice)
	}
	if p.unusual != "" {
		notices = append(notices, fmt.Sprintf("%s: names were redacted: pods have names that Kubernetes does not allow, such as %s. Pods with the same name are shown as one", r.Name(), p.unusual))
	}
	if said := p.lacksMoves(); said != "" {
		notices = append(notices, r.Name()+": "+said)
	}
	return notices
}
