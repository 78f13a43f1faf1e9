package audit

import (
	"bytes"
	"fmt"

	"github.com/schedq/schedq/sources"
)

// tooLarge counts the changes whose object was too large for the log. kube-apiserver omits such objects and adds an
// annotation (v1.37: plugin/pkg/audit/truncate), AKS replaces them with a text.
type tooLarge struct {
	count int
	first sources.SafeText // the object of the first
}

// truncated is the annotation of an event whose objects were omitted.
const truncated = `"audit.k8s.io/truncated":"true"`

// isTooLarge reports whether the response object of an event that changes an object was too large for the log. It removes
// the texts in place of objects.
func (e *event) isTooLarge(line []byte) bool {
	placeholder := func(object []byte) bool { return len(object) > 0 && object[0] == '"' }
	if placeholder(e.requestObject) {
		e.requestObject = nil
	}
	if placeholder(e.responseObject) {
		e.responseObject = nil
		return true
	}
	return e.responseObject == nil && string(e.level) != "Metadata" && bytes.Contains(line, []byte(truncated))
}

// add counts the change of e.
func (t *tooLarge) add(e *event) {
	if t.count++; t.count == 1 {
		t.first = e.about()
	}
}

// String returns a notice, or "".
func (t *tooLarge) String() string {
	switch t.count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("the object of one change, of %s, was too large for the log: its new state is unknown", t.first)
	}
	return fmt.Sprintf("the objects of %d changes, the first of %s, were too large for the log: their new states are unknown", t.count, t.first)
}
