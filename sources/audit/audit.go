// Package audit reads kube-apiserver's audit log: audit.k8s.io/v1, JSON Lines, one line for a request.
// Where the policy's level is RequestResponse a line holds the object as it became, and so the log is a
// history of the cluster. A line with a request alone (level Request) is applied to the object that is known, and one with
// neither (Metadata) is skipped, but for the name of an Event.
package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
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

// Log is one audit log, read and not yet put in order: an API server rotates its log, and several
// servers write one each, so the order is found over all of them by Order.
type Log struct {
	// Name is the file's name, safe to show.
	Name string
	// First and Last are the first and last times in the log, also of requests that changed nothing.
	First, Last time.Time
	// Notices are sentences for the person.
	Notices []string

	items []item
	// own is what the user kube-scheduler did, called what others did that only call themselves so.
	own, called doings
	hearing     hearing
}

// item is what a line tells: a change, or what kube-scheduler did.
type item struct {
	read   time.Time // the line's own time: when the request was answered
	what   told
	change *entry
	event  sources.Event // if it is no change
	cost   int           // of memory, in bytes
}

// told says what an item is.
type told int8

const (
	toldChange  told = iota
	toldFailure      // a failed attempt, by its Event
	toldName         // an Event of which its name alone is told
	toldRequest      // a request of kube-scheduler's, by its user
	toldCall         // a request of what only calls itself kube-scheduler
)

// op is what a request did.
type op int8

const (
	put       op = iota // object is what became of it
	remove              // it is gone; object is its last state, if known
	bind                // pods/binding: node
	terminate           // eviction, or a delete whose answer does not tell: gone at once if not yet assigned
	patchMeta           // answered with metadata only: object is a PartialObjectMetadata
	apply               // not answered: patch is what was asked for
)

// entry is one change.
type entry struct {
	op       op
	kind     kind
	key      types.NamespacedName
	uid      types.UID
	revision uint64 // etcd's, 0 if the answer did not tell
	time     time.Time
	object   runtime.Object
	meta     *metav1.ObjectMeta // for patchMeta
	node     string             // for bind
	patch    []byte             // for apply
	// patched is when kube-scheduler was answered that wrote a pod's status. Zero for other requests.
	patched time.Time
	sent    time.Time
	// created is true if the request made the object.
	created bool
}

// reader holds what is between two lines.
type reader struct {
	lines             *lines.Reader
	log               *Log
	take              func(item) error
	taken             int
	cost              int // of the line so far
	changes           []entry
	span              span
	decoder           *sources.Decoder
	silent, responses int // changes without and with the object
	large             tooLarge
}

