// Package audit reads kube-apiserver's audit log: audit.k8s.io/v1, JSON Lines, one line for a request.
// Where the policy's level is RequestResponse a line holds the object as it became, and so the log is a
// history of the cluster. A line with a request alone (level Request) is applied to the object that is known, and one with
// neither (Metadata) is skipped, but for the name of an Event.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/apijson"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/objects"
)

// Format is the format's name in sources.Recording.
const Format = "audit"

// maxEntries bounds what is kept of one log.
const maxEntries = 20_000_000

// begin is how an event begins, as kube-apiserver writes it.
const begin = `{"kind":"Event"`

var begins = []string{begin}

// Sniff reports whether a line from a file's beginning is one of an audit log, and a time from it, or the zero
// time. The line need not be whole.
func Sniff(line []byte) (time.Time, bool) {
	line = bytes.TrimLeft(line, " \t\r")
	if i := bytes.LastIndex(line, []byte(begin+`,"apiVersion":"audit.k8s.io/`)); i > 0 && line[0] != '{' { // glued to the rest of a torn one
		line = line[i:]
	}
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.Contains(line[:min(len(line), 1<<16)], []byte(`"audit.k8s.io/`)) {
		return time.Time{}, false
	}
	for _, key := range []string{`"requestReceivedTimestamp":"`, `"stageTimestamp":"`} {
		if _, after, ok := bytes.Cut(line, []byte(key)); ok {
			value, _, _ := bytes.Cut(after[:min(len(after), 64)], []byte(`"`))
			if t, err := time.Parse(time.RFC3339Nano, string(value)); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, true
}

// Log is one audit log, which is read as often as need be: an API server rotates its log, and several servers write one each, so the
// order of what they tell is found over all of them: see Survey. What is known of a log as a whole is known once it was read.
type Log struct {
	// Name is the file's name, safe to show.
	Name string
	// First and Last are the first and last times in the log, also of requests that changed nothing.
	First, Last time.Time
	// Notices are sentences for the person.
	Notices []string
	// Revisions tell whether another log is of the same cluster.
	Revisions OriginRevisions
	// Pods are those that its changes name.
	Pods sources.PodNames

	begins time.Time
	open   Opener
	isKept bool
	items  []item // if it is kept
	// own is what the user kube-scheduler did, called what others did that only call themselves so.
	own, called doings
	hearing     hearing
}

// Opener returns a log at its beginning, and what is to be called at its end.
type Opener func(context.Context) (r *lines.Reader, ended func(), err error)

// NewLog returns a log that begins about then. Zero: that is not known.
func NewLog(begins time.Time, open Opener) *Log { return &Log{begins: begins, open: open} }

// Bindings returns when pods were bound that wanted is true of, as far as the log is kept.
func (l *Log) Bindings(wanted func(types.NamespacedName) bool) map[types.NamespacedName]time.Time {
	bound := map[types.NamespacedName]time.Time{}
	for _, it := range l.items {
		if c := it.change; c != nil && c.op == bind && wanted(c.key) {
			bound[c.key] = c.time
		}
	}
	return bound
}

// item is what a line tells: a change, or what kube-scheduler did.
type item struct {
	read   time.Time // the line's own time: when the request was answered
	what   itemKind
	change *entry
	event  sources.Event // if it is no change
	cost   int           // of memory, in bytes
}

// itemKind says what an item is.
type itemKind int8

const (
	toldChange  itemKind = iota
	toldFailure          // a failed attempt, by its Event
	toldName             // an Event of which its name alone is told
	toldRefusal          // what kube-scheduler asked for and was refused
	toldRequest          // a request of kube-scheduler's, by its user
	toldCall             // a request of what only calls itself kube-scheduler
)

// op is what a request did.
type op int8

const (
	put       op = iota // object is what became of it
	remove              // it is gone; object is its last state, if known
	bind                // pods/binding: node
	terminate           // eviction, or a delete whose answer does not tell: gone at once if not yet assigned
	patchMeta           // answered with metadata only: object is a PartialObjectMetadata
	apply               // not answered: asked is what was asked for
)

// entry is one change.
type entry struct {
	op       op
	kind     objects.Kind
	key      types.NamespacedName
	uid      types.UID
	revision uint64 // etcd's, 0 if the answer did not tell
	time     time.Time
	object   runtime.Object
	meta     *metav1.ObjectMeta // for patchMeta
	node     string             // for bind
	asked    objects.Request    // for apply
	// patched is when kube-scheduler was answered that wrote a pod's status. Zero for other requests.
	patched time.Time
	sent    time.Time // when the API server had that request of kube-scheduler's, or the one that bound a pod
	clears  bool      // that wrote no condition, and took a nomination away
	// created is true if the request made the object.
	created bool
}

// reader holds what is between two lines.
type reader struct {
	lines             *lines.Reader
	log               *Log
	take              func(item) error
	current           event
	taken             int
	cost              int // of the line so far
	changes           []entry
	span              span
	decoder           *sources.Decoder
	silent, responses int // changes without and with the object
	large             tooLarge
}

// Keep reads the log to its end, and keeps what its lines tell: it is not read again. Errors are those of reading.
func (l *Log) Keep(ctx context.Context) error {
	r, ended, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	err = l.read(r, ended, func(it item) error {
		if len(l.items) >= maxEntries {
			return r.Errorf("more than %d changes", maxEntries)
		}
		r.Keep(it.cost)
		l.items = append(l.items, it)
		return nil
	})
	l.isKept = err == nil
	return err
}

// read reads r, the log, to its end and has take take what its lines tell. What is damaged, and the changes of objects that can't be
// taken, are left out, and a notice tells. An error names the file, the line and the cause: nothing in the file can be read.
func (l *Log) read(r *lines.Reader, ended func(), take func(item) error) error {
	*l = *l.again()
	l.Name = r.Name()
	a := &reader{lines: r, log: l, take: take, decoder: sources.NewDecoder(), current: event{texts: apijson.New(json.Unmarshal)}}
	a.decoder.Keep = func(bytes int) { a.cost += bytes }
	if err := r.ReadAll(a.line); err != nil {
		return err
	}
	if a.taken == 0 && l.own.empty() && l.called.empty() && (a.span.first == "" || !r.OnlyCut()) {
		if err := r.Nothing(); err != nil {
			return err
		}
	}
	ended()
	l.First, l.Last, l.hearing = a.span.start(), a.span.end(), a.span.heard
	l.Notices = r.Notices(l.Last)
	if said := a.span.goneBack(); said != "" {
		l.Notices = append(l.Notices, fmt.Sprintf("%s: %s", l.Name, said))
	}
	if said := a.large.String(); said != "" {
		l.Notices = append(l.Notices, fmt.Sprintf("%s: %s", l.Name, said))
	}
	if a.silent > 0 && a.responses == 0 {
		l.Notices = append(l.Notices, fmt.Sprintf("%s: none of the %d changes in this audit log holds the object: "+
			"record pods and nodes with level RequestResponse", l.Name, a.silent))
	}
	return nil
}

// line reads a line: as a rule one event. Most matter so little that only their first members are looked at.
func (a *reader) line(line []byte) error {
	if another(line) && !json.Valid(line) {
		var torn error
		if object, _ := jsonscan.Whole(line); object == nil {
			torn = jsonscan.ErrNotJSON
		}
		return a.lines.Salvage(line, torn, begins, a.salvaged)
	}
	e := &a.current
	rest, whole, err := e.split(line)
	switch {
	case err != nil:
		return a.lines.Salvage(line, err, begins, a.salvaged)
	case whole && len(rest) > 0 && len(bytes.TrimSpace(rest)) > 0:
		if err := a.event(e, line[:len(line)-len(rest)]); err != nil {
			return err
		}
		return a.lines.Salvage(rest, nil, begins, a.salvaged)
	case !whole && !bytes.HasSuffix(bytes.TrimRight(line, " \t"), []byte("}")):
		return a.lines.Salvage(line, jsonscan.ErrNotJSON, begins, a.salvaged)
	}
	return a.event(e, line)
}

// another reports whether what looks like the beginning of another event is in a line. Only one that is torn in a text
// can have it and look whole, if the other's texts are taken for structure and the other way round.
func another(line []byte) bool {
	return len(line) > len(begin) && bytes.Contains(line[len(begin)-len(rare):], []byte(rare+`","apiVersion":"audit.k8s.io/`))
}

// rare is where another event's beginning is looked for: its first letter is not often in such a line, which makes it
// three times as fast.
const rare = "Event"

// salvaged reads an event that was found in a line.
func (a *reader) salvaged(object []byte) error {
	if _, _, err := a.current.split(object); err != nil {
		return a.lines.Unread(err)
	}
	return a.event(&a.current, object)
}

// errNoEvent is about an object that is something else.
var errNoEvent = errors.New("the line is not an event of an audit log")

// event takes what an event tells.
func (a *reader) event(e *event, line []byte) (err error) {
	if e.stage == nil {
		return a.lines.Unread(errNoEvent)
	}
	a.span.add(line, e.stamp)
	a.cost = 0
	if err := a.doings(e); err != nil {
		return err
	}
	if e.failedScheduling() {
		if f, ok := e.failedAttempt(); ok {
			return a.tell(e, item{what: toldFailure, event: f, cost: sources.Cost(f.Fact)})
		}
		return nil
	}
	if f, ok := e.namedEvent(); ok {
		return a.tell(e, item{what: toldName, event: f, cost: sources.Cost(f.Fact)})
	}
	if f, ok := e.refusal(); ok {
		return a.tell(e, item{what: toldRefusal, event: f, cost: sources.CostEntry})
	}
	if !e.changes() {
		return nil
	}
	large := e.isTooLarge(line)
	changes := a.changes[:0]
	asked, isAsked := e.asked()
	switch {
	case isAsked:
		a.cost += len(e.requestObject)
		changes, err = e.appendRequest(changes, asked)
	case large:
		a.large.add(e)
		return nil
	case e.responseObject == nil:
		a.silent++
		return nil
	default:
		a.responses++
		changes, err = e.append(changes, a.decoder, a.lines)
	}
	if err != nil {
		return a.lines.LeftOut(e.about(), err)
	}
	for i := range changes {
		n := changes[i]
		if n.op == remove {
			a.decoder.Forget(n.uid)
		}
		if n.kind.IsPod() {
			a.log.Pods.Add(n.key)
			if n.op == put {
				a.log.Revisions.Add(n.origin(e))
			}
		}
		if err := a.tell(e, item{what: toldChange, change: &n, cost: a.cost + sources.CostEntry}); err != nil {
			return err
		}
		a.cost = 0
	}
	a.changes = changes
	return nil
}

// doings takes in what e tells of the doings of kube-schedulers.
func (a *reader) doings(e *event) error {
	by, what := &a.log.called, toldCall
	if e.isScheduler {
		by, what = &a.log.own, toldRequest
	}
	if by.add(e) {
		a.lines.Keep(sources.CostEntry)
	}
	if at, is := e.request(); is {
		return a.tell(e, item{what: what, event: at, cost: sources.CostEntry})
	}
	return nil
}

// tell hands on what a line tells.
func (a *reader) tell(e *event, it item) error {
	it.read = parse(string(e.stamp))
	a.taken++
	return a.take(it)
}

// about names the object that the event is about, for a person.
func (e *event) about() sources.SafeText {
	if e.name == "" && e.responseObject != nil {
		if _, named := sources.Identity(e.responseObject); !strings.HasPrefix(string(named), "Status ") {
			return named
		}
	}
	return sources.Named(e.kind.Name, e.namespace, e.name)
}
