package audit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/objects"
)

// append adds the changes that the event made: none, one, or many for deletecollection, of which it reports invalid ones
// to r. An error means that the event as a whole is invalid.
func (e *event) append(to []entry, d *sources.Decoder, r *lines.Reader) ([]entry, error) {
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err != nil {
		return nil, fmt.Errorf("the stageTimestamp is not a time: \"%s\"", sources.Sanitize(string(e.stamp)))
	}
	if err := sources.CheckTime(at); err != nil {
		return nil, err
	}
	base := entry{kind: e.kind, key: types.NamespacedName{Namespace: e.namespace, Name: e.name}, uid: e.uid, time: at.UTC()}
	request, err := options(e.requestObject)
	if err != nil {
		return nil, err
	}
	if request.dryRun {
		return to, nil
	}
	switch {
	case e.kind.IsPod() && (e.subresource == "binding" || e.resource == "bindings"):
		base.op, base.node = bind, request.target
		if base.key.Name == "" {
			base.key.Name = request.name
		}
		if err := sources.CheckName(base.node); err != nil {
			return nil, fmt.Errorf("in the binding of a pod, %w", err)
		}
		if e.byScheduler() {
			base.sent = parse(string(e.received))
		}
		return e.appendNamed(to, base)
	case e.subresource == "eviction":
		base.op = terminate
		return e.appendNamed(to, base)
	case string(e.verb) == "deletecollection":
		return e.appendAll(to, base, request, r)
	}
	return e.appendAnswer(to, base, d, r)
}

// asked returns the event's request, if the event has no response object.
func (e *event) asked() (objects.Request, bool) {
	if e.responseObject != nil || e.requestObject == nil || e.name == "" {
		return objects.Request{}, false
	}
	return objects.NewRequest(string(e.verb), e.subresource, e.uri, e.requestObject)
}

// appendRequest adds the event's request.
func (e *event) appendRequest(to []entry, asked objects.Request) ([]entry, error) {
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err != nil {
		return nil, fmt.Errorf("the stageTimestamp is not a time: \"%s\"", sources.Sanitize(string(e.stamp)))
	}
	if err := sources.CheckTime(at); err != nil {
		return nil, err
	}
	n := entry{op: apply, kind: e.kind, uid: e.uid, time: at.UTC(), asked: asked}
	n.key.Namespace, n.key.Name = e.namespace, e.name
	return e.appendNamed(to, n)
}

// appendNamed adds an entry that has only a name.
func (e *event) appendNamed(to []entry, n entry) ([]entry, error) {
	if err := sources.CheckName(n.key.Name); err != nil {
		return nil, err
	}
	if n.key.Namespace != "" {
		if err := sources.CheckName(n.key.Namespace); err != nil {
			return nil, err
		}
	}
	n.uid = types.UID(sources.Sanitize(string(n.uid)))
	return append(to, n), nil
}

// appendAnswer adds the response object.
func (e *event) appendAnswer(to []entry, n entry, d *sources.Decoder, r *lines.Reader) ([]entry, error) {
	answer, err := e.answer()
	if err != nil {
		return nil, err
	}
	deletes := string(e.verb) == "delete"
	switch answer.Kind {
	case e.kind.Name:
	case "Status":
		if !deletes {
			return to, nil
		}
		n.op = remove
		if n.uid == "" {
			n.uid = answer.about
		}
		return e.appendNamed(to, n)
	case "PartialObjectMetadata":
		return e.appendMeta(to, n, answer, deletes)
	default:
		return to, nil // a Table, or an older version
	}
	if n.object, err = d.DecodeOpened(answer.Envelope); err != nil {
		if !answer.gone(deletes) {
			return nil, err
		}
		if err := r.Expect(err); err != nil { // the deletion matters more than the last state
			return nil, err
		}
		return e.appendGone(to, n, deletes)
	}
	if n.object == nil {
		return to, nil
	}
	m := n.object.(metav1.Object)
	n.key, n.uid = types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}, m.GetUID()
	n.revision, _ = strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	n.op = put
	n.created = e.subresource == "" && (string(e.verb) == "create" || e.code() == "201")
	if pod, ok := n.object.(*corev1.Pod); ok && e.subresource == "status" && e.byScheduler() && pod.Spec.NodeName == "" {
		if one, none := objects.Nominates(e.requestObject); !one {
			n.patched, n.sent, n.clears = n.time, parse(string(e.received)), none
		}
	}
	if answer.gone(deletes) {
		n.op = remove
		if !deletes {
			// The update that took the last finalizer is answered with the object as it was sent.
			n.revision = 0
		}
	}
	return append(to, n), nil
}

// origin returns the entry's evidence of its cluster.
func (n *entry) origin(e *event) OriginChange {
	c := OriginChange{Pod: n.key, UID: n.uid, Revision: n.revision, Told: n.time}
	if n.created {
		c.Asked = parse(string(e.received))
	}
	return c
}

// earlier returns the entry's evidence of objects from before the logs.
func (n *entry) earlier() earlier.Change {
	return earlier.Change{Of: sources.ObjectName{Kind: n.kind.Name, NamespacedName: n.key}, UID: n.uid, At: n.time, Object: n.object,
		Created: n.created, Removed: n.op == remove, Node: n.node}
}