// Read reads a log to its end. What is damaged, and the changes of objects that can't be taken, are left out,
// and a notice tells. An error names the file, the line and the cause: nothing in the file can be read.
func Read(r *lines.Reader) (*Log, error) {
	var items []item
	l, err := each(r, func(it item) error {
		if len(items) >= maxEntries {
			return r.Errorf("more than %d changes", maxEntries)
		}
		r.Keep(it.cost)
		items = append(items, it)
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.items = items
	return l, nil
}

// each reads a log to its end and has take take what it tells. What it returns tells all the rest.
func each(r *lines.Reader, take func(item) error) (*Log, error) {
	l := &Log{Name: r.Name()}
	a := &reader{lines: r, log: l, take: take, decoder: sources.NewDecoder()}
	a.decoder.Keep = func(bytes int) { a.cost += bytes }
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := a.line(line); err != nil {
			return nil, err
		}
	}
	if a.taken == 0 && l.own.empty() && l.called.empty() && (a.span.first == "" || !r.OnlyCut()) {
		if err := r.Nothing(); err != nil {
			return nil, err
		}
	}
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
	return l, nil
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
	e, rest, whole, err := split(line)
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
	e, _, _, err := split(object)
	if err != nil {
		return a.lines.Unread(err)
	}
	return a.event(e, object)
}

// errNoEvent is about an object that is something else.
var errNoEvent = errors.New("the line is not an event of an audit log")

// event takes what an event tells.
func (a *reader) event(e *event, line []byte) (err error) {
	if e.stage == nil {
		return a.lines.Unread(errNoEvent)
	}
	a.span.add(line)
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
	if !e.changes() {
		return nil
	}
	large := e.isTooLarge(line)
	changes := a.changes[:0]
	switch {
	case e.asked():
		a.cost += len(e.requestObject)
		changes, err = e.appendRequest(changes)
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
	return sources.Named(e.kind.name, e.namespace, e.name)
}

// Pods returns the pods named in the logs, for telling whether another file is of the same cluster.
func (l *Log) Pods() map[types.NamespacedName]bool {
	pods := map[types.NamespacedName]bool{}
	for i := range l.items {
		if c := l.items[i].change; c != nil && c.kind == podKind {
			pods[c.key] = true
		}
	}
	return pods
}

// event is an audit event (k8s.io/apiserver/pkg/apis/audit/v1.Event), its parts not yet decoded.
type event struct {
	level, stage, verb, uri       []byte
	userAgent                     []byte
	isScheduler                   bool // by the user's name
	objectRef, status             []byte
	requestObject, responseObject []byte
	stamp, received               []byte
	kind                          kind
	group, resource, subresource  string
	namespace, name               string
	uid                           types.UID
}

// split finds the members of the event that a line begins with. It stops early when the event is none that matters.
// What follows is as jsonscan.First has it.
func split(line []byte) (e *event, rest []byte, whole bool, err error) {
	e = &event{}
	rest, whole, err = jsonscan.First(line, func(name, value []byte) bool {
		switch string(name) {
		case "level":
			e.level = jsonscan.Text(value)
		case "stage":
			e.stage = jsonscan.Text(value)
		case "requestURI":
			e.uri = value
		case "verb":
			e.verb = jsonscan.Text(value)
		case "user":
			e.isScheduler = bytes.Contains(value, []byte(schedulerUser))
			return true
		case "userAgent":
			e.userAgent = jsonscan.Text(value)
		case "objectRef":
			e.objectRef = value
		case "responseStatus":
			e.status = value
		case "requestObject":
			e.requestObject = value
		case "responseObject":
			e.responseObject = value
		case "stageTimestamp":
			e.stamp = jsonscan.Text(value)
		case "requestReceivedTimestamp":
			e.received = jsonscan.Text(value)
		default:
			return true
		}
		return e.maybe(string(name))
	})
	return e, rest, whole, err
}

// maybe reports whether, after the named member, the event can still be a change of an object that the
// scheduler watches.
func (e *event) maybe(member string) bool {
	switch member {
	case "stage":
		return string(e.stage) == "ResponseComplete" || string(e.stage) == "ResponseStarted"
	case "verb":
		return e.writes() && string(e.stage) == "ResponseComplete" || e.isRead()
	case "userAgent":
		return !e.isRead() || e.byScheduler()
	case "objectRef":
		_ = jsonscan.Members(e.objectRef, func(name, value []byte) bool {
			switch string(name) {
			case "resource":
				e.resource = string(jsonscan.Text(value))
			case "apiGroup":
				e.group = string(jsonscan.Text(value))
			case "subresource":
				e.subresource = string(jsonscan.Text(value))
			case "namespace":
				e.namespace = string(jsonscan.Text(value))
			case "name":
				e.name = string(jsonscan.Text(value))
			case "uid":
				e.uid = types.UID(jsonscan.Text(value))
			}
			return true
		})
		e.kind = kindOf(e.group, e.resource)
		return e.kind.name != "" || (e.resource == "events" || e.resource == leases) && e.byScheduler()
	}
	return true
}

func (e *event) writes() bool {
	switch string(e.verb) {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// changes reports whether the event is a successful change of an object that the scheduler watches.
func (e *event) changes() bool {
	if string(e.stage) != "ResponseComplete" || !e.writes() || e.kind.name == "" ||
		bytes.Contains(e.uri, []byte("dryRun=All")) {
		return false
	}
	switch e.subresource {
	case "", "status", "binding", "eviction", "resize", "ephemeralcontainers", "finalize":
	default:
		return false // scale, exec, log, token ...
	}
	return e.succeeded()
}

// succeeded reports whether the request was answered with success.
func (e *event) succeeded() bool {
	code := e.code()
	return len(code) == 3 && code[0] == '2'
}

// code is HTTP's of the answer.
func (e *event) code() (code string) {
	_ = jsonscan.Members(e.status, func(name, value []byte) bool {
		if string(name) == "code" {
			code = string(value)
		}
		return true
	})
	return code
}

// kind is a kind that the scheduler watches, with the resource that serves it.
type kind struct{ group, resource, name string }

var podKind = kind{"", "pods", "Pod"}

// kindOf returns the kind that a resource serves. Its name is empty if the scheduler does not watch it.
func kindOf(group, resource string) kind {
	name := ""
	switch group {
	case "":
		switch resource {
		case "pods":
			name = "Pod"
		case "bindings":
			resource, name = "pods", "Pod"
		case "nodes":
			name = "Node"
		case "persistentvolumes":
			name = "PersistentVolume"
		case "persistentvolumeclaims":
			name = "PersistentVolumeClaim"
		case "namespaces":
			name = "Namespace"
		case "services":
			name = "Service"
		case "replicationcontrollers":
			name = "ReplicationController"
		}
	case "apps":
		switch resource {
		case "replicasets":
			name = "ReplicaSet"
		case "statefulsets":
			name = "StatefulSet"
		}
	case "storage.k8s.io":
		switch resource {
		case "storageclasses":
			name = "StorageClass"
		case "csinodes":
			name = "CSINode"
		case "csidrivers":
			name = "CSIDriver"
		case "csistoragecapacities":
			name = "CSIStorageCapacity"
		case "volumeattachments":
			name = "VolumeAttachment"
		}
	case "resource.k8s.io":
		switch resource {
		case "resourceclaims":
			name = "ResourceClaim"
		case "resourceslices":
			name = "ResourceSlice"
		case "deviceclasses":
			name = "DeviceClass"
		case "devicetaintrules":
			name = "DeviceTaintRule"
		}
	case "scheduling.k8s.io":
		switch resource {
		case "priorityclasses":
			name = "PriorityClass"
		case "podgroups":
			name = "PodGroup"
		}
	case "policy":
		if resource == "poddisruptionbudgets" {
			name = "PodDisruptionBudget"
		}
	}
	return kind{group, resource, name}
}

func parse(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, strings.TrimSpace(s))
	return t.UTC()
}
