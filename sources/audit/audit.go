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

// maxEntries limits how many entries of one log are kept.
const maxEntries = 20_000_000

// begin is the beginning of an event as kube-apiserver writes it.
const begin = `{"kind":"Event"`

var begins = []string{begin}

// Sniff reports whether a line from a file's beginning is from an audit log, and returns a time from it or zero.
// The line may be incomplete.
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

// Log is one audit log. It can be read any number of times. An API server rotates its log, and several servers write one
// each, so Survey finds the order of events across all of them. The facts about a log as a whole are set once it was read.
type Log struct {
	// Name is the file's name, safe to show.
	Name string
	// First and Last are the first and last times in the log, including those of requests that changed nothing.
	First, Last time.Time
	// Notices are sentences for the person.
	Notices []string
	// Revisions show whether another log is of the same cluster.
	Revisions OriginRevisions
	// Pods are the pods that its changes name.
	Pods sources.PodNames
	// Repeated is the number of its changes and requests that are also in a log that was read before.
	Repeated int

	begins time.Time
	open   Opener
	isKept bool
	items  []item // if the log is kept
	// own is the activity of the user system:kube-scheduler, called that of clients that only call themselves kube-scheduler.
	own, called activity
	covered     coverage
}

// Opener returns a log at its beginning, and a function to call at its end.
type Opener func(context.Context) (r *lines.Reader, ended func(), err error)

// NewLog returns a log that begins at about that time. Zero means unknown.
func NewLog(begins time.Time, open Opener) *Log { return &Log{begins: begins, open: open} }

// Bindings returns when the wanted pods were bound, if the log is kept.
func (l *Log) Bindings(wanted func(types.NamespacedName) bool) map[types.NamespacedName]time.Time {
	bound := map[types.NamespacedName]time.Time{}
	for _, it := range l.items {
		if c := it.change; c != nil && c.op == bind && wanted(c.key) {
			bound[c.key] = c.time
		}
	}
	return bound
}

// item is the fact in a line: a change, or an action of kube-scheduler.
type item struct {
	read   time.Time // the line's own time: when the request was answered
	what   itemKind
	change *entry
	event  sources.Event // unless it is a change
	cost   int           // bytes of memory
	id     uint64        // of the line and the item's place in it
}

// itemKind is the kind of an item.
type itemKind int8

const (
	changeItem  itemKind = iota
	failureItem          // a failed attempt, from its Event
	nameItem             // an Event of which the log has only the name
	refusalItem          // a refused request of kube-scheduler
	requestItem          // a request by the user system:kube-scheduler
	callItem             // a request by a client that only calls itself kube-scheduler
)

// op is what a request did.
type op int8

const (
	put       op = iota // object is the new state
	remove              // object is the last state, if known
	bind                // pods/binding: node
	terminate           // eviction, or a delete whose response does not show the result: gone at once if not yet assigned
	patchMeta           // the response has only metadata: object is a PartialObjectMetadata
	apply               // the log has no response: asked is the request
)

// entry is one change.
type entry struct {
	op       op
	kind     objects.Kind
	key      types.NamespacedName
	uid      types.UID
	revision uint64 // etcd's, 0 if the response has none
	time     time.Time
	object   runtime.Object
	meta     *metav1.ObjectMeta // for patchMeta
	node     string             // for bind
	asked    objects.Request    // for apply
	// patched is when a request of kube-scheduler that wrote a pod's status was answered. Zero for other requests.
	patched time.Time
	sent    time.Time // when the API server received that request, or the one that bound a pod
	clears  bool      // that request wrote no condition and removed a nomination
	// created is true if the request made the object.
	created bool
}

// reader is the state between two lines.
type reader struct {
	lines             *lines.Reader
	log               *Log
	take              func(item) error
	current           event
	taken             int
	cost              int    // of the line so far
	text              []byte // of the event
	id                uint64 // of the event's last item, or 0
	changes           []entry
	span              span
	decoder           *sources.Decoder
	silent, responses int // number of changes without and with the object
	large             tooLarge
}

// Keep reads the log to its end and keeps its items, so that it is not read again.
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