// appendGone adds the deletion of an object whose last state is invalid.
func (e *event) appendGone(to []entry, n entry, deletes bool) ([]entry, error) {
	n.op = remove
	bare, _ := sources.Identity(e.responseObject)
	if bare == nil {
		return e.appendNamed(to, n)
	}
	m := bare.(metav1.Object)
	n.key, n.uid = types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}, m.GetUID()
	return e.appendNamed(to, n)
}

// appendMeta adds the response to a client that requested only metadata, such as the garbage collector.
func (e *event) appendMeta(to []entry, n entry, answer answer, deletes bool) ([]entry, error) {
	n.meta = &metav1.ObjectMeta{}
	if err := json.Unmarshal(answer.Metadata, n.meta); err != nil {
		return nil, fmt.Errorf("the metadata cannot be decoded: %s", sources.Sanitize(err.Error()))
	}
	n.op = patchMeta
	if answer.gone(deletes) {
		n.op = remove
	}
	n.key = types.NamespacedName{Namespace: n.meta.Namespace, Name: n.meta.Name}
	n.uid = n.meta.UID
	n.revision, _ = strconv.ParseUint(n.meta.ResourceVersion, 10, 64)
	return e.appendNamed(to, n)
}

// appendAll adds the objects in a deletecollection's response, which have their states from before.
func (e *event) appendAll(to []entry, n entry, request deletion, r *lines.Reader) ([]entry, error) {
	var items []byte
	if err := jsonscan.Members(e.responseObject, func(name, value []byte) bool {
		if string(name) == "items" {
			items = value
		}
		return true
	}); err != nil || items == nil {
		return to, err
	}
	err := jsonscan.Elements(items, func(raw []byte) error {
		all, err := e.appendItem(to, n, request, raw)
		if err != nil {
			_, named := sources.Identity(raw)
			return r.SkipChange(named, err)
		}
		to = all
		return nil
	})
	return to, err
}

// appendItem adds one of them.
func (e *event) appendItem(to []entry, item entry, request deletion, raw []byte) ([]entry, error) {
	answer, err := openAnswer(raw)
	if err != nil {
		return nil, err
	}
	item.op = terminate
	if !e.kind.IsPod() || request.now {
		item.op = remove
	}
	if answer.finalizers {
		return to, nil // the update that removes the last finalizer deletes it
	}
	var m struct {
		Name, Namespace string
		UID             types.UID
	}
	if err := json.Unmarshal(answer.Metadata, &m); err != nil {
		return nil, fmt.Errorf("the metadata cannot be decoded: %s", sources.Sanitize(err.Error()))
	}
	item.key, item.uid = types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, m.UID
	return e.appendNamed(to, item)
}

// deletion has the fields used of a request object, DeleteOptions or a Binding.
type deletion struct {
	dryRun, now  bool
	target, name string
}

func options(raw []byte) (deletion, error) {
	var d deletion
	if raw == nil || string(raw) == "null" {
		return d, nil
	}
	err := jsonscan.Members(raw, func(name, value []byte) bool {
		switch string(name) {
		case "dryRun":
			d.dryRun = isFilled(value)
		case "gracePeriodSeconds":
			d.now = string(value) == "0"
		case "target":
			d.target = nameIn(value)
		case "metadata":
			d.name = nameIn(value)
		}
		return true
	})
	if raw[0] == '[' {
		err = nil // a JSON patch
	}
	return d, err
}

func nameIn(raw []byte) (s string) {
	_ = jsonscan.Members(raw, func(name, value []byte) bool {
		if string(name) == "name" {
			s = string(jsonscan.Text(value))
		}
		return true
	})
	return s
}

// answer is a response object.
type answer struct {
	*sources.Envelope
	about       types.UID // of a Status: the UID of its object
	terminating bool      // has a deletionTimestamp
	lingers     bool      // has a grace period above 0
	finalizers  bool
}

// answer returns the response object.
func (e *event) answer() (answer, error) {
	if e.opened {
		return newAnswer(&e.envelope), nil
	}
	return openAnswer(e.responseObject)
}

func openAnswer(raw []byte) (answer, error) {
	e, err := sources.Open(raw)
	if err != nil {
		return answer{}, err
	}
	return newAnswer(e), nil
}

func newAnswer(e *sources.Envelope) answer {
	a := answer{Envelope: e}
	a.terminating = a.DeletionTimestamp != nil && string(a.DeletionTimestamp) != "null"
	a.lingers = strings.Trim(string(a.DeletionGracePeriodSeconds), "0") != "" && string(a.DeletionGracePeriodSeconds) != "null"
	a.finalizers = isFilled(a.Finalizers)
	switch a.Kind {
	case "Namespace": // it has a second list of finalizers
		_ = jsonscan.Members(a.Spec, func(name, value []byte) bool {
			a.finalizers = a.finalizers || string(name) == "finalizers" && isFilled(value)
			return true
		})
	case "Status":
		_ = jsonscan.Members(a.Details, func(name, value []byte) bool {
			if string(name) == "uid" {
				a.about = types.UID(jsonscan.Text(value))
			}
			return true
		})
	}
	return a
}

// isFilled reports whether raw is a list that is not empty.
func isFilled(raw []byte) bool { return len(raw) > len("[]") && raw[0] == '[' }

// gone reports whether the request deleted the object: it remains as long as it has a
// finalizer, and a pod on a node until its kubelet deletes it with a grace period of 0
// (k8s.io/apiserver v0.37, registry/generic/registry/store.go).
func (a answer) gone(deletes bool) bool {
	return (deletes || a.terminating) && !a.lingers && !a.finalizers
}
