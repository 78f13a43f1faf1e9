// Package audit reads kube-apiserver's audit log: audit.k8s.io/v1, JSON Lines, one line for a request.
// Where the policy's level is RequestResponse a line holds the object as it became, and so the log is a
// history of the cluster. Lines without a response (levels Metadata and Request) are skipped.
package audit

import (
	"bytes"
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

// Sniff reports whether head, the first bytes of a file, is the beginning of an audit log, and a time
// from it.
func Sniff(head []byte) (time.Time, bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimLeft(line, " \t\r")
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.Contains(line[:min(len(line), 1<<16)], []byte(`"audit.k8s.io/`)) {
		return time.Time{}, false
	}
	for _, key := range []string{`"requestReceivedTimestamp":"`, `"stageTimestamp":"`} {
		if _, after, ok := bytes.Cut(head, []byte(key)); ok {
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

	entries []entry
	starts  starts
	failed  []sources.Event
}

// op is what a request did.
type op int8

const (
	put       op = iota // object is what became of it
	remove              // it is gone; object is its last state, if known
	bind                // pods/binding: node
	terminate           // eviction, or a delete whose answer does not tell: gone at once if not yet assigned
	patchMeta           // answered with metadata only: object is a PartialObjectMetadata
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
	// patched is when kube-scheduler was answered that wrote a pod's status. Zero for other requests.
	patched time.Time
	sent    time.Time
}

// Read reads a log to its end. An error names the file, the line and the cause.
func Read(r *lines.Reader) (*Log, error) {
	l := &Log{Name: r.Name()}
	var span span
	silent, responses := 0, 0
	decoder := sources.NewDecoder()
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
		if r.Cut() && !whole(line) {
			l.Notices = append(l.Notices, r.CutNotice(span.end()))
			break
		}
		e, err := split(line)
		if err != nil {
			return nil, r.Errorf("%w", err)
		}
		span.add(line)
		if e.startsWatch() || e.holdsLease() {
			l.starts.add(e)
		}
		if e.failedScheduling() {
			if f, ok := e.failedAttempt(); ok && len(l.failed) < maxEntries {
				l.failed = append(l.failed, f)
			}
			continue
		}
		if !e.changes() {
			continue
		}
		if e.responseObject == nil {
			silent++
			continue
		}
		responses++
		if l.entries, err = e.append(l.entries, decoder); err != nil {
			return nil, r.Errorf("%w", err)
		}
		if len(l.entries) > maxEntries {
			return nil, r.Errorf("more than %d changes", maxEntries)
		}
	}
	l.First, l.Last = span.start(), span.end()
	if silent > 0 && responses == 0 {
		l.Notices = append(l.Notices, fmt.Sprintf("%s: none of the %d changes in this audit log holds the object: "+
			"record pods and nodes with level RequestResponse", l.Name, silent))
	}
	return l, nil
}

// Pods returns the pods named in the logs, for telling whether another file is of the same cluster.
func (l *Log) Pods() map[types.NamespacedName]bool {
	pods := map[types.NamespacedName]bool{}
	for i := range l.entries {
		if l.entries[i].kind == podKind {
			pods[l.entries[i].key] = true
		}
	}
	return pods
}

// whole reports whether a line without an end is a complete JSON object all the same.
func whole(line []byte) bool {
	return jsonscan.Members(line, func(_, _ []byte) bool { return true }) == nil
}

// event is an audit event (k8s.io/apiserver/pkg/apis/audit/v1.Event), its parts not yet decoded.
type event struct {
	level, stage, verb, uri       []byte
	userAgent                     []byte
	objectRef, status             []byte
	requestObject, responseObject []byte
	stamp, received               []byte
	kind                          kind
	group, resource, subresource  string
	namespace, name               string
	uid                           types.UID
}

// split finds the event's members. It stops early when the event is none that matters.
func split(line []byte) (*event, error) {
	e := &event{}
	err := jsonscan.Members(line, func(name, value []byte) bool {
		switch string(name) {
		case "level":
			e.level = jsonscan.Text(value)
		case "stage":
			e.stage = jsonscan.Text(value)
		case "requestURI":
			e.uri = value
		case "verb":
			e.verb = jsonscan.Text(value)
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
	return e, err
}

// maybe reports whether, after the named member, the event can still be a change of an object that the
// scheduler watches.
func (e *event) maybe(member string) bool {
	switch member {
	case "stage":
		return string(e.stage) == "ResponseComplete" || string(e.stage) == "ResponseStarted"
	case "verb":
		return e.writes() && string(e.stage) == "ResponseComplete" || e.reads()
	case "userAgent":
		return !e.reads() || e.byScheduler()
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
	success := false
	_ = jsonscan.Members(e.status, func(name, value []byte) bool {
		if string(name) == "code" {
			success = len(value) == 3 && value[0] == '2'
		}
		return true
	})
	return success
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

// span is a range of RFC 3339 times, compared as text: an API server writes them all alike, in UTC with
// six digits.
type span struct{ first, last string }

func (s *span) add(line []byte) {
	const key = `"stageTimestamp":"`
	i := bytes.LastIndex(line, []byte(key))
	if i < 0 {
		return
	}
	value, _, ok := bytes.Cut(line[i+len(key):], []byte(`"`))
	if !ok || len(value) != len("2026-11-21T10:56:13.789662Z") {
		return
	}
	if s.first == "" || string(value) < s.first {
		s.first = string(value)
	}
	if string(value) > s.last {
		s.last = string(value)
	}
}

func (s *span) start() time.Time { return parse(s.first) }
func (s *span) end() time.Time   { return parse(s.last) }

func parse(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, strings.TrimSpace(s))
	return t.UTC()
}