// read reads the log r to its end and calls take with its items. It skips damaged lines and invalid objects with a notice.
// An error names the file, the line and the cause: nothing in the file can be read.
func (l *Log) read(r *lines.Reader, ended func(), take func(item) error) error {
	*l = *l.again()
	l.Name = r.Name()
	a := &reader{lines: r, log: l, take: take, decoder: sources.NewDecoder(), current: event{texts: apijson.New(json.Unmarshal)}}
	a.decoder.Keep = func(bytes int) { a.cost += bytes }
	r.CheckTimes(clock())
	if err := r.ReadAll(a.line); err != nil {
		return err
	}
	if a.taken == 0 && l.own.empty() && l.called.empty() && (a.span.first == "" || !r.OnlyCut()) {
		if err := r.NoContentErr(); err != nil {
			return err
		}
	}
	ended()
	l.First, l.Last, l.covered = a.span.start(), a.span.end(), a.span.covered
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

// line reads a line, usually one event. Of most events only the first members need reading.
func (a *reader) line(line []byte) error {
	if a.lines.Repeats(line) {
		return a.lines.Repeated()
	}
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

// another reports whether a line contains an apparent beginning of another event. A line that is torn inside a string and
// glued to another can look whole, with strings and structure exchanged.
func another(line []byte) bool {
	return len(line) > len(begin) && bytes.Contains(line[len(begin)-len(rare):], []byte(rare+`","apiVersion":"audit.k8s.io/`))
}

// rare is the part of an event's beginning to search for: its first letter is rare in such a line, which makes the
// search three times as fast.
const rare = "Event"

// salvaged reads an event found in a damaged line.
func (a *reader) salvaged(object []byte) error {
	if _, _, err := a.current.split(object); err != nil {
		return a.lines.Unread(err)
	}
	return a.event(&a.current, object)
}

// errNoEvent is the error about another JSON object.
var errNoEvent = errors.New("the line is not an event of an audit log")

// event processes an event.
func (a *reader) event(e *event, line []byte) (err error) {
	if e.stage == nil {
		return a.lines.Unread(errNoEvent)
	}
	stamp := e.stamp
	if stamp == nil {
		stamp = stampOf(line)
	}
	a.span.add(stamp)
	a.text, a.id = line, 0
	if err := e.checkReceived(); err != nil {
		if err := a.lines.ReadInPart(a.lines.Line(), err); err != nil {
			return err
		}
	}
	a.cost = 0
	if err := a.note(e); err != nil {
		return err
	}
	if e.failedScheduling() {
		f, ok, err := e.failedAttempt()
		switch {
		case err != nil:
			return a.lines.ReadInPart(a.lines.Line(), err)
		case ok:
			return a.emit(e, item{what: failureItem, event: f, cost: sources.Cost(f.Fact)})
		}
		return nil
	}
	if f, ok := e.namedEvent(); ok {
		return a.emit(e, item{what: nameItem, event: f, cost: sources.Cost(f.Fact)})
	}
	if f, ok := e.refusal(); ok {
		return a.emit(e, item{what: refusalItem, event: f, cost: sources.CostEntry})
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
		return a.lines.SkipChange(e.about(), err)
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
		if err := a.emit(e, item{what: changeItem, change: &n, cost: a.cost + sources.CostEntry}); err != nil {
			return err
		}
		a.cost = 0
	}
	a.changes = changes
	return nil
}

// note records kube-schedulers' activity in e.
func (a *reader) note(e *event) error {
	by, what := &a.log.called, callItem
	if e.isScheduler {
		by, what = &a.log.own, requestItem
	}
	if by.add(e) {
		a.lines.Keep(sources.CostEntry)
	}
	if at, is := e.request(); is {
		return a.emit(e, item{what: what, event: at, cost: sources.CostEntry})
	}
	return nil
}

// emit passes on an item of a line.
func (a *reader) emit(e *event, it item) error {
	it.read = parse(string(e.stamp))
	if a.taken++; a.id == 0 {
		a.id = lines.Hash(a.text)
	} else {
		a.id += 2
	}
	it.id = a.id
	return a.take(it)
}

// about names the object of the event, for messages.
func (e *event) about() sources.SafeText {
	if e.name == "" && e.responseObject != nil {
		if _, named := sources.Identity(e.responseObject); !strings.HasPrefix(string(named), "Status ") {
			return named
		}
	}
	return sources.Named(e.kind.Name, e.namespace, e.name)
}
