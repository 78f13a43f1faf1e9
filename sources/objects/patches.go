package objects

// Patches are applied to objects as in kube-apiserver. At level Request an audit log contains requests without the
// resulting objects. The policies of EKS, GKE and AKS log kubelets' status writes at that level: they show the end of a
// Job's pod and the capacity of a node.
//
// A log does not contain the patch's type, which is a header. A list is a JSON patch; a body with a kind, with a field
// manager in the URI, is a server-side apply; everything else is assumed to be a strategic merge, which kubelets and
// kubectl send.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
)

const (
	// maxBody limits a request that is kept until its object is known.
	maxBody = 256 << 10
	// maxPatched limits an object while a JSON patch is applied to it, because the patch may copy parts.
	maxPatched = 1 << 20
	// maxOperations limits the operations of a JSON patch (kube-apiserver's limit is 10,000; v1.37,
	// apiserver/pkg/endpoints/handlers/patch.go).
	maxOperations = 1000
)

// Request is a patch or an update of an object.
type Request struct {
	how    how
	status bool // it changes only the status; otherwise everything but the status
	body   []byte
}

// how is the type of a body.
type how int8

const (
	merge    how = iota // strategic merge patch
	json6902            // JSON patch
	apply               // server-side apply
	whole               // the complete object
)

// NewRequest parses a patch or an update. ok is false if its meaning is unknown, or if it is too large.
func NewRequest(verb, subresource string, uri, body []byte) (r Request, ok bool) {
	if len(body) == 0 || len(body) > maxBody || subresource != "" && subresource != "status" {
		return r, false
	}
	r.status = subresource == "status"
	switch {
	case verb == "update" && body[0] == '{':
		r.how = whole
	case verb != "patch":
		return r, false
	case body[0] == '[':
		r.how = json6902
	case body[0] != '{':
		return r, false
	case isApplied(uri, body):
		r.how = apply
	}
	r.body = part(body, r.status)
	return r, r.body != nil
}

// part returns the status of a body, or everything but the status, or nil if that is empty. It returns a list unchanged.
func part(body []byte, status bool) []byte {
	if body[0] == '[' {
		return bytes.Clone(body)
	}
	var out []byte
	_ = jsonscan.Members(body, func(name, value []byte) bool {
		if (string(name) == "status") == status {
			out = fmt.Appendf(append(out, ','), `"%s":%s`, name, value)
		}
		return true
	})
	if out == nil {
		return nil
	}
	out[0] = '{'
	if out = append(out, '}'); !json.Valid(out) {
		return nil
	}
	return out
}

// isApplied reports whether a patch is a server-side apply, which must have a field manager and a kind.
func isApplied(uri, body []byte) bool {
	if !bytes.Contains(uri, []byte("fieldManager=")) {
		return false
	}
	named := 0
	_ = jsonscan.Members(body, func(name, _ []byte) bool {
		if s := string(name); s == "kind" || s == "apiVersion" {
			named++
		}
		return true
	})
	return named == 2
}

// Apply returns old with the request applied, or nil if nothing changes that the scheduler reads. An error describes why
// the request does not apply: the object was in another state.
func (r Request) Apply(old runtime.Object, d *sources.Decoder) (runtime.Object, error) {
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	after, err := r.change(before, old)
	if err != nil {
		return nil, fmt.Errorf("the patch can't be applied: %s", sources.Sanitize(err.Error()))
	}
	now, err := d.Decode(after)
	if err != nil || now == nil || equality.Semantic.DeepEqual(old, now) {
		return nil, err
	}
	return now, nil
}

// change returns the object with the request applied.
func (r Request) change(before []byte, old runtime.Object) (after []byte, err error) {
	defer func() { // apimachinery v0.37.1 panics if a patch orders an unordered list
		if cause := recover(); cause != nil {
			after, err = nil, fmt.Errorf("it makes no sense: %v", cause)
		}
	}()
	switch r.how {
	case merge:
		return strategicpatch.StrategicMergePatch(before, r.body, old)
	case json6902:
		return r.operate(before)
	}
	return r.state(before, old)
}

// operate applies a JSON patch. It skips operations on trimmed parts of the object, such as annotations, and tests, which
// succeeded because the request was accepted.
func (r Request) operate(before []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(r.body)
	if err != nil {
		return nil, err
	}
	if len(operations) > maxOperations {
		return nil, fmt.Errorf("it has more than %d operations", maxOperations)
	}
	now := before
	for _, one := range operations {
		path, err := one.Path()
		if one.Kind() == "test" || err != nil || r.status != inStatus(path) {
			continue
		}
		next, err := jsonpatch.Patch{one}.Apply(now)
		if err != nil {
			continue
		}
		if len(next) > maxPatched {
			return nil, errors.New("the object would become too large")
		}
		now = next
	}
	return now, nil
}

func inStatus(path string) bool {
	return path == "/status" || len(path) > len("/status/") && path[:len("/status/")] == "/status/"
}

// state applies a server-side apply or an update, which contain the desired state.
func (r Request) state(before []byte, old runtime.Object) ([]byte, error) {
	var asked map[string]any
	if err := json.Unmarshal(r.body, &asked); err != nil {
		return nil, err
	}
	withoutNulls(asked)
	if r.how == whole {
		return r.replace(before, asked)
	}
	patch, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatch(before, patch, old)
}

// withoutNulls removes null values, which a merge would interpret as deletions.
func withoutNulls(stated map[string]any) {
	for name, value := range stated {
		switch v := value.(type) {
		case nil:
			delete(stated, name)
		case map[string]any:
			withoutNulls(v)
		}
	}
}

// replace returns the desired object, with the fields that no request can change.
func (r Request) replace(before []byte, asked map[string]any) ([]byte, error) {
	var now map[string]any
	if err := json.Unmarshal(before, &now); err != nil {
		return nil, err
	}
	if r.status {
		now["status"] = asked["status"]
		return json.Marshal(now)
	}
	asked["status"], asked["kind"], asked["apiVersion"] = now["status"], now["kind"], now["apiVersion"]
	is, _ := asked["metadata"].(map[string]any)
	was, _ := now["metadata"].(map[string]any)
	if is == nil {
		return nil, errors.New("it has no metadata")
	}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"} {
		if value, known := was[name]; known {
			is[name] = value
		} else {
			delete(is, name)
		}
	}
	return json.Marshal(asked)
}
