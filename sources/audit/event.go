package audit

import (
	"bytes"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/apijson"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/objects"
)

// event is an audit event (k8s.io/apiserver/pkg/apis/audit/v1.Event), its parts not yet decoded.
type event struct {
	level, stage, verb, uri       []byte
	userAgent                     []byte
	isScheduler                   bool // by the user's name
	objectRef, status             []byte
	requestObject, responseObject []byte
	stamp, received               []byte
	kind                          objects.Kind
	group, resource, subresource  string
	namespace, name               string
	uid                           types.UID

	opened   bool // whether envelope is the response object's
	envelope sources.Envelope
	texts    *apijson.Decoder // interns strings
}

// split sets e to the event at the beginning of a line, and finds its members. It stops early if the event does not matter.
// The results are those of jsonscan.First.
func (e *event) split(line []byte) (rest []byte, whole bool, err error) {
	*e = event{envelope: e.envelope, texts: e.texts}
	return jsonscan.FirstBy(line, func(name []byte, i int) int { return e.step(name, line, i) }, func(name, value []byte) bool {
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
			e.isScheduler = isScheduler(value)
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
}

// step steps over a member's value. It splits a response object that matters on the way.
func (e *event) step(member []byte, line []byte, i int) (end int) {
	if string(member) == "responseObject" && e.kind.Name != "" {
		end = e.envelope.Over(line, i)
		if e.opened = end >= 0; e.opened {
			return end
		}
	}
	return jsonscan.End(line, i)
}

// maybe reports whether, after the named member, the event can still be a change of an object that the
// scheduler watches.
func (e *event) maybe(member string) bool {
	if e.stage == nil && member != "objectRef" {
		return true // its members are in another order than kube-apiserver's, and the stage is still to come
	}
	switch member {
	case "stage":
		return string(e.stage) == "ResponseComplete" || string(e.stage) == "ResponseStarted"
	case "verb":
		return e.writes() && string(e.stage) == "ResponseComplete" || e.isRead()
	case "userAgent":
		return !e.isRead() || e.byScheduler()
	case "objectRef":
		var namespace, named, subresource, uid []byte
		_ = jsonscan.Members(e.objectRef, func(name, value []byte) bool {
			switch string(name) {
			case "resource":
				e.resource = e.texts.Word(jsonscan.Text(value))
			case "apiGroup":
				e.group = e.texts.Word(jsonscan.Text(value))
			case "subresource":
				subresource = jsonscan.Text(value)
			case "namespace":
				namespace = jsonscan.Text(value)
			case "name":
				named = jsonscan.Text(value)
			case "uid":
				uid = jsonscan.Text(value)
			}
			return true
		})
		e.kind = objects.KindOf(e.group, e.resource)
		e.namespace, e.name, e.subresource, e.uid = e.texts.Word(namespace), string(named), e.texts.Word(subresource), types.UID(uid)
		if e.stage != nil && e.kind.Name == "" && (e.resource != "events" && e.resource != leases || !e.byScheduler()) {
			return false
		}
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
	if string(e.stage) != "ResponseComplete" || !e.writes() || e.kind.Name == "" ||
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

// succeeded reports whether the request succeeded.
func (e *event) succeeded() bool {
	code := e.code()
	return len(code) == 3 && code[0] == '2'
}

// code is the response's HTTP status.
func (e *event) code() (code string) {
	_ = jsonscan.Members(e.status, func(name, value []byte) bool {
		if string(name) == "code" {
			code = string(value)
		}
		return true
	})
	return code
}

func parse(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, strings.TrimSpace(s))
	return t.UTC()
}
