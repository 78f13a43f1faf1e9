package objects

// A patch is applied to an object as in kube-apiserver. At level Request an audit log holds what
// was asked for and not what became of it. The policies of EKS, GKE and AKS have kubelets' writes of status at that level: there
// it shows that a Job's pod has ended, and what a node can take.
//
// A log does not tell the patch's type, which is in a header. A list is a JSON patch; what names its kind, and a field manager in
// the URI, is a server-side apply; all else is taken for a strategic merge, which kubelets and kubectl send.

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
	// maxBody bounds a request that is kept until the object is known to which it is applied.
	maxBody = 256 << 10
	// maxPatched bounds an object while a JSON patch is applied to it, which may copy.
	maxPatched = 1 << 20
	// maxOperations is how many a JSON patch may have (kube-apiserver's own bound is 10,000; v1.37,
	// apiserver/pkg/endpoints/handlers/patch.go).
	maxOperations = 1000
)

// Request is what is asked for.
type Request struct {
	how    how
	status bool // the status, and nothing else; otherwise all but that
	body   []byte
}

// how is what a body means.
type how int8

const (
	merge    how = iota // strategic merge patch
	json6902            // JSON patch
	apply               // server-side apply
	whole               // the object as it shall be
)

// New returns what a patch or an update asks for. ok is false if it can't be told, or if it is too large.
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

// part returns the part of a request that a write of status changes, or the one that it does not, or nil if there is none. A
// list is returned as it is.
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

// isApplied reports whether a patch is one of server-side apply: that has to name its field manager, and what it is about.
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

// Apply returns old as the request leaves it, or nil if nothing changes that the scheduler reads. An error says why the request
// does not fit: it was of another state.
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

// change returns the object as the request leaves it.
func (r Request) change(before []byte, old runtime.Object) (after []byte, err error) {
	defer func() { // apimachinery v0.37.1 panics where a patch orders a list that has no order
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

// operate does what a JSON patch says, operation by operation: what is about a part of the object that is not kept, such as an
// annotation, is left out. What the patch tests was so, as the request was granted.
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

// state does what an apply or an update says, which state what shall be.
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

// withoutNulls takes out what is stated as nothing: for a merge it would be there to be removed.
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

// replace returns the object as it shall be, with what no request can change.
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
