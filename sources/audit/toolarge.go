package audit

import (
	"bytes"
	"fmt"

	"github.com/schedq/schedq/sources"
)

// tooLarge counts the changes whose object was too large to be logged. kube-apiserver leaves such objects out and says so in
// an annotation (v1.37: plugin/pkg/audit/truncate), AKS has a text in their place.
type tooLarge struct {
	count int
	first sources.SafeText // what the first was about
}

// truncated is the annotation of an event whose objects were left out.
const truncated = `"audit.k8s.io/truncated":"true"`

// isTooLarge reports whether the answer of the event, which changes an object, was too large to be logged. What it has in the
// places of objects is taken out.
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

// String says it as a sentence, or is empty.
func (t *tooLarge) String() string {
	switch t.count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("the object of one change, of %s, was too large to be logged: what it became is not known", t.first)
	}
	return fmt.Sprintf("the objects of %d changes, the first of %s, were too large to be logged: what they became is not known", t.count, t.first)
}
